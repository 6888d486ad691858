"""A preconditioner for policy evaluations (I - γΠ) d = r near γ = 1: marginal modes, blocks of pairs and Jacobi.

The slow modes are smooth: functions of x plus functions of y, on which all couplings act alike (`kernels/modes`), and
averages over blocks of pairs. One factorisation of I - γP and one of I - γQ take care of the first kind, and a small
system on blocks of the second. That system is of one policy and serves the next ones as well: it is made once for a
whole solve. The number of products with Π then grows little with 1/(1-γ).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support.blocks import for_even_split
from bisimetric.kernels.layout import Modes, Rows, Trees
from bisimetric.models.rows import Floats, offsets
from bisimetric.operators.bellman import Bellman

CLUSTERS = 2.0  # clusters of states on each side are this times N^(1/6), N the number of pairs
SLUGGISH = 0.5  # Jacobi is used if both chains have a state that stays with more than this probability
FEW_MATCHES = 0.9  # if a round of matching leaves a larger share of clusters, joining neighbours no longer helps
DENSE_RESOLVENT_FROM = 0.2  # share of nonzeros from which the factorisation of I - γP is dense


class Preconditioner:
    """M⁻¹ for the evaluations of one operator on all pairs, made for the policy of some trees."""

    def __init__(self, bellman: Bellman, trees: Trees, *, dense: bool) -> None:
        n, m = self._shape = bellman.shape
        self._bellman = bellman
        self._summed: Floats | None = None  # the vector whose sums `work` holds
        most = max(1, int(CLUSTERS * (n * m) ** (1 / 6)))
        (cluster_x, size_x), (cluster_y, size_y) = (_clusters(rows, most) for rows in (bellman.source, bellman.target))
        member = np.argsort(cluster_x, kind="stable")
        self.modes = Modes(cluster_x, cluster_y, size_x, size_y, offsets(size_x.astype(np.int64)), member)
        moves = [rows_matrix(rows) for rows in (bellman.source, bellman.target)]
        self.inverses = tuple(
            _resolvent(part, bellman.discount, dense or part.nnz > DENSE_RESOLVENT_FROM * part.shape[0] ** 2)
            for part in moves
        )
        stays = [_most_staying(rows) for rows in (bellman.source, bellman.target)]
        self.quickness = np.empty(n * m if min(stays) > SLUGGISH else 0, np.float32)
        shape = len(size_x), len(size_y)
        self.work = (
            np.empty(n),
            np.empty((shape[0], m)),
            np.empty(n),
            np.empty(m),
            np.empty(shape),
            np.empty((shape[0], m)),
        )
        flows = self._flows(trees)
        flows /= np.outer(size_x, size_y).reshape(-1, 1)
        # factors of large systems in any case: OpenBLAS' threads would keep spinning beside ours
        self.coarse = _resolvent(sparse.csr_array(flows), bellman.discount, dense)

    def _flows(self, trees: Trees) -> Floats:
        """The mass that their couplings send from block to block; computes the quickness of all pairs too."""
        return block_flows(self._bellman, self.modes, trees, self.quickness)

    def direction(self, p: Floats, r: Floats, v: Floats, beta: float, omega: float) -> None:
        """The step of BiCGSTAB that makes p, which is what M⁻¹ is applied to next; its sums come with it."""
        self._sums(kernels.modes.direction_with_sums, p, r, v, beta, omega)

    def half(self, r: Floats, v: Floats, alpha: float) -> None:
        """The same for the step that makes r."""
        self._sums(kernels.modes.half_with_sums, r, v, alpha)

    def _sums(self, kernel: Any, vector: Floats, *others: Any) -> None:
        """Run a kernel that sums up `vector`."""
        modes, m = self.modes, self._shape[1]
        by_row, by_cluster = self.work[:2]
        for_even_split(
            lambda i, j: kernel(i, j, vector, *others, modes, m, by_row, by_cluster), len(by_cluster), cost=vector.size
        )
        self._summed = vector

    def __call__(self, vector: Floats, out: Floats) -> Floats:
        """out = M⁻¹ vector."""
        modes, (n, m) = self.modes, self._shape
        by_row, by_cluster, mean_x, mean_y, block, added = self.work
        if self._summed is not vector:
            self._sums(kernels.modes.sums, vector)
        self._summed = None  # its owner may change it
        mean = kernels.modes.means(modes, by_row, by_cluster, mean_x, mean_y, block)
        discount = self._bellman.discount
        added_x = _product(self.inverses[0], mean_x) + mean * discount / (1.0 - discount)
        among_blocks = _product(self.coarse, block.ravel()).reshape(block.shape)
        kernels.modes.combine(modes, among_blocks, _product(self.inverses[1], mean_y), added)
        quick = self.quickness

        def work(i: int, j: int) -> None:
            kernels.modes.correct(i, j, vector, out, modes, m, mean, mean_x, mean_y, added_x, added, quick)

        for_even_split(work, n, cost=n * m)
        return out


def block_flows(bellman: Bellman, modes: Modes, trees: Trees, quickness: npt.NDArray[np.float32]) -> Floats:
    """[blocks, blocks], the mass that the couplings of the members send from block to block; fills in `quickness`."""
    blocks = len(modes.size_x) * len(modes.size_y)
    flows = np.zeros((blocks, blocks))

    def work(first: int, last: int) -> None:
        kernels.modes.block_flows(
            first, last, modes, bellman.shape[1], bellman.discount, bellman.source, bellman.target, trees, flows,
            quickness,
        )  # fmt: skip

    for_even_split(work, len(modes.size_x), cost=trees.code.size)
    return flows


def rows_matrix(rows: Rows) -> sparse.csr_array:
    """The rows of a chain as a sparse matrix."""
    n = len(rows.indptr) - 1
    return sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(n, n))


def _clusters(rows: Rows, most: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """The cluster of every state, and how many states each has: neighbours are joined until few are left."""
    count = len(rows.indptr) - 1
    moves = rows_matrix(rows)
    both = sparse.csr_array(moves + moves.T)
    label = np.arange(count)
    while count > most:
        step = np.empty(count, np.int64)
        order = np.argsort(np.diff(both.indptr), kind="stable")
        fewer = kernels.modes.match(order, both.indptr, both.indices, both.data, step)
        if fewer > FEW_MATCHES * count:  # clusters without neighbours: join them in order
            step, fewer = np.arange(count) * most // count, most
        join = sparse.csr_array((np.ones(count), step, np.arange(count + 1)), shape=(count, fewer))
        both = sparse.csr_array(join.T @ both @ join)
        label, count = step[label], fewer
    size = np.bincount(label)
    place = np.argsort(np.argsort(np.bincount(label, np.arange(len(label))) / size))  # in the order of their states
    return place[label], size[np.argsort(place)].astype(np.float64)


def _most_staying(rows: Rows) -> float:
    """The largest probability of a state to stay where it is."""
    state = np.repeat(np.arange(len(rows.indptr) - 1), np.diff(rows.indptr))
    return float(rows.data[rows.indices == state].max(initial=0.0))


def _resolvent(moves: sparse.csr_array, discount: float, dense: bool) -> Any:
    """(I - γP)⁻¹ - I as an array, or the factors of I - γP, whose diagonal is so large that pivots stay on it."""
    n = moves.shape[0]
    if dense:
        found = np.empty((n, n))
        kernels.modes.resolvent(moves.toarray(), discount, found)
        return found
    from scipy.sparse import linalg

    system = sparse.csc_matrix(sparse.eye(n) - discount * moves)
    return linalg.splu(system, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _product(resolvent: Any, vector: Floats) -> Floats:
    """((I - γP)⁻¹ - I)·vector."""
    if isinstance(resolvent, np.ndarray):
        product = np.empty(len(resolvent))
        kernels.modes.times(resolvent, vector, product)
        return product
    solved: Floats = resolvent.solve(vector)
    return solved - vector

"""A direct solver for (I - γΠ) x = b, Π a sparse matrix of probabilities: structure first, then factorisations.

Strongly connected components are solved in order, those that lead to no other first. Small ones, most of them single
states, are eliminated one after the other; larger ones on one level are factorised together (sparse LU, which needs no
pivoting for these matrices). The factors of a cycle are as sparse as the cycle. Where the size and bandwidth of a
component are so large that its factors might not fit into memory, GMRES solves it. Refinement of a solution stops when
its residual reaches the target or no longer falls.

Reference: Tarjan 1972 (components).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.threads import call_in_thread
from bisimetric.linear import krylov
from bisimetric.models.rows import Floats

FITS_ALWAYS = 2_500  # up to this many states the factors of a component fit even if they are dense
SMALL_COMPONENT = 16  # states of a component that is eliminated for every right-hand side, without stored factors
HUB = 50  # a state with more neighbours than this is left out when bandwidths are measured
WIDEST = 1_000  # factorise a larger component up to this mean bandwidth: the size of dense parts in its factors
FILL_PER_STATE = 300  # factors of such a component have at most this many entries per state
LONG = 20_000  # beyond this many states a factorisation may take a second
DENSE_FROM = 0.05  # share of nonzeros from which dense factors are used
DENSE_UP_TO = 5_000  # states up to which dense factors are used
REFINEMENTS = 4

SolveSystem = Callable[[Floats, float], Floats]  # right-hand side and target residual to solution


class _Stage(NamedTuple):
    """States that are solved together, and their rows."""

    states: npt.NDArray[np.int64]
    rows: sparse.csr_array  # [states, size], or all rows where components are substituted
    begin: npt.NDArray[np.int64]  # where these begin, and the end
    solve: SolveSystem | None  # None: one component after the other


class Factors:
    """The factors of I - γΠ, for many right-hand sides."""

    def __init__(self, matrix: sparse.csr_array, discount: float) -> None:
        matrix.sum_duplicates()
        self._matrix, self._discount = matrix, discount
        size = matrix.shape[0]
        component, level = np.empty(size, np.int64), np.zeros(size, np.int64)
        count = kernels.components.components(matrix.indptr, matrix.indices, component, level)
        members = np.bincount(component, minlength=count)[component]  # of the component of every state
        levels = level[component]
        several = np.unique(levels[members > SMALL_COMPONENT])  # levels with components to factorise
        order = np.argsort(component, kind="stable")
        is_small = members[order] <= SMALL_COMPONENT
        small, large = order[is_small], order[~is_small]
        runs = _group(small, np.searchsorted(several, levels[small], "left"), len(several) + 1)
        groups = _group(large, np.searchsorted(several, levels[large], "left"), len(several))
        self._stages: list[_Stage] = []
        self.exact = True  # no component needs GMRES
        for k, run in enumerate(runs):
            if run.size:
                begin = np.flatnonzero(np.diff(component[run], prepend=-1, append=-1))
                self._stages.append(_Stage(run, matrix, begin, None))
            if k < len(several):
                self._factorise(groups[k], int(members[groups[k]].max()))

    def _factorise(self, states: npt.NDArray[np.int64], largest: int) -> None:
        rows = self._matrix[states]
        inner = sparse.csc_matrix(rows[:, states])
        system = sparse.csc_matrix(sparse.eye(len(states), format="csc") - self._discount * inner)
        solve = _solver(system, largest)
        if solve is None:
            self.exact = False
            solve = _by_gmres(system)
        self._stages.append(_Stage(states, rows, np.array([0, len(states)]), solve))

    def once(self, b: Floats, target: float) -> Floats:
        """x with (I - γΠ) x = b by one pass over the components, without refinement."""
        x, b = np.zeros(b.size), np.ascontiguousarray(b)  # a kernel is compiled for every layout of its arrays
        for states, rows, begin, solve in self._stages:
            if solve is None:
                kernels.components.substitute(states, begin, rows.indptr, rows.indices, rows.data, self._discount, b, x)
            else:
                x[states] = solve(b[states] + self._discount * (rows @ x), target)
        return x

    def solve(self, b: Floats, target: float) -> tuple[Floats, float]:
        """x and its true residual, refined until that is within `target` or no longer falls."""
        x = self.once(b, target)
        left = self.residual(b, x)
        largest = float(np.abs(left).max())
        for _ in range(REFINEMENTS if self.exact else 0):
            if largest <= target or not np.isfinite(largest):
                break
            better = x + self.once(left, target)
            left_then = self.residual(b, better)
            largest_then = float(np.abs(left_then).max())
            if not largest_then < largest:
                break
            x, left, largest = better, left_then, largest_then
        return x, largest

    def residual(self, b: Floats, x: Floats) -> Floats:
        """b - (I - γΠ) x."""
        left: Floats = b - x + self._discount * (self._matrix @ x)
        return left


def _group(states: npt.NDArray[np.int64], group: npt.NDArray[np.int64], count: int) -> list[npt.NDArray[np.int64]]:
    """The states of every group, each in the order given."""
    order = np.argsort(group, kind="stable")
    return np.split(states[order], np.searchsorted(group[order], np.arange(1, count)))


def bytes_needed(entries: int, size: int) -> int:
    """The least memory for a matrix and its factors, in bytes."""
    return 80 * entries + 200 * size


def _solver(system: sparse.csc_matrix, largest: int) -> SolveSystem | None:
    """Factorise, or return None if the factors may not fit; `largest` is the size of the largest component."""
    size = system.shape[0]
    from scipy.linalg import lapack
    from scipy.sparse import linalg

    if size <= DENSE_UP_TO and system.nnz > DENSE_FROM * size * size:
        lu, pivots, failed = lapack.dgetrf(system.toarray())
        return None if failed else lambda b, _: lapack.dgetrs(lu, pivots, b)[0]
    if largest > FITS_ALWAYS and bandwidth(system) > WIDEST:
        return None
    if not memory.fits(16 * size * min(largest, FILL_PER_STATE)):
        return None
    try:
        # Diagonal pivots: the matrix is diagonally dominant, so growth is bounded. This ordering is found fast.
        # A factorisation that may take long runs in a separate thread, so that Ctrl-C works.
        call = call_in_thread if size > LONG else _call_here
        factors = call(lambda: linalg.splu(system, permc_spec="COLAMD", diag_pivot_thresh=0.0))
    except (RuntimeError, MemoryError):  # singular in floating point, or too large after all
        return None
    return lambda b, _: factors.solve(b)


def _call_here(call: Callable[[], Any]) -> Any:
    return call()


def bandwidth(system: Any) -> float:
    """The mean distance from the diagonal to the first entry of a row, in an ordering that keeps it small.

    States with very many neighbours, such as one where all others restart, are left out and counted: each adds one
    dense row or column to the factors.
    """
    from scipy.sparse import csgraph

    pattern = sparse.csr_matrix(system + system.T)
    hubs = np.diff(pattern.indptr) > HUB
    if hubs.any():
        pattern = sparse.csr_matrix(pattern[~hubs][:, ~hubs])
    size = pattern.shape[0]
    if not size or not pattern.nnz:
        return float(hubs.sum())
    place = np.empty(size, np.int64)
    place[csgraph.reverse_cuthill_mckee(pattern, symmetric_mode=True)] = np.arange(size)
    entries = pattern.tocoo()
    first = place.copy()
    np.minimum.at(first, entries.row, place[entries.col])
    return float((place - first).mean()) + float(hubs.sum())


def _by_gmres(system: Any) -> SolveSystem:
    """GMRES instead of a factorisation."""
    diagonal = system.diagonal()
    return lambda b, target: krylov.gmres(lambda vector: system @ vector, b, b / diagonal, target, diagonal)

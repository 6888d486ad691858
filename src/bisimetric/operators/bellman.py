"""The Bellman operator of a problem, in the form that kernels work on.

    (T V)(x, y) = c(x, y) + γ · OT_V(P[x], Q[y])

The cost is multiplied by a power of two that brings its maximum into [1, 2), which is exact; values in this
module are in that scale. Nothing here decides anything: solvers call these operations, the checker uses the
same arrays with kernels of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.blocks import for_each_block
from bisimetric.cost import largest_cost_error
from bisimetric.errors import InvalidProblem
from bisimetric.kernels.layout import HINT_RUN, Cells, Pairs, Rows, Trees
from bisimetric.linear import krylov
from bisimetric.linear.ladder import Ladder, storable
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, offsets
from bisimetric.operators import listing
from bisimetric.operators.evaluation import Evaluation
from bisimetric.problems.discounted import Problem

PIVOT_TOL = 24 * UNIT_ROUNDOFF  # reduced cost that counts as negative, relative to max |V|, for small supports
WORTH_A_START = 0.25  # share of pairs to be solved from which a start over all pairs pays
SERIAL_BELOW = 2_000  # pairs for which a sweep takes one thread
PAIR_VECTORS = 10  # arrays of doubles, one entry per pair that is solved, that an exact solve holds at its peak
STATE_VECTORS = 3  # the same, over all pairs of states
MOST_PRODUCT_ENTRIES = 2**24  # of P ⊗ Q, for a direct solve
NEVER = np.zeros((0, 0), np.bool_)  # a mask of stops that stands for none


class Sweep(NamedTuple):
    """R = T V - V, with lowest ≤ R ≤ highest as far as the sweep can tell."""

    residual: Floats  # [pairs]
    lowest: float
    highest: float
    pivots: int
    largest: float  # max |V|


@dataclass(frozen=True, slots=True, eq=False)
class Bellman:
    """Rows, scaled cost and discount of a problem."""

    source: Rows
    target: Rows
    cost: Floats  # [n, m], not scaled
    scale: float  # power of two: scale·max(cost) is in [1, 2)
    discount: float
    stop: npt.NDArray[np.bool_]  # [n, m] or [0, 0]; V = c there
    pairs: Pairs | None = None  # that are solved; None stands for all
    symmetric: bool = False  # V(x, y) = V(y, x), and the diagonal is a stop
    sizes: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] = field(init=False)  # successors of every state
    longest: tuple[int, int] = field(init=False)  # the most successors of a source and of a target state
    listed: Pairs = field(init=False, repr=False)  # `pairs`, or all
    pivot_tol: Floats = field(init=False)  # [nodes of a tree], reduced cost that counts as negative relative to max |V|
    starts: tuple[Floats | None, Floats | None] = (None, None)
    cost_error: float = 0.0  # relative, of every cost
    evaluation: Evaluation = field(init=False, repr=False)  # remembers what helped

    def __post_init__(self) -> None:
        sizes = np.diff(self.source.indptr), np.diff(self.target.indptr)
        longest = int(sizes[0].max()), int(sizes[1].max())
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "longest", longest)
        object.__setattr__(self, "pivot_tol", PIVOT_TOL * (1.0 + np.arange(sum(longest) + 1) / 64))
        object.__setattr__(self, "listed", self.pairs or listing.all_pairs(*self.shape))
        object.__setattr__(self, "evaluation", Evaluation(self))

    @classmethod
    def of(cls, problem: Problem) -> Bellman:
        """The operator of a problem whose cost is not all zero."""
        source, target = as_rows(problem.source.transitions), as_rows(problem.target.transitions)
        scale = power_of_two(float(problem.cost.max()))
        stop = NEVER if problem.stop is None else problem.stop.copy()
        starts = problem.source.start, problem.target.start
        error = problem.cost_error
        return cls(source, target, problem.cost, scale, problem.discount, stop, starts=starts, cost_error=error)

    @classmethod
    def between(cls, source: Rows, target: Rows, cost: Floats, scale: float, discount: float) -> Bellman:
        """The operator that moves from x to the source row x and from y to the target row y, and never stops."""
        return cls(source, target, cost, scale, discount, NEVER)

    def on_open_pairs(self, problem: Problem) -> Bellman:
        """The same operator on the pairs at which V is not known, if that is less work."""
        symmetric = listing.is_symmetric(problem)
        if not symmetric and not self.stop.size:
            return self
        stop = self.stop if self.stop.size else np.zeros(self.shape, np.bool_)
        if symmetric:
            stop = stop | np.eye(len(stop), dtype=np.bool_)
        elif not stop.mean() > listing.WORTH_A_LIST:
            return self
        pairs = listing.open_pairs(stop, self.source, self.target, symmetric=symmetric)
        return replace(self, stop=stop, pairs=pairs, symmetric=symmetric) if len(pairs.column) else self

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return self.cost.shape[0], self.cost.shape[1]

    @property
    def n_pairs(self) -> int:
        """How many pairs are solved."""
        return int(self.listed.row[-1])

    def states(self, first: int, last: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The source and the target states of the pairs number first..last."""
        return listing.states(self.listed, first, last, self.shape[1])

    def spread(self, vector: Floats) -> Floats:
        """One entry per pair that is solved as a matrix [n, m], with the scaled cost at the others."""
        if self.pairs is None:
            return vector.reshape(self.shape)
        return listing.spread(self.pairs, vector, self.scaled_cost())

    def consistent(self, value: Floats) -> Floats:
        """The same, with entries of its own only at the pairs that are solved."""
        return value if self.pairs is None else self.spread(listing.gathered(self.pairs, value))

    def plus(self, value: Floats, change: Floats) -> Floats:
        """value + change, for a change at the pairs that are solved, which may be overwritten."""
        if self.pairs is None:
            change += value.ravel()
            return change.reshape(self.shape)
        change += listing.gathered(self.pairs, value)
        return self.spread(change)

    def scaled_cost(self) -> Floats:
        """The cost in the scale of this operator."""
        scaled: Floats = self.cost * self.scale
        return scaled

    @property
    def largest_cost(self) -> float:
        """In the scale of this operator."""
        return float(self.cost.max()) * self.scale

    def largest_value(self) -> float:
        """What no distance exceeds: the largest cost forever."""
        return largest_forever(float(self.cost.max()), self.cost_error, self.scale, self.discount)

    def tree_cells(self) -> int:
        """How many cells the trees of all pairs have."""
        return int(self._tree_layout()[0][-1])

    def tree_bytes(self) -> int:
        """Memory for the trees of all pairs, and for the vectors that an exact solve needs beside them."""
        return self._bytes(*self._tree_layout())

    def _bytes(self, offset: npt.NDArray[np.int64], shift: int) -> int:
        """The same, for a layout of the trees."""
        n, m = self.shape
        trees = int(offset[-1]) * (shift // 4 + 12) + 2 * self.n_pairs
        lists = sum(array.nbytes for array in self.listed)
        return trees + lists + 8 * PAIR_VECTORS * self.n_pairs + 8 * STATE_VECTORS * n * m

    def start_law(self) -> Floats:
        """The joint law of independent starts, or uniform over all pairs where a chain has none."""
        n, m = self.shape
        source, target = self.starts
        if source is None or target is None:
            return np.full((n, m), 1.0 / (n * m))
        return np.outer(source, target)

    def new_trees(self) -> Trees:
        """Room for one transport tree per pair; estimated before it is allocated."""
        n, m = self.shape
        offset, shift = self._tree_layout()
        memory.require(
            self._bytes(offset, shift),
            f"solving {n} x {m} state pairs",
            "merge bisimilar states, or compare parts of the chains",
        )
        if n * m >= 2**31:
            raise InvalidProblem(f"{n} x {m} state pairs exceed 2^31; merge states or compare parts of the chains")
        cells, kind = int(offset[-1]), np.dtype(f"u{shift // 4}")
        return Trees(
            offset[:-1].copy(),
            np.empty(cells, kind),
            shift,
            np.zeros(self.n_pairs, kind),
            np.empty(cells, np.int32),
            np.empty(cells),
        )

    def _tree_layout(self) -> tuple[npt.NDArray[np.int64], int]:
        """Where the trees of every source row begin, and the bits of a node number; a code is two of those."""
        if self.pairs is None:
            per_row = self.shape[1] * (self.sizes[0] - 1) + self.target.indptr[-1]
        else:
            counts = np.diff(self.pairs.row)
            from_targets = offsets(self.sizes[1][self.pairs.column])
            per_row = counts * (self.sizes[0] - 1) + np.diff(from_targets[self.pairs.row])
        node_bits = (sum(self.longest) - 1).bit_length()
        shift = next(bits for bits in (8, 16, 32) if node_bits <= bits)
        return offsets(per_row), shift

    def improve(self, value: Floats, trees: Trees, *, cold: bool, ignore: float = 0.0) -> Sweep:
        """One sweep: T V - V, with every tree optimal for `value`; trees are changed in place.

        Reduced costs above -`ignore` are let be, which the sweep's `lowest` accounts for.
        """
        residual = np.empty(self.n_pairs)
        largest = max(-float(value.min()), float(value.max()))
        tol = np.maximum(largest * self.pivot_tol, ignore)

        def work(first: int, last: int) -> tuple[float, float, int]:
            lowest, highest, pivots = kernels.transport.sweep.improve(
                first, last, value, self.cost, self.scale, self.discount, self.stop, self.source, self.target,
                self.listed, trees, residual, tol, cold,
            )  # fmt: skip
            return lowest, highest, pivots

        lowest, highest, pivots = zip(
            *for_each_block(work, self.n_pairs, unit=HINT_RUN, serial_below=SERIAL_BELOW), strict=True
        )
        return Sweep(residual, min(lowest), max(highest), sum(pivots), largest)

    def onward(self, sweep: Sweep) -> tuple[float, float]:
        """How far V* can be below and above T V, by MacQueen's bounds; one sign only if the game can stop."""
        below, above = sweep.lowest, sweep.highest
        if self.stop.size:
            below, above = min(below, 0.0), max(above, 0.0)
        factor = self.discount / (1.0 - self.discount)
        return factor * below, factor * above

    def evaluate(self, trees: Trees, residual: Floats, guess: Floats, target: float) -> krylov.Solved:
        """d with (I - γΠ) d = residual for the trees' coupling Π, up to `target`; [pairs] vectors."""
        return self.evaluation.solve(trees, residual, guess, target)

    def rough_value(self, accuracy: float) -> Floats:
        """Where to begin: the independent coupling's value, or the cost if that would be more work than the rest."""
        if self.n_pairs < WORTH_A_START * self.cost.size:
            return self.scaled_cost()
        if not self.symmetric:
            return self.consistent(self.independent_value(accuracy))
        # Less the halves of the diagonal, which changes no best coupling and leaves zeros there.
        apart = replace(self, stop=self.stop & ~np.eye(len(self.stop), dtype=np.bool_), pairs=None, symmetric=False)
        value = apart.independent_value(accuracy)
        half = 0.5 * value.diagonal()
        return self.consistent(np.maximum(value - half - half[:, None], 0.0))

    def independent_value(self, accuracy: float, *, surely: bool = False) -> Floats:
        """The value of the independent coupling, V = c + γ P V Qᵀ, to `accuracy` of the largest cost.

        Only where it is asked for `surely` does a failure of BiCGSTAB lead to more than the cost itself.
        """
        n, m = self.shape
        rows = self.source, self.target
        cost = self.scaled_cost().ravel()
        multiplications = m * len(self.source.data) + n * len(self.target.data)

        def work(i: int, j: int, vector: Floats, out: Floats, other: Floats, sums: Floats) -> None:
            kernels.evaluation.apply_independent(i, j, vector, out, other, self.discount, self.stop, *rows, sums)

        apply = krylov.by_rows(work, n, multiplications)

        def first() -> krylov.Solved:
            if multiplications > krylov.ONE_CALL:
                return krylov.bicgstab(apply, cost, cost.copy(), rows=n, target=accuracy)
            system = self.discount, self.stop, *rows, np.empty((n, 2))
            x = cost.copy()
            return krylov.Solved(x, *kernels.krylov.independent(system, cost, x, accuracy, krylov.MAX_PRODUCTS))

        if surely:
            solved = Ladder().solve(first, self._independent_matrix, apply, cost, self.discount, accuracy)
        else:
            solved = first()
        start = solved.x if solved.residual <= self.largest_cost else cost
        return start.reshape(n, m)

    def _independent_matrix(self) -> sparse.csr_array | None:
        """P ⊗ Q, if that is not too large to be stored; for operators that never stop."""
        entries = len(self.source.data) * len(self.target.data)
        if entries > MOST_PRODUCT_ENTRIES or not storable(entries, self.cost.size):
            return None
        P, Q = (
            sparse.csr_array((rows.data, rows.indices, rows.indptr), shape=(size, size))
            for rows, size in zip((self.source, self.target), self.shape, strict=True)
        )
        return sparse.csr_array(sparse.kron(P, Q, format="csr"))

    def read_trees(self, value: Floats, trees: Trees, first: int, last: int) -> Cells:
        """Couplings and potentials that the trees stand for, on the pairs number first..last."""
        x, y = self.states(first, last)
        number = np.arange(first, last)
        if self.pairs is None and self.stop.size:
            number[self.stop[x, y]] = -1
        return self._read(value, trees, x, y, number, np.zeros(last - first, np.bool_))

    def read_pairs(self, value: Floats, trees: Trees, first: int, last: int) -> Cells:
        """The same on the flat pairs of states first..last; none at a stop, equal states stay together if symmetric."""
        m = self.shape[1]
        if self.pairs is None:
            return self.read_trees(value, trees, first, last)
        x, y = np.divmod(np.arange(first, last), m)
        number = listing.numbers(self.pairs, x, y, m)
        at = np.searchsorted(self.pairs.row, number, "right") - 1
        mirrored = (number >= 0) & (at != x)
        return self._read(value, trees, np.where(mirrored, y, x), np.where(mirrored, x, y), number, mirrored)

    def _read(
        self,
        value: Floats,
        trees: Trees,
        x: npt.NDArray[np.int64],
        y: npt.NDArray[np.int64],
        number: npt.NDArray[np.int64],
        mirrored: npt.NDArray[np.bool_],
    ) -> Cells:
        """The trees of those pairs, by their numbers (-1 for none), with the two sides exchanged where mirrored."""
        sizes_x, sizes_y = self.sizes
        count = trees.used[number].astype(np.int64)
        if self.stop.size:  # only then are there pairs without a tree
            none = number < 0
            count[none] = sizes_x[x[none]] * (self.symmetric & (x[none] == y[none]))
        indptr = offsets(count)
        sizes = np.where(mirrored, sizes_x[x], sizes_y[y]) if self.symmetric else sizes_y[y]
        start = offsets(sizes)
        total = int(indptr[-1])
        left, right, weight = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total)
        cells = Cells(indptr, left, right, weight, start, np.empty(int(start[-1])))
        kernels.transport.sweep.read_trees(
            x, y, number, mirrored, value, self.source, self.target, self.listed, trees, cells
        )
        return cells


def largest_forever(cost: float, error: float, scale: float, discount: float) -> float:
    """At least the sum of this cost, which may have a relative error, over all discounted steps; scaled."""
    largest = (cost + largest_cost_error(cost, error)) * scale
    return largest / (1.0 - discount) * (1.0 + 8 * UNIT_ROUNDOFF)


def power_of_two(largest: float) -> float:
    """The scale that brings a positive number into [1, 2)."""
    return math.ldexp(1.0, min(1 - math.frexp(largest)[1], 1022))


def as_rows(matrix: sparse.csr_array) -> Rows:
    """A chain's rows as kernels take them."""
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.copy())

"""The Bellman operator of a problem, in the form that kernels work on.

    (T V)(x, y) = c(x, y) + γ · OT_V(P[x], Q[y])

The cost is multiplied by a power of two that brings its maximum into [1, 2), which is exact; values in this
module are in that scale. Nothing here decides anything: solvers call these operations, the checker uses the
same arrays with kernels of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import _krylov, _memory, kernels
from bisimetric._errors import InvalidProblem
from bisimetric._parallel import PARALLEL_FROM, for_each_block, for_even_split
from bisimetric._problem import Problem
from bisimetric._stochastic import UNIT_ROUNDOFF, Floats
from bisimetric.kernels.layout import HINT_RUN, SMALL, Cells, Rows, Trees

PIVOT_TOL = 64 * UNIT_ROUNDOFF  # reduced cost that counts as negative, relative to max |V|, for small supports
SERIAL_BELOW = 2_000  # pairs for which a sweep takes one thread
SOLVER_VECTORS = 12  # arrays of n·m doubles that an exact solve holds at its peak


class Sweep(NamedTuple):
    """R = T V - V, with lowest ≤ R ≤ highest as far as the sweep can tell."""

    residual: Floats  # [n, m]
    lowest: float
    highest: float
    pivots: int


@dataclass(frozen=True, slots=True, eq=False)
class Bellman:
    """Rows, scaled cost and discount of a problem; stateless."""

    source: Rows
    target: Rows
    cost: Floats  # [n, m], not scaled
    scale: float  # power of two: scale·max(cost) is in [1, 2)
    discount: float
    stop: npt.NDArray[np.bool_]  # [n, m] or [0, 0]
    longest: tuple[int, int] = field(init=False)  # the most successors of a source and of a target state
    alike: npt.NDArray[np.int32] = field(init=False)  # [m], equal for target rows with the same probabilities
    starts: tuple[Floats | None, Floats | None] = (None, None)

    def __post_init__(self) -> None:
        longest = int(np.diff(self.source.indptr).max()), int(np.diff(self.target.indptr).max())
        object.__setattr__(self, "longest", longest)
        object.__setattr__(self, "alike", _alike(self.target, all_different=longest[0] * longest[1] > SMALL))

    @classmethod
    def of(cls, problem: Problem) -> Bellman:
        """The operator of a problem whose cost is not all zero."""
        source, target = as_rows(problem.source.transitions), as_rows(problem.target.transitions)
        bellman = cls.between(source, target, problem.cost, power_of_two(float(problem.cost.max())), problem.discount)
        bellman = replace(bellman, starts=(problem.source.start, problem.target.start))
        return bellman if problem.stop is None else replace(bellman, stop=problem.stop.copy())

    @classmethod
    def between(cls, source: Rows, target: Rows, cost: Floats, scale: float, discount: float) -> Bellman:
        """The operator that moves from x to the source row x and from y to the target row y, and never stops."""
        return cls(source, target, cost, scale, discount, np.zeros((0, 0), np.bool_))

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return self.cost.shape[0], self.cost.shape[1]

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
        return self.largest_cost / (1.0 - self.discount) * (1 + 8 * UNIT_ROUNDOFF)

    def tree_cells(self) -> int:
        """How many cells the trees of all pairs have."""
        return int(self._tree_layout()[0][-1])

    def tree_bytes(self) -> int:
        """Memory for the trees of all pairs, and for the vectors that an exact solve needs beside them."""
        n, m = self.shape
        offset, shift = self._tree_layout()
        return int(offset[-1]) * (shift // 4 + 12) + n * m * (2 + 8 * SOLVER_VECTORS)

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
        _memory.require(
            self.tree_bytes(),
            f"solving {n} x {m} state pairs",
            "merge bisimilar states, or compare parts of the chains",
        )
        if n * m >= 2**31:
            raise InvalidProblem(f"{n} x {m} state pairs exceed 2^31; merge states or compare parts of the chains")
        offset, shift = self._tree_layout()
        cells, kind = int(offset[-1]), np.dtype(f"u{shift // 4}")
        return Trees(
            offset[:-1].copy(),
            np.empty(cells, kind),
            shift,
            np.zeros(n * m, kind),
            np.empty(cells, np.int32),
            np.empty(cells),
        )

    def _tree_layout(self) -> tuple[npt.NDArray[np.int64], int]:
        """Where the trees of every source row begin, and the bits of a node number; a code is two of those."""
        per_row = self.shape[1] * (np.diff(self.source.indptr) - 1) + self.target.indptr[-1]
        node_bits = (sum(self.longest) - 1).bit_length()
        shift = next(bits for bits in (8, 16, 32) if node_bits <= bits)
        return np.concatenate([[0], np.cumsum(per_row)]), shift

    def improve(self, value: Floats, trees: Trees, *, cold: bool, ignore: float = 0.0) -> Sweep:
        """One sweep: T V - V, with every tree optimal for `value`; trees are changed in place.

        Reduced costs above -`ignore` are let be, which the sweep's `lowest` accounts for.
        """
        n, m = self.shape
        residual = np.empty((n, m))
        largest = max(-float(value.min()), float(value.max()))
        rounding = PIVOT_TOL * largest * (1.0 + np.arange(sum(self.longest) + 1) / 64)
        tol = np.maximum(rounding, ignore)

        def work(first: int, last: int) -> Floats:
            report = np.empty(3)
            kernels.transport.improve(
                first, last, value, self.cost, self.scale, self.discount, self.stop, self.source, self.target,
                self.alike, trees, residual, tol, cold, report,
            )  # fmt: skip
            return report

        reports = np.array(for_each_block(work, n * m, unit=self._unit(), serial_below=SERIAL_BELOW))
        columns = kernels.transport
        return Sweep(
            residual,
            float(reports[:, columns.LOWEST].min()),
            float(reports[:, columns.HIGHEST].max()),
            int(reports[:, columns.PIVOTS].sum()),
        )

    def onward(self, sweep: Sweep) -> tuple[float, float]:
        """How far V* can be below and above T V, by MacQueen's bounds; one sign only if the game can stop."""
        below, above = sweep.lowest, sweep.highest
        if self.stop.size:
            below, above = min(below, 0.0), max(above, 0.0)
        factor = self.discount / (1.0 - self.discount)
        return factor * below, factor * above

    def evaluate(self, trees: Trees, residual: Floats, guess: Floats, target: float) -> _krylov.Solved:
        """d with (I - γΠ) d = residual for the trees' coupling Π, up to `target`; [n·m] vectors."""
        n, m = self.shape
        if n * m < PARALLEL_FROM:
            system = self.discount, self.source, self.target, trees, np.empty((n, 2))
            cycle = kernels.krylov.cycle_on_trees
            return _krylov.with_restarts(lambda x, budget: cycle(system, residual, x, target, budget), guess)

        def apply(vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
            sums = np.empty((n, 2))
            for_even_split(
                lambda i, j: kernels.evaluation.apply_trees(
                    i, j, vector, out, other, self.discount, self.source, self.target, trees, sums
                ),
                n,
                cost=n * m,
            )
            product, square = np.add.reduce(sums, axis=0).tolist()
            return product, square

        return _krylov.bicgstab(apply, residual, guess, rows=n, target=target)

    def independent_value(self, accuracy: float) -> Floats:
        """The value of the independent coupling, V = c + γ P V Qᵀ, to `accuracy` of the largest cost."""
        n, m = self.shape
        cost = self.scaled_cost().ravel()

        def apply(vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
            sums = np.empty((n, 2))
            for_even_split(
                lambda i, j: kernels.evaluation.apply_independent(
                    i, j, vector, out, other, self.discount, self.stop, self.source, self.target, sums
                ),
                n,
                cost=n * m,
            )
            product, square = np.add.reduce(sums, axis=0).tolist()
            return product, square

        solved = _krylov.bicgstab(apply, cost, cost.copy(), rows=n, target=accuracy)
        start = solved.x if solved.residual < math.inf else cost
        return start.reshape(n, m)

    def read_trees(self, value: Floats, trees: Trees, first: int, last: int) -> Cells:
        """Couplings and potentials that the trees stand for, on the pairs first..last (flat)."""
        m = self.shape[1]
        pairs = np.arange(first, last)
        count = trees.used[first:last].astype(np.int64)
        indptr = np.concatenate([[0], np.cumsum(count)])
        start = np.concatenate([[0], np.cumsum(np.diff(self.target.indptr)[pairs % m])])
        total = int(indptr[-1])
        left, right, weight = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total)
        cells = Cells(indptr, left, right, weight, start, np.empty(int(start[-1])))
        kernels.transport.read_trees(first, last, value, self.stop, self.source, self.target, trees, cells)
        return cells

    def _unit(self) -> int:
        """Pairs that a block of a sweep may not divide, because a cold start learns from the pair before."""
        return self.shape[1] if self.longest[0] * self.longest[1] <= SMALL else HINT_RUN


def power_of_two(largest: float) -> float:
    """The scale that brings a positive number into [1, 2)."""
    return math.ldexp(1.0, min(1 - math.frexp(largest)[1], 1022))


def as_rows(matrix: sparse.csr_array) -> Rows:
    """A chain's rows as kernels take them."""
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.copy())


def _alike(target: Rows, *, all_different: bool) -> npt.NDArray[np.int32]:
    """Equal numbers for target rows with the same probabilities, position by position: their trees may be copied.

    All different where supports are large, since blocks may then begin anywhere in a row.
    """
    if all_different:
        return np.arange(len(target.indptr) - 1, dtype=np.int32)
    numbers: dict[bytes, int] = {}
    keys = (target.data[a:b].tobytes() for a, b in pairwise(target.indptr))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int32)

"""The Bellman operator of a problem, in the form that kernels work on.

    (T V)(x, y) = c(x, y) + γ · OT_V(P[x], Q[y])

The cost is multiplied by a power of two that brings its maximum into [1, 2), which is exact; values in this
module are in that scale. Nothing here decides anything: solvers call these operations, the checker uses the
same arrays with kernels of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support.blocks import PARALLEL_FROM, for_each_block, for_even_split
from bisimetric._support.frozen import frozen
from bisimetric.cost.ground import Number, largest_cost_error
from bisimetric.kernels.layout import FEW_CELLS, HINT_RUN, NEVER, Rows, Trees
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, Mask, held_rows
from bisimetric.operators.trees import PairList, is_symmetric
from bisimetric.problems.discounted import Problem

PIVOT_TOL = 24 * UNIT_ROUNDOFF  # reduced cost that counts as negative, relative to max |V|, for small supports
PIVOT_TOL_NODES = 64  # nodes of a tree that add as much to that
FOREVER_ROUNDING = 8 * UNIT_ROUNDOFF  # relative, of the largest cost paid forever
FULL_FROM = 400  # pairs of states from which full rows have a sweep of their own
HUBS = 3  # source states whose trees a first sweep over full rows may take over in all other rows
SERIAL_BELOW = 2_000  # pairs for which a sweep takes one thread
WORTH_A_LIST = 0.25  # share of pairs at which V is known, from which the others are listed


class Sweep(NamedTuple):
    """R = T V - V, with lowest ≤ R ≤ highest as far as the sweep can tell."""

    residual: Floats  # [pairs]
    lowest: float
    highest: float
    pivots: int
    largest: float  # max |V|


@dataclass(frozen=True, slots=True, eq=False)
class Bellman:
    """Rows, scaled cost and discount of a problem, and the pairs that are solved."""

    source: Rows
    target: Rows
    cost: Floats  # [n, m], not scaled
    scale: float  # power of two: scale·max(cost) is in [1, 2)
    discount: float
    stop: npt.NDArray[np.bool_]  # [n, m] or [0, 0]; V = c there
    pairs: PairList
    starts: tuple[Floats | None, Floats | None] = (None, None)
    cost_error: float = 0.0  # relative, of every cost
    rewards: tuple[Floats | None, Floats | None] = (
        None,
        None,
    )  # of states; the cost need not come from them
    sizes: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]] = field(init=False)  # successors of every state
    longest: tuple[int, int] = field(init=False)  # the most successors of a source and of a target state
    most: float = field(init=False)  # the largest cost, not scaled

    def __post_init__(self) -> None:
        sizes = np.diff(self.source.indptr), np.diff(self.target.indptr)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "longest", (int(sizes[0].max()), int(sizes[1].max())))
        object.__setattr__(self, "most", float(self.cost.max()))

    @classmethod
    def of(cls, problem: Problem) -> Bellman:
        """The operator of a problem whose cost is not all zero, on all pairs."""
        source, target = as_rows(held_rows(problem.source)), as_rows(held_rows(problem.target))
        scale = power_of_two(float(problem.cost.max()))
        stop = NEVER if problem.stop is None else problem.stop.copy()
        starts = problem.source.start, problem.target.start
        pairs = PairList.of_all(*problem.cost.shape)
        rewards, error = (problem.source.reward, problem.target.reward), problem.cost_error
        return cls(source, target, problem.cost, scale, problem.discount, stop, pairs, starts, error, rewards)

    @classmethod
    def between(cls, source: Rows, target: Rows, cost: Floats, scale: float, discount: float) -> Bellman:
        """The operator that moves from x to the source row x and from y to the target row y, and never stops."""
        return cls(source, target, cost, scale, discount, NEVER, PairList.of_all(*cost.shape))

    @classmethod
    def on_open_pairs(cls, problem: Problem) -> Bellman:
        """The operator on the pairs at which V is not known, if that is less work; else on all pairs."""
        everywhere, symmetric = cls.of(problem), is_symmetric(problem)
        stop = everywhere.stop
        if symmetric:
            stop = (stop if stop.size else False) | np.eye(problem.shape[0], dtype=np.bool_)
        elif not stop.size or not stop.mean() > WORTH_A_LIST:
            return everywhere
        pairs = PairList.outside(stop, everywhere.source, everywhere.target, symmetric=symmetric)
        return everywhere if pairs.is_complete else replace(everywhere, stop=stop, pairs=pairs)

    @property
    def is_full(self) -> bool:
        """Whether all states follow all states, there are many, and all pairs are solved."""
        n, m = self.shape
        if len(self.source.data) < n * n or len(self.target.data) < m * m or n * m < FULL_FROM:
            return False
        return self.pairs.is_complete and not self.stop.size

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return self.pairs.shape

    def scaled_cost(self) -> Floats:
        """The cost in the scale of this operator."""
        scaled: Floats = self.cost * self.scale
        return scaled

    @property
    def largest_cost(self) -> float:
        """In the scale of this operator."""
        return self.most * self.scale

    def largest_value(self) -> float:
        """What no distance exceeds: the largest cost forever."""
        return largest_forever(self.most, self.cost_error, self.scale, self.discount)

    def spread(self, vector: Floats) -> Floats:
        """One entry per pair that is solved as a matrix [n, m], with the scaled cost at the others."""
        if self.pairs.is_complete:
            return vector.reshape(self.shape)
        return self.pairs.spread(vector, self.scaled_cost())

    def consistent(self, value: Floats) -> Floats:
        """The same, with entries of its own only at the pairs that are solved."""
        return value if self.pairs.is_complete else self.spread(self.pairs.gather(value))

    def plus(self, value: Floats, change: Floats) -> Floats:
        """value + change, for a change at the pairs that are solved."""
        if self.pairs.is_complete:
            return (value.ravel() + change).reshape(self.shape)
        return self.spread(self.pairs.gather(value) + change)

    def improve(
        self,
        value: Floats,
        trees: Trees,
        *,
        cold: bool,
        ignore: float = 0.0,
        skip: Mask | None = None,
        rows: tuple[int, int] | None = None,
    ) -> Sweep:
        """One sweep: T V - V, with every tree optimal for `value`; trees are changed in place.

        `cold` says that the trees hold nothing yet. Reduced costs above -`ignore` cause no pivots, which the sweep's
        `lowest` accounts for. Pairs in the mask `skip` keep their trees, and count as evaluated: T V - V = 0 there, so
        the sweep proves nothing. With `rows` only the pairs of those source rows are swept, and the few before them
        from which new trees start; the residual holds nothing at the others.
        """
        residual = np.empty(self.pairs.size)
        largest, tol = self._pivot_tolerances(value, ignore)
        begin, end = (0, self.shape[0]) if rows is None else rows
        if self.is_full:
            found = self._improve_full(value, trees, residual, float(tol[-1]), cold, begin, end)
            return Sweep(residual, *found, largest)

        stop = self.stop if skip is None else skip
        sweep = kernels.transport.sweep
        improve = sweep.improve_narrow if self.longest[0] * self.longest[1] <= FEW_CELLS else sweep.improve

        def work(first: int, last: int) -> tuple[float, float, int]:
            lowest, highest, pivots = improve(
                first, last, value, self.cost, self.scale, self.discount, stop, self.source, self.target,
                self.pairs.listed, trees, residual, tol, cold,
            )  # fmt: skip
            return lowest, highest, pivots

        first, size = (int(self.pairs.listed.row[x]) for x in (begin, end))
        first -= first % HINT_RUN
        lowest, highest, pivots = zip(
            *for_each_block(work, size, begin=first, unit=HINT_RUN, serial_below=SERIAL_BELOW), strict=True
        )
        if skip is not None:
            residual[skip.ravel()] = 0.0
            return Sweep(residual, float(residual.min()), float(residual.max()), sum(pivots), largest)
        return Sweep(residual, min(lowest), max(highest), sum(pivots), largest)

    def _improve_full(
        self, value: Floats, trees: Trees, residual: Floats, tol: float, cold: bool, begin: int, end: int
    ) -> tuple[float, float, int]:
        """The same for the source rows begin..end where all states follow all: least and largest residual, pivots."""
        n, m = self.shape
        P, Q = self.source.data.reshape(n, n), self.target.data.reshape(m, m)
        hubs = min(HUBS, n) if cold else 0
        hub_f, hub_g = np.empty((hubs, m, n)), np.empty((hubs, m))
        turned = np.ascontiguousarray(value.T)
        weight = 1.0 / np.sqrt(np.maximum(np.arange(n + m + 1), 1.0))

        def work(first: int, last: int) -> tuple[float, float, int]:
            lowest, highest, pivots = kernels.transport.full.improve(
                first, last, value, turned, self.cost, self.scale, self.discount, P, Q, trees, residual, tol, cold,
                hub_f, hub_g, weight,
            )  # fmt: skip
            return lowest, highest, pivots

        found = [work(0, 1)] if hubs else []
        serial = n if (end - begin) * m < SERIAL_BELOW else 0
        for first, last in ((1, hubs), (max(begin, hubs), end)):  # hubs, then the rows that look at all of them
            if first < last:
                found += for_each_block(work, last, begin=first, serial_below=serial, compiled=True)
        lowest, highest, pivots = zip(*found, strict=True)
        return min(lowest), max(highest), sum(pivots)

    def repair(self, value: Floats, trees: Trees, rough: Mask = NEVER) -> Sweep:
        """The same for trees that are optimal for `value` and other rows with the same successors; nothing stops.

        Trees of pairs in the mask `rough` that are not feasible for these rows keep the flows that they have; their
        residuals are lower bounds, exact to first order.
        """
        residual = np.empty(self.pairs.size)
        largest, tol = self._pivot_tolerances(value, 0.0)

        def work(first: int, last: int) -> tuple[float, float, int]:
            lowest, highest, pivots = kernels.transport.repair.repair(
                first, last, value, self.cost, self.scale, self.discount, self.source, self.target, self.pairs.listed,
                trees, residual, tol, rough,
            )  # fmt: skip
            return lowest, highest, pivots

        lowest, highest, pivots = zip(
            *for_each_block(work, self.pairs.size, unit=HINT_RUN, serial_below=SERIAL_BELOW), strict=True
        )
        return Sweep(residual, min(lowest), max(highest), sum(pivots), largest)

    def _pivot_tolerances(self, value: Floats, ignore: float) -> tuple[float, Floats]:
        """The largest |value|, and by the number of nodes the reduced cost above whose negative none causes a pivot."""
        largest = _largest_size(value)
        tol = largest * _tolerance_by_nodes(sum(self.longest))
        return largest, tol if ignore <= tol[0] else np.maximum(tol, ignore)

    def bounds(self, sweep: Sweep) -> tuple[float, float]:
        """How far V* can be below and above T V, by MacQueen's bounds; one sign only if the game can stop."""
        below, above = sweep.lowest, sweep.highest
        if self.stop.size:
            below, above = min(below, 0.0), max(above, 0.0)
        factor = self.discount / (1.0 - self.discount)
        return factor * below, factor * above

    def gap_of(self, span: float) -> float:
        """The gap that residuals of this span leave."""
        return span * self.discount / (1.0 - self.discount)

    def span_of(self, gap: float) -> float:
        """A span of residuals that leaves no larger gap."""
        return gap * (1.0 - self.discount)

    @property
    def contraction(self) -> float:
        """By which factor each application shrinks errors at least."""
        return self.discount

    def start_law(self) -> Floats:
        """The joint law of independent starts, or uniform over all pairs where a chain has none."""
        n, m = self.shape
        source, target = self.starts
        if source is None or target is None:
            return np.full((n, m), 1.0 / (n * m))
        return np.outer(source, target)


def _largest_size(value: Floats) -> float:
    """max |value|, or NaN where there is one."""
    if value.size < PARALLEL_FROM:
        return max(-float(value.min()), float(value.max()))
    flat, found = value.reshape(-1), list[float]()

    def work(first: int, last: int) -> None:
        part = flat[first:last]
        found.append(max(-float(part.min()), float(part.max())))

    for_even_split(work, flat.size, cost=flat.size)
    return float(np.max(found))


@lru_cache
def _tolerance_by_nodes(most: int) -> Floats:
    """[0..most], relative to the largest value."""
    return frozen(PIVOT_TOL * (1.0 + np.arange(most + 1) / PIVOT_TOL_NODES))


def is_immediate(problem: Problem) -> bool:
    """Whether V = c: no future, or nothing to pay."""
    return problem.discount == 0.0 or not problem.cost.any()


def largest_forever(cost: Number, error: float, scale: Number, discount: float) -> Number:
    """At least the sum of a cost, which may have a relative error, over all discounted steps; scaled."""
    largest = (cost + largest_cost_error(cost, error)) * scale
    return largest / (1.0 - discount) * (1.0 + FOREVER_ROUNDING)


def power_of_two(largest: float) -> float:
    """The scale that brings a positive number into [1, 2)."""
    return math.ldexp(1.0, min(1 - math.frexp(largest)[1], 1022))


def as_rows(matrix: sparse.csr_array) -> Rows:
    """A chain's rows as kernels take them."""
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data.copy())

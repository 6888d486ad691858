"""The checker's word on many small problems at once: bounds at all their pairs, one gap for each.

What `certificates.check` says about one problem, with one number per pair where that has one per problem: the same
checker, the same interval, the same search for zeros.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.blocks import for_each_block
from bisimetric.certificates.check import LARGEST_MARGINAL_ERROR, ZERO_CANDIDATE
from bisimetric.certificates.interval import Application, Certificate, Errors, Range, interval
from bisimetric.certificates.zeros import closed_subset
from bisimetric.cost.ground import cost_above, cost_below
from bisimetric.couplings.witness import range_places
from bisimetric.errors import InvalidWitness
from bisimetric.kernels.layout import Cells, Report
from bisimetric.models.rows import Floats, Ints, Mask
from bisimetric.operators.bellman import largest_forever
from bisimetric.operators.side_by_side import PROBLEMS_AT_ONCE, ManyTrees, SideBySide


@dataclass(frozen=True, eq=False)
class ManyBounds:
    """Bounds at the pairs of all problems, in the units of their costs."""

    operator: SideBySide
    value: Floats  # [pairs]
    lower: Floats
    upper: Floats
    shortfall: Floats  # [problems]

    @cached_property
    def relative_gaps(self) -> Floats:
        """[problems], as `Certificate.relative_gap`."""
        gap, largest = self.operator.largest(self.upper - self.lower), self.operator.largest(self.upper)
        return np.divide(gap, largest, out=np.zeros(len(gap)), where=gap > 0.0)

    @property
    def gap(self) -> float:
        """The largest relative gap: one number for costs of all units."""
        return float(self.relative_gaps.max())

    @property
    def relative_gap(self) -> float:
        """The largest of all problems."""
        return self.gap

    def around(self, estimate: Floats | None = None, scale: float = 1.0) -> ManyBounds:
        """The same with other estimates, in the scale of each problem, cut to the bounds."""
        if estimate is None:
            return self
        value, mirror = estimate / self.operator.per_pair(self.operator.arrays.scale), self.operator.mirror
        if mirror.size:
            value = 0.5 * (value + value[mirror])
        return replace(self, value=np.clip(value, self.lower, self.upper, out=value))

    def of(self, k: int, shape: tuple[int, int]) -> Certificate:
        """The certificate of problem number k."""
        pair_at = self.operator.arrays.pair_at
        here = slice(pair_at[k], pair_at[k + 1])
        value, lower, upper = (bound[here].reshape(shape) for bound in (self.value, self.lower, self.upper))
        return Certificate(value, lower, upper, float(self.shortfall[k]))


class _PerPair(NamedTuple):
    """The operators of all problems as `interval` takes one, with an entry per pair."""

    scale: Floats
    discount: float
    largest_cost: Floats
    cost_error: float

    def largest_value(self) -> Floats:
        return largest_forever(self.largest_cost / self.scale, self.cost_error, self.scale, self.discount)


def a_priori(operator: SideBySide) -> ManyBounds:
    """What holds before any solver has begun, as `check.a_priori`."""
    arrays, spread = operator.arrays, _per_pair(operator)
    lower, above = (bound(arrays.cost, operator.cost_error) for bound in (cost_below, cost_above))
    upper = np.nextafter(spread.largest_value() / spread.scale, np.inf)
    if arrays.stop.size:
        np.copyto(upper, above, where=arrays.stop)
    return ManyBounds(operator, lower + 0.5 * (upper - lower), lower, upper, np.zeros(operator.size))


def check(operator: SideBySide, solved: ManyTrees) -> ManyBounds:
    """What the values and trees of all problems prove."""
    arrays, stop, spread = operator.arrays, operator.arrays.stop, _per_pair(operator)
    cells = operator.cells(solved)

    def proved_zero(lower: Floats, upper: Floats, errors: Errors) -> Mask | None:
        small = ZERO_CANDIDATE * operator.largest(upper) + 2 * operator.largest(upper - lower)
        candidate = (arrays.cost == 0.0) & (upper <= operator.per_pair(small)) & ~(errors.marginal > 0.0)
        if candidate.any():
            candidate &= _provable(operator)
        if not candidate.any():
            return None
        longest = int(np.diff(cells.indptr).max())
        return closed_subset(candidate, lambda pairs: _successors(operator, cells, pairs), longest)

    least, most = -operator.largest(-solved.value), operator.largest(solved.value)
    extremes = Range(operator.per_pair(least), operator.per_pair(most))
    found = interval(spread, arrays.cost, extremes, lambda: _application(operator, solved, cells), proved_zero)
    lower, upper, value = found.lower, found.upper, found.value
    if stop.size:
        known = arrays.cost[stop]
        value[stop], lower[stop], upper[stop] = (
            known,
            cost_below(known, operator.cost_error),
            cost_above(known, operator.cost_error),
        )
    if operator.mirror.size:
        lower, upper = np.maximum(lower, lower[operator.mirror]), np.minimum(upper, upper[operator.mirror])
    return ManyBounds(operator, value, lower, upper, found.shortfall[arrays.pair_at[:-1]])


def _application(operator: SideBySide, solved: ManyTrees, cells: Cells) -> Application:
    """The checker's bounds on T V of all problems; invalid couplings are refused."""
    arrays = operator.arrays
    upper, lower = np.empty(len(arrays.cost)), np.empty(len(arrays.cost))
    reports = np.empty((operator.size, len(Report._fields)))

    def work(first: int, last: int) -> None:
        kernels.side_by_side.check(
            first, last, arrays, operator.discount, solved.value, cells, upper, lower, reports
        )  # fmt: skip

    for_each_block(work, operator.size, largest=PROBLEMS_AT_ONCE, serial_below=PROBLEMS_AT_ONCE)
    lowest, highest, marginal_error, potential, terms, invalid = reports.T
    wrong = np.flatnonzero((invalid > 0) | ~(marginal_error <= LARGEST_MARGINAL_ERROR))
    if len(wrong):
        raise InvalidWitness(
            f"the couplings of problem {wrong[0]} are off by {marginal_error[wrong[0]]:.3g} in a marginal, "
            f"or have {int(invalid[wrong[0]])} invalid cells"
        )
    if arrays.stop.size:  # the remaining chain is substochastic, so a shift of one sign only may be carried on
        lowest, highest = np.minimum(lowest, 0.0), np.maximum(highest, 0.0)
    row_error = np.concatenate([chain.row_error for chain in operator.chains])
    moved = np.maximum.reduceat(row_error, arrays.chains.state_at[:-1])
    rows = 0.5 * (moved[arrays.source] + moved[arrays.target])
    errors = Errors(*map(operator.per_pair, (terms, rows, potential, marginal_error)))
    return Application(lower, upper, operator.per_pair(lowest), operator.per_pair(highest), errors)


def _per_pair(operator: SideBySide) -> _PerPair:
    scale = operator.arrays.scale
    largest = operator.largest(operator.arrays.cost) * scale
    return _PerPair(operator.per_pair(scale), operator.discount, operator.per_pair(largest), operator.cost_error)


def _provable(operator: SideBySide) -> Mask:
    """[pairs], those whose distance may be proved to be zero, as `check.provable`."""
    state_at = operator.arrays.chains.state_at
    merged = np.concatenate([chain.merged for chain in operator.chains])
    if not merged.any():
        return np.ones(len(operator.arrays.cost), np.bool_)
    chain = np.repeat(np.arange(len(state_at) - 1), np.diff(state_at) + 1)  # of an entry of indptr
    x, y = operator.rows_of_pairs
    found: Mask = ~(merged[x - chain[x]] | merged[y - chain[y]])
    return found | operator.arrays.stop if operator.arrays.stop.size else found


def _successors(operator: SideBySide, cells: Cells, pairs: npt.NDArray[np.int64]) -> tuple[Ints, npt.NDArray[np.int64]]:
    """How many successor pairs the coupling has at each of the ascending `pairs`, and which."""
    arrays, chains = operator.arrays, operator.arrays.chains
    indptr, at = range_places(cells.indptr, pairs)
    count = np.diff(indptr)
    pair = np.repeat(pairs, count)
    problem = np.searchsorted(arrays.pair_at, pair, "right") - 1
    source, target = arrays.source[problem], arrays.target[problem]
    x, y = operator.rows_of_pairs
    to_x = chains.indices[chains.entry_at[source] + chains.indptr[x[pair]] + cells.left[at]].astype(np.int64)
    to_y = chains.indices[chains.entry_at[target] + chains.indptr[y[pair]] + cells.right[at]]
    return count, arrays.pair_at[problem] + to_x * np.diff(chains.state_at)[target] + to_y

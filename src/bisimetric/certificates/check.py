"""The checker's word on an iterate: from a value, couplings and potentials to a certificate.

`kernels/check.py` turns any value V with couplings and potentials into U ≥ T V ≥ L; `interval` makes bounds on V* of
that. A pair is *proved zero* when its cost is zero, neither state stands for others whose rows differ, and its coupling
leads only to such pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.blocks import for_each_block, thread_count
from bisimetric.certificates.interval import Application, Certificate, Errors, Range, immediate_bounds, interval
from bisimetric.certificates.zeros import closed_subset, successor_pairs
from bisimetric.cost.ground import cost_above, cost_below
from bisimetric.couplings.witness import CELLS_AT_ONCE, ScatteredWitness, Witness
from bisimetric.errors import InvalidWitness
from bisimetric.kernels.layout import Report
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import SERIAL_BELOW, Bellman
from bisimetric.problems.discounted import Problem

LARGEST_MARGINAL_ERROR = 1e-6  # 1-norm; a coupling further off than this is refused
ZERO_CANDIDATE = 1e-9  # relative to the largest distance: below, a pair may be zero


@dataclass(frozen=True, slots=True, eq=False)
class ListedCertificate:
    """A certificate with entries at the pairs that are solved: while a solve goes on, the others only take memory."""

    bellman: Bellman
    lower: Floats  # [pairs]
    upper: Floats  # [pairs]
    shortfall: float

    @property
    def gap(self) -> float:
        """The width of the widest interval, pairs with known V included: theirs is the rounding of the cost."""
        gap, bellman = float((self.upper - self.lower).max()), self.bellman
        if bellman.cost_error > 0.0:
            known = immediate_bounds(bellman.cost[bellman.stop].max(keepdims=True), bellman.cost_error)
            gap = max(gap, known.gap)
        return gap

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest upper bound; zero if the gap is zero."""
        gap, largest_cost = self.gap, self.bellman.most
        return gap / max(float(self.upper.max()), largest_cost) if gap > 0 else 0.0

    def around(self, estimate: Floats | None = None, scale: float = 1.0) -> Certificate:
        """The bounds at all pairs, with another estimate (times `scale`) cut to them."""
        cost, error = self.bellman.cost, self.bellman.cost_error
        lower = self.bellman.pairs.spread(self.lower, cost_below(cost, error))
        upper = self.bellman.pairs.spread(self.upper, cost_above(cost, error))
        value = lower + 0.5 * (upper - lower) if estimate is None else estimate / scale
        return Certificate(np.clip(value, lower, upper, out=value), lower, upper, self.shortfall)


def immediate(problem: Problem) -> Certificate:
    """The answer V = c, exact as far as c is."""
    return immediate_bounds(problem.cost, problem.cost_error)


def a_priori(problem: Problem, bellman: Bellman) -> Certificate:
    """What holds before any solver has begun: the cost itself, and the largest cost forever."""
    known = immediate(problem)
    upper = np.full(problem.shape, np.nextafter(bellman.largest_value() / bellman.scale, np.inf))
    if problem.stop is not None:
        upper[problem.stop] = known.upper[problem.stop]
    return Certificate(known.lower + 0.5 * (upper - known.lower), known.lower, upper)


def check(
    problem: Problem,
    bellman: Bellman,
    value: Floats,
    witness: Witness,
) -> Certificate | ListedCertificate:
    """What `value` (in the operator's scale) and the witness prove, in the problem's own units."""
    rows = 0.5 * (float(problem.source.row_error.max()) + float(problem.target.row_error.max()))
    longest = witness.cells_per_pair

    def apply() -> Application:
        once = check_application(bellman, value, witness, rows)
        if bellman.stop.size:  # the remaining chain is substochastic, so a shift of one sign only may be carried on
            return once._replace(lowest=min(once.lowest, 0.0), highest=max(once.highest, 0.0))
        return once

    cost = bellman.cost if bellman.pairs.is_complete else bellman.pairs.gather(bellman.cost)
    inside = provable(problem)
    if inside is not None and not bellman.pairs.is_complete:
        inside = bellman.pairs.gather(inside.astype(np.float64)) > 0.0

    def proved_zero(lower: Floats, upper: Floats, errors: Errors) -> npt.NDArray[np.bool_] | None:
        gap = float((upper - lower).max())
        candidate = zero_candidates(cost, upper, gap)
        if inside is not None:
            candidate &= inside
        if errors.marginal > 0.0 or not candidate.any():
            return None
        return closed_subset(candidate, partial(successor_pairs, bellman, witness), longest)

    found = interval(bellman, cost, Range.of(value), apply, proved_zero)
    if not bellman.pairs.is_complete:
        return ListedCertificate(bellman, found.lower, found.upper, found.shortfall)
    if bellman.stop.size:
        known = immediate_bounds(bellman.cost[bellman.stop], bellman.cost_error)
        for bound in ("value", "lower", "upper"):
            getattr(found, bound)[bellman.stop] = getattr(known, bound)
    return Certificate(*found)


def check_application(bellman: Bellman, value: Floats, witness: Witness, rows: float) -> Application:
    """The checker's bounds on T V; `rows` is how far rows have moved. Invalid couplings are refused."""
    upper, lower = np.empty(bellman.pairs.size), np.empty(bellman.pairs.size)
    if isinstance(witness, ScatteredWitness):
        reports = witness.reports(value, upper, lower)
    else:
        reports = reports_on(bellman, value, witness, upper, lower, (0, bellman.pairs.size))
    lowest = min(report.lowest for report in reports)
    worst = Report(*map(max, zip(*reports, strict=True)))
    if worst.invalid or not worst.marginal_error <= LARGEST_MARGINAL_ERROR:
        raise InvalidWitness(
            f"the couplings are off by {worst.marginal_error:.3g} in a marginal, or have {worst.invalid} invalid cells"
        )
    errors = Errors(worst.terms, rows, worst.potential, worst.marginal_error)
    if bellman.pairs.is_complete:
        lower, upper = bellman.spread(lower), bellman.spread(upper)
    return Application(lower, upper, lowest, worst.highest, errors)


def reports_on(
    bellman: Bellman, value: Floats, witness: Witness, upper: Floats, lower: Floats, pairs: tuple[int, int]
) -> list[Report]:
    """What the checker finds on a range of pairs, by number; writes its bounds on T V there."""

    def work(first: int, last: int) -> Report:
        found = kernels.check.check(
            *bellman.pairs.states(first, last), value, bellman.cost, bellman.scale, bellman.discount, bellman.stop,
            bellman.source, bellman.target, witness.cells(first, last), upper[first:last], lower[first:last],
        )  # fmt: skip
        return Report(*found)

    at_once = max(1, CELLS_AT_ONCE // thread_count() // max(witness.cells_per_pair, 1))
    return for_each_block(work, pairs[1], begin=pairs[0], largest=at_once, serial_below=SERIAL_BELOW)


def provable(problem: Problem) -> npt.NDArray[np.bool_] | None:
    """Pairs whose distance may be proved to be zero: neither state is a merged one. None if that is all pairs."""
    merged = problem.source.merged, problem.target.merged
    if not merged[0].any() and not merged[1].any():
        return None
    exact: npt.NDArray[np.bool_] = ~np.logical_or.outer(*merged)
    if problem.stop is not None:
        exact |= problem.stop  # V = c there, whatever the rows
    return exact


def zero_candidates(cost: Floats, upper: Floats, gap: float) -> npt.NDArray[np.bool_]:
    """Pairs that cost nothing and whose upper bound is small enough for a distance of zero."""
    small = ZERO_CANDIDATE * float(upper.max()) + 2 * gap
    candidate: npt.NDArray[np.bool_] = (cost == 0.0) & (upper <= small)
    return candidate

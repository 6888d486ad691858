"""Certificates: an interval around the true distance, from a value, couplings and potentials.

The checker (kernels/check.py) turns any value V with couplings and potentials into U ≥ T V ≥ L. Then
(MacQueen 1966)

    L + γ/(1-γ)·min(L - V)  ≤  V*  ≤  U + γ/(1-γ)·max(U - V).

These hold for real numbers; both ends are widened for what rounding can do to the sums above and did to the cost, and
for the distance between the rows given and the rows solved. The lower end is raised to the least that c may be, which
V* never goes below, the upper end is cut at what no coupling can exceed. A pair is *proved zero* when its cost is zero,
neither state stands for others whose rows differ, and its coupling leads only to such pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.blocks import for_each_block
from bisimetric._support.cores import thread_count
from bisimetric._support.frozen import Immutable, frozen
from bisimetric.certificates.rounding import SUBNORMAL_BELOW, Errors, raise_to_cost, widening
from bisimetric.cost import cost_above, cost_below, largest_cost_error
from bisimetric.couplings.coupling import StoredWitness, TreeWitness, Witness
from bisimetric.errors import InvalidProblem, InvalidWitness
from bisimetric.kernels.layout import Report
from bisimetric.models.rows import Floats, offsets, real_array
from bisimetric.operators import listing
from bisimetric.operators.bellman import NEVER, SERIAL_BELOW, Bellman
from bisimetric.problems.discounted import Problem

LARGEST_MARGINAL_ERROR = 1e-6  # 1-norm; a coupling further off than this is refused
ZERO_CANDIDATE = 1e-9  # relative to the largest distance: below, a pair may be zero
CELLS_AT_ONCE = 2**16  # of couplings that the checker looks at in the blocks of all threads
SMALL_ENOUGH = 2**14  # cells that all couplings may have for them to be read once and kept


@dataclass(frozen=True, slots=True, eq=False)
class Certificate(Immutable):
    """lower ≤ V* ≤ upper at every pair, also in floating point; `value` is the best estimate inside.

    NaN at pairs that were not solved, which nothing below counts.
    """

    value: Floats  # [n, m]
    lower: Floats  # [n, m]
    upper: Floats  # [n, m]
    shortfall: float = 0.0  # the value checked, less this, is a proved lower bound; in the operator's scale

    @property
    def gap(self) -> float:
        """The width of the widest interval."""
        return float(np.fmax.reduce(self.upper - self.lower, axis=None))

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest upper bound; zero if that is zero."""
        gap = self.gap
        return gap / float(np.fmax.reduce(self.upper, axis=None)) if gap > 0 else 0.0

    def around(self, estimate: Floats | None = None, scale: float = 1.0) -> Certificate:
        """The same bounds with another estimate (times `scale`), cut to them."""
        if estimate is None:
            return self
        return replace(self, value=np.clip(estimate / scale, self.lower, self.upper))

    def published(self, unsolved: npt.NDArray[np.bool_] | None) -> Certificate:
        """The same, read-only from now on and without the pairs that were not solved."""
        value, lower, upper = (
            frozen(bound if unsolved is None else np.where(unsolved, np.nan, bound))
            for bound in (self.value, self.lower, self.upper)
        )
        return Certificate(value, lower, upper, self.shortfall)

    def __repr__(self) -> str:
        n, m = self.value.shape
        return f"Certificate({n} x {m} state pairs, gap {self.gap:.2g}, relative {self.relative_gap:.2g})"


@dataclass(frozen=True, slots=True, eq=False)
class ListedCertificate:
    """A certificate with entries at the pairs that are solved: while a solve goes on, the others only take memory."""

    bellman: Bellman
    lower: Floats  # [pairs]
    upper: Floats  # [pairs]
    shortfall: float

    @property
    def gap(self) -> float:
        """The width of the widest interval; where V is known, that is what rounding did to the cost."""
        gap, bellman = float((self.upper - self.lower).max()), self.bellman
        if bellman.cost_error > 0.0:
            known = immediate_bounds(bellman.cost[bellman.stop].max(keepdims=True), bellman.cost_error)
            gap = max(gap, known.gap)
        return gap

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest upper bound, which no cost exceeds; zero if the gap is."""
        gap, largest_cost = self.gap, float(self.bellman.cost.max())
        return gap / max(float(self.upper.max()), largest_cost) if gap > 0 else 0.0

    def around(self, estimate: Floats | None = None, scale: float = 1.0) -> Certificate:
        """The bounds at all pairs, with another estimate (times `scale`), cut to them; that array is used up."""
        cost, error = self.bellman.cost, self.bellman.cost_error
        lower = listing.spread(self.bellman.listed, self.lower, cost_below(cost, error))
        upper = listing.spread(self.bellman.listed, self.upper, cost_above(cost, error))
        value = lower + 0.5 * (upper - lower) if estimate is None else np.divide(estimate, scale, out=estimate)
        return Certificate(np.clip(value, lower, upper, out=value), lower, upper, self.shortfall)


def certify(problem: Problem, value: npt.ArrayLike) -> Certificate:
    """Bounds on the true distances from any guess of them: one sweep of transports, then the checker.

    The better the guess, the tighter the interval; a wrong guess gives a wide interval, never a wrong one. At pairs
    that the problem leaves unsolved the guess is not looked at, and the bounds are NaN.
    """
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"problem is a {type(problem).__name__}, expected a Problem")
    guess = checked_guess(problem, value, "value")
    if is_immediate(problem):
        return immediate(problem).published(problem.unsolved)
    bellman = Bellman.of(problem)
    scaled = scaled_guess(bellman, guess)
    trees = bellman.new_trees()
    bellman.improve(scaled, trees, cold=True)
    found = check(problem, bellman, scaled, TreeWitness(bellman, scaled, trees)).around()
    return found.published(problem.unsolved)


def checked_guess(problem: Problem, value: object, what: str) -> Floats:
    """Finite numbers [n, m]; where the problem is not solved anything will do."""
    if problem.unsolved is not None and np.shape(cast(Any, value)) == problem.shape:
        value = np.where(problem.unsolved, 0.0, cast(Any, value))
    guess = real_array(value, what, InvalidProblem, ndim=2)
    if guess.shape != problem.shape:
        raise InvalidProblem(f"{what} has shape {guess.shape}, expected {problem.shape}")
    return guess


def scaled_guess(bellman: Bellman, guess: Floats) -> Floats:
    """A guess of the distances in the operator's scale, cut to the range in which they must lie."""
    with np.errstate(over="ignore"):
        scaled = np.clip(guess * bellman.scale, 0.0, bellman.largest_value())
    return bellman.consistent(np.where(bellman.stop, bellman.scaled_cost(), scaled) if bellman.stop.size else scaled)


def is_immediate(problem: Problem) -> bool:
    """Whether V = c: no future, or nothing to pay."""
    return problem.discount == 0.0 or not problem.cost.any()


def immediate(problem: Problem) -> Certificate:
    """The answer V = c, exact as far as c is."""
    return immediate_bounds(problem.cost, problem.cost_error)


def immediate_bounds(cost: Floats, error: float) -> Certificate:
    """V = c, for costs with this relative error."""
    return Certificate(cost.copy(), cost_below(cost, error), cost_above(cost, error))


def a_priori(problem: Problem, bellman: Bellman) -> Certificate:
    """What holds before any solver has begun: the cost itself, and the largest cost forever."""
    known = immediate(problem)
    upper = np.full(problem.shape, np.nextafter(bellman.largest_value() / bellman.scale, np.inf))
    if problem.stop is not None:
        upper[problem.stop] = known.upper[problem.stop]
    return Certificate(known.lower + 0.5 * (upper - known.lower), known.lower, upper)


class Application(NamedTuple):
    """L ≤ T V ≤ U for one value V, as computed by the checker, in the operator's scale."""

    lower: Floats  # [pairs], or [n, m] if that is all pairs
    upper: Floats
    lowest: float  # min(L - V)
    highest: float  # max(U - V)
    errors: Errors


class Operator(Protocol):
    """What an interval depends on besides one application: a Bellman operator, of a problem or of a game."""

    @property
    def scale(self) -> float: ...
    @property
    def discount(self) -> float: ...
    @property
    def largest_cost(self) -> float: ...
    @property
    def cost_error(self) -> float: ...
    def largest_value(self) -> float: ...


def check(
    problem: Problem,
    bellman: Bellman,
    value: Floats,
    witness: Witness,
) -> Certificate | ListedCertificate:
    """What `value` (in the operator's scale) and the witness prove, in the problem's own units."""
    rows = 0.5 * (float(problem.source.row_error.max()) + float(problem.target.row_error.max()))
    longest = witness.cells_per_pair
    if bellman.n_pairs * longest <= SMALL_ENOUGH:
        witness = StoredWitness(witness.cells(0, bellman.n_pairs))
    once = applied(bellman, value, witness, rows)
    if bellman.stop.size:  # the remaining chain is substochastic, so a shift of one sign only may be carried on
        once = once._replace(lowest=min(once.lowest, 0.0), highest=max(once.highest, 0.0))
    cost = bellman.cost if bellman.pairs is None else listing.gathered(bellman.pairs, bellman.cost)
    inside = provable(problem)
    if inside is not None and bellman.pairs is not None:
        inside = listing.gathered(bellman.pairs, inside.astype(np.float64)) > 0.0

    def proved_zero(lower: Floats, upper: Floats) -> npt.NDArray[np.bool_] | None:
        gap = float((upper - lower).max())
        candidate = zero_candidates(cost, upper, gap)
        if inside is not None:
            candidate &= inside
        if once.errors.marginal > 0.0 or not candidate.any():
            return None
        return closed_subset(candidate, partial(_coupled_pairs, bellman, witness), longest)

    found = interval(bellman, cost, value, once, proved_zero)
    if bellman.pairs is not None:
        return ListedCertificate(bellman, found.lower, found.upper, found.shortfall)
    if bellman.stop.size:
        known = immediate_bounds(bellman.cost[bellman.stop], bellman.cost_error)
        for bound in ("value", "lower", "upper"):
            getattr(found, bound)[bellman.stop] = getattr(known, bound)
    return found


def provable(problem: Problem) -> npt.NDArray[np.bool_] | None:
    """Pairs whose distance may be proved to be zero: neither state is a merged one. None if that is all pairs."""
    merged = problem.source.merged, problem.target.merged
    if not merged[0].any() and not merged[1].any():
        return None
    exact: npt.NDArray[np.bool_] = ~np.logical_or.outer(*merged)
    if problem.stop is not None:
        exact |= problem.stop  # V = c there, whatever the rows
    return exact


def applied(bellman: Bellman, value: Floats, witness: Witness, rows: float) -> Application:
    """The checker's word on T V; `rows` is what rows have moved. Couplings that are none are refused."""
    upper, lower = np.empty(bellman.n_pairs), np.empty(bellman.n_pairs)

    def work(first: int, last: int) -> Report:
        found = kernels.check.check(
            *bellman.states(first, last), value, bellman.cost, bellman.scale, bellman.discount, bellman.stop,
            bellman.source, bellman.target, witness.cells(first, last), upper[first:last], lower[first:last],
        )  # fmt: skip
        return Report(*found)

    at_once = max(1, CELLS_AT_ONCE // thread_count() // max(witness.cells_per_pair, 1))
    reports = for_each_block(work, bellman.n_pairs, largest=at_once, serial_below=SERIAL_BELOW)
    lowest = min(report.lowest for report in reports)
    worst = Report(*map(max, zip(*reports, strict=True)))
    if worst.invalid or not worst.marginal_error <= LARGEST_MARGINAL_ERROR:
        raise InvalidWitness(
            f"the couplings are off by {worst.marginal_error:.3g} in a marginal, or have {worst.invalid} invalid cells"
        )
    errors = Errors(worst.terms, rows, worst.potential, worst.marginal_error)
    if bellman.pairs is None:
        lower, upper = bellman.spread(lower), bellman.spread(upper)
    return Application(lower, upper, lowest, worst.highest, errors)


def interval(
    operator: Operator,
    cost: Floats,
    value: Floats,
    once: Application,
    proved_zero: Callable[[Floats, Floats], npt.NDArray[np.bool_] | None],
) -> Certificate:
    """MacQueen's bounds from one application, widened, cut to what is known anyway; its arrays are used up.

    `cost`, not scaled, and the outcome have entries at the pairs of the application, `value` has one everywhere.
    `proved_zero` is asked with the bounds, in the operator's scale, which pairs are zero for sure.
    """
    lower, upper = once.lower, once.upper
    onward = operator.discount / (1.0 - operator.discount)
    lower += onward * once.lowest
    upper += onward * once.highest
    estimate = lower + upper
    estimate *= 0.5
    residuals = once.lowest, once.highest
    cost_error = largest_cost_error(operator.largest_cost / operator.scale, operator.cost_error) * operator.scale
    errors = once.errors._replace(cost=cost_error)
    down, up = widening(value, residuals, operator.largest_cost, operator.discount, errors)
    lower -= down
    upper += up
    for bound in (estimate, lower, upper):  # no distance is negative, nor above this; nor overflows
        np.clip(bound, 0.0, operator.largest_value(), out=bound)
    zero = proved_zero(lower, upper)
    for bound in (estimate, lower, upper):
        bound /= operator.scale
    if operator.largest_cost / operator.scale < SUBNORMAL_BELOW:
        np.nextafter(lower, -np.inf, out=lower)
        np.nextafter(upper, np.inf, out=upper)
    raise_to_cost(lower, cost, operator.cost_error)
    if zero is not None:
        lower[zero] = upper[zero] = 0.0
    shortfall = down - once.lowest / (1.0 - operator.discount)
    return Certificate(np.clip(estimate, lower, upper, out=estimate), lower, upper, shortfall)


def zero_candidates(cost: Floats, upper: Floats, gap: float) -> npt.NDArray[np.bool_]:
    """Pairs that are free and may be at distance zero, as far as upper bounds within `gap` tell."""
    small = ZERO_CANDIDATE * float(upper.max()) + 2 * gap
    candidate: npt.NDArray[np.bool_] = (cost == 0.0) & (upper <= small)
    return candidate


def closed_subset(
    candidate: npt.NDArray[np.bool_],
    coupled: Callable[[npt.NDArray[np.int64]], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    cells_per_pair: int,
) -> npt.NDArray[np.bool_]:
    """Those of the candidate pairs from which the coupling never leads to a pair that is none.

    `coupled` says of ascending flat pairs how many successor pairs each has, and which; candidate.size is none.
    """
    pairs = np.flatnonzero(candidate)
    number = np.full(candidate.size + 1, len(pairs), np.int32)  # one node for everything outside
    number[pairs] = np.arange(len(pairs))
    counts, heads = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for some in _few_at_once(pairs, candidate.shape, cells_per_pair):
        count, head = coupled(some)
        counts.append(count)
        heads.append(number[head])
    arcs = np.concatenate(heads)
    heads.clear()
    if not (arcs == len(pairs)).any():
        return candidate
    indptr = offsets(np.concatenate(counts))
    outside = np.empty(len(pairs), np.bool_)
    kernels.check.lead_outside(indptr, arcs, outside)
    found = np.zeros(candidate.shape, np.bool_)
    found.ravel()[pairs] = ~outside
    return found


def coupled_pairs(
    bellman: Bellman,
    witness: Witness,
    pairs: npt.NDArray[np.int64],
    named: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int32]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """How many successor pairs the coupling has at each of the ascending `pairs`, and what those are called."""
    counts, names = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for some in _few_at_once(pairs, bellman.shape, witness.cells_per_pair):
        count, heads = _coupled_pairs(bellman, witness, some)
        counts.append(count)
        names.append(named(heads))
    return np.concatenate(counts), np.concatenate(names)


def _few_at_once(
    pairs: npt.NDArray[np.int64], shape: tuple[int, ...], cells_per_pair: int
) -> Iterator[npt.NDArray[np.int64]]:
    """Ascending flat pairs in parts whose cells fit into memory."""
    size, m = math.prod(shape), math.prod(shape[1:])
    at_once = max(m, CELLS_AT_ONCE // max(cells_per_pair, 1) // m * m)
    for first in range(0, size, at_once):
        inside = pairs[np.searchsorted(pairs, first) : np.searchsorted(pairs, first + at_once)]
        if len(inside):
            yield inside


def _coupled_pairs(
    bellman: Bellman, witness: Witness, pairs: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many successor pairs the coupling has at each of the ascending `pairs`, and which; none at a stop.

    Pairs go by their numbers. Successors at which V is known do not count if it is zero, else they are number n_pairs.
    """
    first, last = int(pairs[0]), int(pairs[-1]) + 1
    cells = witness.cells(first, last)
    stop = bellman.stop if bellman.pairs is None else NEVER  # no listed pair is a stop
    count, head = np.empty(len(pairs), np.int64), np.empty(len(cells.left), np.int64)
    total = kernels.listing.successors(
        pairs - first, *bellman.states(first, last), cells, bellman.source, bellman.target, bellman.listed,
        stop, bellman.cost, count, head,
    )  # fmt: skip
    return count, head[:total]

"""Proximal policy iteration for the average cost.

On every closed class C of pairs, for any h,

    improve     R = c + OT_h - h,        min_C R ≤ g ≤ max_C R                          (transports, warm-started)
    evaluate    h ← h + w,        (I - (1-η)Π) w = R - (min_C R + max_C R)/2            (one linear system)

With η = 0 this is policy iteration, but then the system is singular, and its classes depend on Π. With a small η it is
regular whatever classes and periods Π has, and w ≈ gain/η + bias orders couplings by their gain and then by their bias,
so that no lexicographic comparison is needed. For the best Π the next R is g + ηΠw: each step cuts the span of R by η
times the mixing time, and where that is too little η is divided by ten. Constants in h change nothing, so h has mean
zero on every class. The iteration ends when R is nearly constant on every class.

Then g = OT_g on the way to the closed classes, by policy iteration with g fixed there. Every coupling gets there, so
the systems are regular and the iteration ends.

References: Howard 1960; O'Connor, McGoff & Nobel 2022; Puterman 1994.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import numpy as np

from bisimetric._support.options import positive
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.average import AverageBellman
from bisimetric.operators.bellman import Sweep
from bisimetric.operators.evaluation import Evaluation, rough_value
from bisimetric.operators.trees import TreeWitness, new_trees
from bisimetric.solvers.base import FAILURES, PROGRESS, STALLED_AFTER, Iterate, Solver

SMALLEST_PROXIMITY = 1e-12  # η is divided by ten down to this
EVALUATION_SHARE = 0.01  # residual that an evaluation may leave, relative to the span of R
FINAL_SHARE = 0.1  # the same relative to what the tolerance allows
EVALUATION_ROUNDING = 4 * UNIT_ROUNDOFF  # smallest residual to aim for, relative to the largest h
WAY_ROUNDS = 200  # of policy iteration on the way to the closed classes; it takes 3 to 10
WAY_ROUNDING = 64 * UNIT_ROUNDOFF  # residual on the way that is rounding
START_DISCOUNT = 0.99  # of the value of the independent coupling from which h starts
START_SHARE = 0.01  # accuracy of that, relative to the largest cost


class Way(NamedTuple):
    """The gains of the pairs outside the closed classes: a value with the trees that are optimal for it."""

    gains: Floats  # [classes], what was taken for known
    witness: TreeWitness


class AverageWitness(NamedTuple):
    """Couplings and potentials at the closed pairs, and on the way to them if those are known already."""

    closed: TreeWitness
    way: Way | None


@dataclass(frozen=True, slots=True, eq=False)
class AverageIterate(Iterate[AverageWitness]):
    """An iterate whose value is h; `low` and `high` bound the gain of every closed class as the solver sees it."""

    low: Floats  # [classes]
    high: Floats
    residual: Floats  # R at the closed pairs
    evaluation: Evaluation = field(repr=False)
    proximity: float  # η
    tol: float  # relative gap that will do
    reach: float  # max c + max |h|
    failures: int = 0  # in a row, steps that did not cut the gap

    @property
    def largest(self) -> float:
        """The size of the numbers that are added up, which rounding is relative to."""
        return self.reach

    @property
    def gains(self) -> Floats:
        """[classes], the estimate of each gain."""
        return 0.5 * (self.low + self.high)


@dataclass(frozen=True, slots=True)
class AverageIteration(Solver[AverageBellman, AverageIterate]):
    """Exact, for average costs: policy iteration that needs no ergodic chains.

    Parameters
    ----------
    proximity : float in (0, 1), default 1e-4
        η, by which the first evaluations are discounted. The answer does not depend on it.

    References
    ----------
    Howard 1960; O'Connor, McGoff & Nobel 2022; Puterman 1994.

    Examples
    --------
    >>> import bisimetric as bm
    >>> lazy, quick = (bm.MarkovChain([[1 - p, p], [p, 1 - p]], reward=[0, 1]) for p in (0.1, 0.5))
    >>> problem = bm.AverageProblem(lazy, quick)
    >>> round(float(bm.solve(problem, bm.solvers.AverageIteration(proximity=1e-3)).value[0, 0]), 9)
    0.4
    """

    name: ClassVar[str] = "average-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 1000
    uses_initial: ClassVar[bool] = False
    on_classes: ClassVar[bool] = False
    undiscounted: ClassVar[bool] = True
    operates_on: ClassVar[type] = AverageBellman

    proximity: float = 1e-4

    def __post_init__(self) -> None:
        if not positive(self.proximity, "proximity") < 1.0:
            raise InvalidOption(f"proximity is {self.proximity!r}, expected a number in (0, 1); 1e-4 works well")

    def init(self, operator: AverageBellman, value: Floats | None, tol: float = 0.0) -> AverageIterate:
        h = _centred(operator, rough_value(replace(operator.bellman, discount=START_DISCOUNT), START_SHARE))
        return _with_way(operator, self._at(operator, h, tol))

    def _at(self, operator: AverageBellman, h: Floats, tol: float) -> AverageIterate:
        """The iterate of any h, whose transports are solved afresh."""
        bellman = operator.bellman
        trees = new_trees(bellman)
        swept = bellman.improve(h, trees, cold=True)
        witness = AverageWitness(TreeWitness(bellman, h, trees), None)
        low, high = _bounds(operator, swept)
        evaluation = _evaluation(operator, self.proximity)
        return AverageIterate(
            h, witness, 0.0, low, high, swept.residual, evaluation, self.proximity, tol, _reach(operator, h)
        )

    def resumed(self, operator: AverageBellman, h: Floats, outside: Floats | None) -> AverageIterate:
        """The iterate of a known h, and of known averages outside the closed classes, with one sweep for each."""
        iterate = self._at(operator, h, 0.0)
        if outside is None or operator.open_pairs is None:
            return iterate
        bellman = operator.on_the_way(iterate.gains)
        trees, value = new_trees(bellman), bellman.spread(bellman.pairs.gather(outside))
        bellman.improve(value, trees, cold=True)
        way = Way(iterate.gains, TreeWitness(bellman, value, trees))
        return replace(iterate, witness=AverageWitness(iterate.witness.closed, way))

    def step(self, operator: AverageBellman, iterate: AverageIterate) -> AverageIterate:
        if iterate.failures >= STALLED_AFTER:  # with the smallest η: what is left is rounding
            return iterate
        bellman, trees = operator.bellman, iterate.witness.closed.trees
        label = operator.classes.of_pair
        b = iterate.residual - iterate.gains[label]
        target = max(_target(operator, iterate), EVALUATION_ROUNDING * iterate.largest)
        solved = iterate.evaluation.solve(trees, b, target)
        w = solved.x if np.isfinite(solved.x).all() else b
        h = _centred(operator, bellman.plus(iterate.value, w))
        swept = bellman.improve(h, trees, cold=False)
        low, high = _bounds(operator, swept)
        before = float((iterate.high - iterate.low).max())
        failures = 0 if float((high - low).max()) < PROGRESS * before else iterate.failures + 1
        after = replace(
            iterate, value=h, low=low, high=high, residual=swept.residual, failures=failures, reach=_reach(operator, h),
            witness=AverageWitness(TreeWitness(bellman, h, trees), iterate.witness.way),
        )  # fmt: skip
        if failures >= FAILURES and iterate.proximity > SMALLEST_PROXIMITY:
            smaller = max(iterate.proximity / 10, SMALLEST_PROXIMITY)
            after = replace(after, proximity=smaller, failures=0, evaluation=_evaluation(operator, smaller))
        return _with_way(operator, after)


def _evaluation(operator: AverageBellman, proximity: float) -> Evaluation:
    return Evaluation(replace(operator.bellman, discount=1.0 - proximity))


def _reach(operator: AverageBellman, h: Floats) -> float:
    return operator.largest_cost + max(float(h.max()), -float(h.min()))


def _bounds(operator: AverageBellman, swept: Sweep) -> tuple[Floats, Floats]:
    """[classes], the smallest and the largest R."""
    return operator.classes.smallest(swept.residual), operator.classes.largest(swept.residual)


def _centred(operator: AverageBellman, value: Floats) -> Floats:
    """h with mean zero on every closed class."""
    bellman, classes = operator.bellman, operator.classes
    vector = bellman.pairs.gather(value)
    return bellman.spread(vector - classes.mean(vector)[classes.of_pair])


def _target(operator: AverageBellman, iterate: AverageIterate) -> float:
    """How large a residual the next evaluation may leave."""
    span = float((iterate.high - iterate.low).max())
    allowed = FINAL_SHARE * operator.allowed(iterate.tol, iterate.high)
    return min(EVALUATION_SHARE * span, max(allowed, EVALUATION_SHARE**2 * span))


def _with_way(operator: AverageBellman, iterate: AverageIterate) -> AverageIterate:
    """The iterate with its gap, and with gains outside the closed classes as soon as those inside are known."""
    gap = float((iterate.high - iterate.low).max())
    if operator.open_pairs is None:
        return replace(iterate, gap=gap)
    allowed = operator.allowed(iterate.tol, iterate.high)
    if gap > max(allowed, WAY_ROUNDING * iterate.largest) and iterate.failures < FAILURES:
        return replace(iterate, gap=gap + float(iterate.high.max() - iterate.low.min()))
    way, left = _solve_way(operator, iterate, FINAL_SHARE * allowed)
    closed = iterate.witness.closed
    return replace(iterate, gap=gap + left, witness=AverageWitness(closed, way))


def _solve_way(operator: AverageBellman, iterate: AverageIterate, allowed: float) -> tuple[Way, float]:
    """Policy iteration on g = OT_g, from the trees of an earlier one, until it may leave what is allowed."""
    bellman = operator.on_the_way(iterate.gains)
    before = iterate.witness.way
    trees = new_trees(bellman) if before is None else before.witness.trees
    steps = operator.gap_of(1.0)
    value = bellman.scaled_cost()
    if before is not None:
        value = bellman.spread(bellman.pairs.gather(before.witness.value))
    evaluation = Evaluation(bellman)
    target = max(allowed, WAY_ROUNDING * float(np.abs(iterate.gains).max())) / steps
    swept = bellman.improve(value, trees, cold=before is None)
    for _ in range(WAY_ROUNDS):
        if max(-swept.lowest, swept.highest) <= target:
            break
        solved = evaluation.solve(trees, swept.residual, FINAL_SHARE * target)
        value = bellman.plus(value, solved.x if _is_better(solved.residual, swept) else swept.residual)
        swept = bellman.improve(value, trees, cold=False)
    left = (max(swept.highest, 0.0) - min(swept.lowest, 0.0)) * steps
    return Way(iterate.gains, TreeWitness(bellman, value, trees)), left


def _is_better(residual: float, swept: Sweep) -> bool:
    return residual <= max(-swept.lowest, swept.highest)

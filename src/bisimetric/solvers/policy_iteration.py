"""Exact policy iteration over couplings.

The distance V between two chains is the fixed point of the Bellman operator

    (T V)(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] },

one small transport problem per pair of states. Call a choice of one coupling per pair a *policy*. Policy
iteration alternates

    improve     π_k(x, y) ∈ argmin { <π, V_k> }                        (n·m transports, warm-started)
    evaluate    V_{k+1} = V_k + d,  (I - γπ_k) d = T V_k - V_k         (one linear system)

With exact evaluation the values decrease until they are V, and there are finitely many vertex policies, so the
iteration ends. Here the system is solved to a fraction `accuracy` of the residual's span, which takes a few
products; when three steps in a row fail to cut the gap by a tenth that fraction is divided by ten, so the method
tends to exact policy iteration. Pivots that would gain next to nothing at the current gap are left out: on grids,
where many couplings are equally good, that halves the work. When the last sweep changed no coupling, or an evaluation
would come near the tolerance, it is made good enough to be the last; none is better than that. If no
evaluation succeeds, the step is the sweep's own: value iteration, which always contracts.

References: Howard 1960; O'Connor, McGoff & Nobel 2022; Calo et al. 2024.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bisimetric.errors import InvalidOption
from bisimetric.kernels.layout import (
    ESTIMATE_ACCURACY,
    EVALUATION_FLOOR,
    FINAL_SPAN,
    FREE_PIVOT,
    IGNORED,
    IN_REACH,
    START_ACCURACY,
    STEP_ACCURACY,
    Trees,
)
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import Evaluation, rough_value
from bisimetric.operators.trees import TreeWitness, moved_trees, new_trees
from bisimetric.solvers.base import (
    FAILURES,
    FINEST_ACCURACY,
    PROGRESS,
    Solver,
    TreeIterate,
    sweep_trees,
    swept_iterate,
)

LOOSER, IN_REACH_LOOSER = 3.0, 3.0  # factor on the accuracy, and IN_REACH, where evaluations are preconditioned
LEAST_CUT = 0.5  # of the residual's span, whatever the accuracy


@dataclass(frozen=True, slots=True, eq=False)
class PolicyIterate(TreeIterate):
    """An iterate with how accurately its coupling is evaluated next."""

    evaluation: Evaluation
    accuracy: float
    tol: float  # relative gap that will do
    failures: int = 0  # in a row, steps that did not cut the gap

    def estimate(self) -> Floats:
        """The value of the last coupling, which is much closer than the interval shows."""
        return _evaluate(self, ESTIMATE_ACCURACY * (self.sweep.highest - self.sweep.lowest))


@dataclass(frozen=True, slots=True)
class PolicyIteration(Solver[Bellman, PolicyIterate]):
    """Exact, and the default: each step is one evaluation of a coupling and n·m warm-started transports.

    It takes 5 to 20 steps on most problems, whatever the discount.

    Parameters
    ----------
    accuracy : float in (0, 1), default 0.01
        How accurately couplings are evaluated, as a fraction of the residual's span. The answer does not depend on it.

    References
    ----------
    Howard 1960; O'Connor, McGoff & Nobel 2022; Calo et al. 2024.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95, solver=bm.PolicyIteration())
    >>> round(solution.distance, 10)
    0.4355817651
    """

    name: ClassVar[str] = "policy-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 1000
    open_pairs: ClassVar[bool] = True
    undiscounted: ClassVar[bool] = True

    accuracy: float = STEP_ACCURACY

    def __post_init__(self) -> None:
        if not isinstance(self.accuracy, (int, float)) or not 0.0 < self.accuracy < 1.0:
            raise InvalidOption(f"accuracy is {self.accuracy!r}, expected a number in (0, 1); 0.01 works well")

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> PolicyIterate:
        trees = new_trees(bellman, may_round=True)  # first of all: it refuses what is too large
        start = rough_value(bellman, START_ACCURACY) if value is None else value
        swept = sweep_trees(bellman, start, trees, cold=True)
        evaluation = Evaluation(bellman)
        return PolicyIterate(swept.value, swept.witness, swept.gap, swept.sweep, evaluation, self.accuracy, tol)

    def resume(
        self, bellman: Bellman, before: TreeWitness, tol: float = 0.0, room: Trees | None = None
    ) -> PolicyIterate | None:
        """The first iterate from the trees of another solve, whose rows have the same successors; None for others.

        `room`: trees of an earlier call with the same `before`, which are overwritten.
        """
        trees = moved_trees(bellman, before, room)
        if trees is None:
            return None
        value = before.value * (bellman.scale / before.bellman.scale)
        swept = swept_iterate(bellman, value, trees, bellman.repair(value, trees))
        evaluation = Evaluation(bellman)
        return PolicyIterate(swept.value, swept.witness, swept.gap, swept.sweep, evaluation, self.accuracy, tol)

    def step(self, bellman: Bellman, iterate: PolicyIterate) -> PolicyIterate:
        if iterate.gap == 0.0 and iterate.sweep.pivots == 0:  # T V = V to the last bit, so there is nothing to improve
            return iterate
        value = _evaluate(iterate, _target(iterate))
        ignore = max(IGNORED * (iterate.sweep.highest - iterate.sweep.lowest), FREE_PIVOT * _allowed_span(iterate))
        swept = sweep_trees(bellman, value, iterate.trees, cold=False, ignore=ignore)
        after = replace(iterate, value=value, witness=swept.witness, gap=swept.gap, sweep=swept.sweep, failures=0)
        if after.gap < PROGRESS * iterate.gap:
            return after
        if iterate.failures + 1 < FAILURES:
            return replace(after, failures=iterate.failures + 1)
        return replace(after, accuracy=max(iterate.accuracy / 10, FINEST_ACCURACY))


def _target(iterate: PolicyIterate) -> float:
    """How large a residual the evaluation of the iterate's coupling may leave."""
    swept = iterate.sweep
    loose, reach = (LOOSER, IN_REACH_LOOSER) if iterate.evaluation.is_preconditioned else (1.0, IN_REACH)
    target = min(loose * iterate.accuracy, LEAST_CUT) * (swept.highest - swept.lowest)
    final = FINAL_SPAN * _allowed_span(iterate)
    may_be_last = swept.pivots == 0 or target < reach * final
    return final if final and may_be_last else target


def _allowed_span(iterate: PolicyIterate) -> float:
    """A span of residuals that the tolerance allows; zero where the gap is within it and the checker wanted more."""
    gap = iterate.tol * iterate.largest
    return iterate.bellman.span_of(gap) if iterate.gap > gap else 0.0


def _evaluate(iterate: PolicyIterate, target: float) -> Floats:
    """The value of the iterate's coupling, or the sweep's own step where no evaluation succeeds."""
    bellman, swept = iterate.bellman, iterate.sweep
    residual = swept.residual
    shift = 0.0 if bellman.stop.size else 0.5 * sum(bellman.bounds(swept))  # a stop does not move with the rest
    floor = EVALUATION_FLOOR * swept.largest
    solved = iterate.evaluation.solve(iterate.trees, residual, max(target, floor), shift=shift)
    worse = not solved.residual <= max(-swept.lowest, swept.highest)
    value = bellman.plus(iterate.value, residual + shift if worse else solved.x)
    if bellman.stop.size and bellman.pairs.is_complete:
        np.copyto(value, bellman.scaled_cost(), where=bellman.stop)
    return value

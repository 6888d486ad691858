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
evaluation is to be had, the step is the sweep's own: value iteration, which always contracts.

References: Howard 1960; O'Connor, McGoff & Nobel 2022; Calo et al. 2024.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bisimetric.couplings.coupling import TreeWitness, without_flows
from bisimetric.errors import InvalidOption
from bisimetric.kernels.layout import Trees
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman, Sweep
from bisimetric.solvers.base import Iterate, Solver

START_ACCURACY = 0.01  # of the independent coupling's value, relative to the largest cost
FAIR_CUT = 0.9  # of the gap in one step; anything less counts as a failure
PATIENCE = 3  # failures in a row before evaluation becomes ten times more accurate
IGNORED = 2e-3  # reduced costs below this fraction of the last residual's span do not cause pivots
FINEST_ACCURACY = 1e-6  # after many failures
AIM = 0.3  # of the residuals' span that the tolerance allows: what an evaluation that may be the last leaves
FREE = 0.1  # of that span: reduced costs this small cause no pivots
IN_REACH = 200.0  # times the aim: an evaluation that would leave less than this goes on to the aim
LOOSER, IN_REACH_THEN = 3.0, 3.0  # factor on the accuracy, and IN_REACH, where evaluations are preconditioned
LEAST_CUT = 0.5  # of the residual's span, whatever the accuracy
ESTIMATE_ACCURACY = 1e-3  # of the last coupling's value, relative to the interval's width


@dataclass(frozen=True, slots=True, eq=False)
class PolicyIterate(Iterate):
    """An iterate with the transport trees that warm-start the next one."""

    bellman: Bellman
    trees: Trees
    sweep: Sweep
    accuracy: float
    tol: float  # relative gap that will do
    failures: int  # in a row

    @property
    def largest(self) -> float:
        return self.sweep.largest

    def estimate(self) -> Floats:
        """The value of the last coupling, which is much closer than the interval shows."""
        return _evaluated(self.bellman, self, ESTIMATE_ACCURACY * (self.sweep.highest - self.sweep.lowest))

    def at_rest(self) -> PolicyIterate:
        trees = without_flows(self.trees)
        return replace(self, trees=trees, witness=TreeWitness(self.bellman, self.value, trees))


@dataclass(frozen=True, slots=True)
class PolicyIteration(Solver[PolicyIterate]):
    """Exact; each step is one evaluation and n·m warm-started transports."""

    name: ClassVar[str] = "policy-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 1000
    open_pairs: ClassVar[bool] = True

    accuracy: float = 0.01  # of an evaluation, as a fraction of the residual's span

    def __post_init__(self) -> None:
        if not isinstance(self.accuracy, (int, float)) or not 0.0 < self.accuracy < 1.0:
            raise InvalidOption(f"accuracy is {self.accuracy!r}, expected a number in (0, 1); 0.01 works well")

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> PolicyIterate:
        trees = bellman.new_trees()
        start = bellman.rough_value(START_ACCURACY) if value is None else value
        return _iterate(bellman, start, trees, bellman.improve(start, trees, cold=True), self.accuracy, tol)

    def step(self, bellman: Bellman, iterate: PolicyIterate) -> PolicyIterate:
        value = _evaluated(bellman, iterate, _target(bellman, iterate))
        ignore = max(IGNORED * (iterate.sweep.highest - iterate.sweep.lowest), FREE * _goal(bellman, iterate))
        sweep = bellman.improve(value, iterate.trees, cold=False, ignore=ignore)
        after = _iterate(bellman, value, iterate.trees, sweep, iterate.accuracy, iterate.tol)
        if after.gap < FAIR_CUT * iterate.gap:
            return after
        if iterate.failures + 1 < PATIENCE:
            return replace(after, failures=iterate.failures + 1)
        return replace(after, accuracy=max(iterate.accuracy / 10, FINEST_ACCURACY))


def _iterate(bellman: Bellman, value: Floats, trees: Trees, sweep: Sweep, accuracy: float, tol: float) -> PolicyIterate:
    below, above = bellman.onward(sweep)
    witness = TreeWitness(bellman, value, trees)
    return PolicyIterate(value, witness, above - below, bellman, trees, sweep, accuracy, tol, 0)


def _target(bellman: Bellman, iterate: PolicyIterate) -> float:
    """How large a residual the evaluation of the iterate's coupling may leave."""
    sweep = iterate.sweep
    loose, reach = (LOOSER, IN_REACH_THEN) if bellman.evaluation.is_preconditioned else (1.0, IN_REACH)
    target = min(loose * iterate.accuracy, LEAST_CUT) * (sweep.highest - sweep.lowest)
    aim = AIM * _goal(bellman, iterate)
    may_be_last = sweep.pivots == 0 or target < reach * aim
    return aim if aim and may_be_last else target


def _goal(bellman: Bellman, iterate: PolicyIterate) -> float:
    """A span of residuals that the tolerance allows; zero where the gap is within it and the checker wanted more."""
    gap = iterate.tol * iterate.largest
    return gap * (1.0 - bellman.discount) if iterate.gap > gap else 0.0


def _evaluated(bellman: Bellman, iterate: PolicyIterate, target: float) -> Floats:
    """The value of the iterate's coupling, or the sweep's own step where that is not to be had."""
    sweep = iterate.sweep
    residual = sweep.residual
    shift = 0.0 if bellman.stop.size else 0.5 * sum(bellman.onward(sweep))  # a stop does not move with the rest
    floor = 4 * UNIT_ROUNDOFF * sweep.largest
    solved = bellman.evaluate(iterate.trees, residual, residual + shift, max(target, floor))
    worse = not solved.residual <= max(-sweep.lowest, sweep.highest)
    value = bellman.plus(iterate.value, residual + shift if worse else solved.x)
    if bellman.stop.size and bellman.pairs is None:
        np.copyto(value, bellman.scaled_cost(), where=bellman.stop)
    return value

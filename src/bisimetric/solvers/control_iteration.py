"""PolicyArray iteration for one decision process (Howard).

    V(s) = max_a [ r(s, a) + γ <P(s, a), V> ]

A step improves and evaluates:

    improve     π_k is best against V_k
    evaluate    V_{k+1} = V_k + d,  (I - γP_π) d = T_π V_k - V_k       (one linear system, `linear`)

Each policy is better than the one before, and there are finitely many, so the iteration ends: at the latest when a step
does not reduce a gap that may be rounding. A policy changes an action only if another is better by more than rounding;
otherwise ties would go round in circles.

Reference: Howard 1960.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from bisimetric.certificates.interval import SPAN_ROUNDING
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.control import ControlBellman, PolicyArray
from bisimetric.solvers.base import PROGRESS, Iterate, Solver

EVALUATION = 1e-9  # target residual of an evaluation, relative to the residual it starts from
EVALUATED = 16 * UNIT_ROUNDOFF  # target residual of an evaluation, relative to the solution, if that is smaller


@dataclass(frozen=True, slots=True, eq=False)
class ControlIterate(Iterate[PolicyArray]):
    """A value, the policy that is best against it (the witness), and the policy that is evaluated next."""

    earned: Floats = field(repr=False)  # [A, n]
    kept: PolicyArray
    least: float  # the smallest gap so far
    settled: bool = False  # only rounding is left

    @property
    def largest(self) -> float:
        return float(np.abs(self.earned.max(axis=0)).max())


@dataclass(frozen=True, slots=True)
class ControlIteration(Solver[ControlBellman, ControlIterate]):
    """Exact, for the best policy of a decision process: each step is one linear system.

    `MDP.optimal_policy` uses it; it takes no options.

    References
    ----------
    Howard 1960.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.solvers.ControlIteration().name
    'control-iteration'
    """

    name: ClassVar[str] = "control-iteration"
    default_tol: ClassVar[float] = 1e-12  # close to the limit of rounding
    default_max_steps: ClassVar[int] = 10_000  # rarely are more needed than there are states
    uses_initial: ClassVar[bool] = False
    operates_on: ClassVar[type] = ControlBellman

    def init(self, bellman: ControlBellman, value: Floats | None, tol: float = 0.0) -> ControlIterate:
        return _improve(bellman, np.zeros(bellman.n_states))

    def step(self, bellman: ControlBellman, iterate: ControlIterate) -> ControlIterate:
        if iterate.settled:
            return iterate
        gain = bellman.taken(iterate.earned, iterate.kept) - iterate.value
        start = gain + 0.5 * bellman.gap_of(float(gain.min() + gain.max()))  # a step of value iteration, shifted
        target = min(EVALUATION * float(np.abs(gain).max()), EVALUATED * float(np.abs(start).max()))
        change = bellman.solve(iterate.kept, gain, start, target)
        return _improve(bellman, iterate.value + change, iterate)


def _improve(bellman: ControlBellman, value: Floats, before: ControlIterate | None = None) -> ControlIterate:
    earned = bellman.earned(value)
    policy = earned.argmax(axis=0)
    swept = bellman.taken(earned, policy)
    largest, span = float(np.abs(swept).max()), float(np.ptp(swept - value))
    gap = bellman.gap_of(span)
    if before is None:
        return ControlIterate(value, policy, gap, earned, policy, gap)
    better = swept - bellman.taken(earned, before.kept) > EVALUATED * largest
    kept = np.where(better, policy, before.kept)
    settled = gap >= PROGRESS * before.least and span <= SPAN_ROUNDING * largest
    return ControlIterate(value, policy, gap, earned, kept, min(gap, before.least), settled)

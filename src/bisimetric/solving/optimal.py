"""The best policy of a decision process, certified.

    V(s) = max_a [ r(s, a) + γ <P(s, a), V> ]

Policy iteration: choose the best action against V, then evaluate that policy with V + d, (I - γP_π) d = T V - V
(`linear`). Each policy is better than the one before, and there are finitely many, so it ends. With R = T V - V and
π the policy that is best against V (MacQueen 1966),

    T V + γ/(1-γ)·min R  ≤  V_π  ≤  V  ≤  T V + γ/(1-γ)·max R,

so the lower bound also holds for the value of the policy itself. Both bounds are widened for rounding.

References: Howard 1960; MacQueen 1966.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import frozen
from bisimetric.certificates.interval import SPAN_ROUNDING, SUBNORMAL_BELOW, Errors, widening
from bisimetric.errors import InvalidProblem, SolverFailed
from bisimetric.linear.ladder import Ladder
from bisimetric.models.mdp import MDP
from bisimetric.models.policies import OptimalPolicy
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.problems.discounted import checked_discount
from bisimetric.solvers.base import PROGRESS

OPTIMAL_TOL = 1e-12  # target of the gap, relative to the largest value: close to the limit of rounding
EVALUATION = 1e-9  # target residual of an evaluation, relative to the residual it starts from
EVALUATED = 16 * UNIT_ROUNDOFF  # target residual of an evaluation, relative to the solution, if that is smaller
MOST_POLICIES = 10_000  # each round finds a better policy; rarely are more needed than there are states


def optimal_policy(mdp: MDP, discount: float) -> OptimalPolicy:
    """A best action for every state, with bounds on V."""
    gamma = checked_discount(discount)
    largest = float(np.abs(mdp.rewards).max())
    with np.errstate(over="ignore"):
        if not np.isfinite(4.0 * largest / (1.0 - gamma)):
            raise InvalidProblem(
                f"the largest reward is {largest:g}: values overflow; divide the rewards by a constant"
            )
    scale = math.ldexp(1.0, min(1 - math.frexp(largest)[1], 1022)) if largest else 1.0
    rewards = np.where(mdp.available, mdp.rewards * scale, -np.inf).T  # [A, n]
    stacked = sparse.vstack(mdp.transitions, format="csr")  # [A·n, n]
    value, policy, swept = _iterate(rewards, stacked, gamma)

    residual = swept - value
    lowest, highest = float(residual.min()), float(residual.max())
    onward = gamma / (1.0 - gamma)
    errors = Errors(float(np.diff(stacked.indptr).max()), 0.5 * float(mdp.row_error.max()))
    down, up = widening(value, (lowest, highest), largest * scale, gamma, errors)
    lower, upper = (swept + onward * lowest - down) / scale, (swept + onward * highest + up) / scale
    if 0.0 < largest < SUBNORMAL_BELOW:
        lower, upper = np.nextafter(lower, -np.inf), np.nextafter(upper, np.inf)
    middle = np.clip((swept + 0.5 * onward * (lowest + highest)) / scale, lower, upper)
    return OptimalPolicy(frozen(policy), frozen(middle), frozen(lower), frozen(upper))


def _iterate(rewards: Floats, stacked: sparse.csr_array, gamma: float) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    """V, the policy that is best against it, and T V, with a gap close to the limit of rounding."""
    states = np.arange(rewards.shape[1])
    onward = gamma / (1.0 - gamma)
    value = np.zeros(len(states))
    best, idle = math.inf, 0
    kept = None  # the policy that is evaluated; it changes an action only if another is better by more than rounding
    for _ in range(MOST_POLICIES):
        earned = rewards + gamma * (stacked @ value).reshape(rewards.shape)
        policy = earned.argmax(axis=0)
        swept = earned[policy, states]
        residual = swept - value
        gap = onward * float(np.ptp(residual))
        best, idle = (gap, 0) if gap < PROGRESS * best else (best, idle + 1)
        largest = float(np.abs(swept).max())
        if gap <= OPTIMAL_TOL * largest or (idle and np.ptp(residual) <= SPAN_ROUNDING * largest):
            return value, policy, swept
        kept = policy if kept is None else np.where(swept - earned[kept, states] > EVALUATED * largest, policy, kept)
        moves, gain = stacked[kept * len(states) + states], earned[kept, states] - value
        shift = 0.5 * onward * float(gain.min() + gain.max())
        value = value + _evaluate(moves, gain, gain + shift, gamma)
    raise SolverFailed(
        f"{MOST_POLICIES} policies were not enough: the optimal values are known to {gap / largest:.1g} of the "
        "largest; choose a smaller discount"
    )


def _evaluate(moves: sparse.csr_array, residual: Floats, start: Floats, gamma: float) -> Floats:
    """Solve (I - γP) d = residual; returns `start`, a step of value iteration, if the linear solver fails."""
    largest = float(np.abs(residual).max())
    target = min(EVALUATION * largest, EVALUATED * float(np.abs(start).max()))
    solved = Ladder().solve_stored(moves, residual, start, gamma, target)
    return solved.x if solved.residual <= largest else start

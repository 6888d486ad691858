"""Derivatives of the distance over a finite horizon, from couplings and potentials that are optimal at every step.

Let law_t be the joint law of the two states at time t under the optimal couplings, and (f, g) optimal potentials of the
transports from time t to t + 1. By the envelope theorem

    ∂W/∂c_t(x, y)     = γᵗ·law_t(x, y),        ∂W/∂terminal = γʰ·law_h
    ∂W/∂P_t(x'|x)     = γᵗ⁺¹ · Σ_y law_t(x, y) f_xy(x')      along changes that keep the sums of rows
    ∂W/∂γ             = Σ_t γᵗ · <law_{t+1}, V_{t+1}>

and the same for the target with g. One pass over the times, with the transports of the pairs that are visited.

Reference: Danskin 1967 (envelope theorem).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.frozen import frozen
from bisimetric.couplings.gradient import (
    NO_DIFFERENCE,
    Derivatives,
    RewardSlopes,
    StartPotentials,
    on_support,
    refuse_infinite,
    reward_slopes,
)
from bisimetric.couplings.timed import HorizonCoupling, TimedMoves
from bisimetric.models.rows import Floats, Mask
from bisimetric.operators.bellman import as_rows
from bisimetric.problems.horizon import HorizonProblem


@dataclass(frozen=True, eq=False, repr=False)
class HorizonGradient(Derivatives):
    """How the distance over a finite horizon changes with all that it depends on; `solution.gradient` returns it.

    Attributes
    ----------
    costs : array [h, n, m]
        By the cost of every time: how likely the pair is at that time, times γ^t.
    cost : array [n, m]
        By a cost that holds at all times: the sum of `costs`.
    terminal : array [n, m]
        By the terminal cost.
    sources, targets : tuple of scipy.sparse.csr_array [n, n] and [m, m]
        By the probabilities of every step, on the supports, with mean zero in each row; only changes that keep the sums
        of rows have a meaning.
    source, target : scipy.sparse.csr_array [n, n] and [m, m]
        By the probabilities of the chain of the first step: the sum over all steps that take it. So all of them, where
        the chain does not change.
    source_start, target_start : array [n] and [m], or None
        By the initial laws, as in `Gradient`.
    source_reward, target_reward : array [n] and [m], or None
        By the rewards, where the cost is the gap between them and the chains do not change; else None.
    discount : float
        By the discount; at discount 1 the derivative from below.
    error : float
        How much more the couplings behind this gradient cost than the best ones, at most; certified.
    tied : array [n, m] of bool
        Pairs that are visited and have several best couplings or potentials at some time.
    starts_tie, is_unique : bool
        As in `Gradient`.

    Examples
    --------
    >>> import bisimetric as bm
    >>> fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> bent = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], start=0)
    >>> gradient = bm.solve(bm.HorizonProblem(fair, bent, horizon=3)).gradient()
    >>> gradient.costs[1]
    array([[0.25, 0.25],
           [0.  , 0.5 ]])
    """

    costs: Floats
    cost: Floats
    terminal: Floats
    sources: tuple[sparse.csr_array, ...]
    targets: tuple[sparse.csr_array, ...]
    source: sparse.csr_array
    target: sparse.csr_array
    source_start: Floats | None
    target_start: Floats | None
    source_reward: Floats | None
    target_reward: Floats | None
    discount: float
    error: float
    tied: Mask
    starts_tie: bool


def horizon_gradient(
    coupling: HorizonCoupling, law: Floats, starts: StartPotentials | None, lower: float
) -> HorizonGradient:
    """The gradient of the distance from the joint law of the starts, whose lower bound is `lower`."""
    problem = coupling.problem
    n, m = problem.shape
    memory.require(
        8 * n * m * problem.horizon,
        f"the derivatives by the costs of {problem.horizon} steps of {n} x {m} state pairs",
        "take a shorter horizon, or a discount instead of one",
    )
    costs, tied = np.empty((problem.horizon, n, m)), np.zeros((n, m), np.bool_)
    sources, targets = [], []
    weight, slope, total = 1.0, 0.0, 0.0
    for time in range(problem.horizon):
        costs[time] = weight * law
        total += float((costs[time] * problem.costs[time]).sum())
        moves = coupling.moves(time, law > 0.0)
        by_source, by_target, ties = _potential_sums(coupling, time, law, moves)
        law = moves.pushed(law)
        slope += weight * float((law * coupling.value_at(time + 1)).sum()) / coupling.scale
        weight *= problem.discount
        if weight > 0.0:
            tied |= ties
        with np.errstate(over="ignore", invalid="ignore"):
            sources.append(on_support(problem.sources[time], by_source * (weight / coupling.scale)))
            targets.append(on_support(problem.targets[time], by_target * (weight / coupling.scale)))
        refuse_infinite(slope, sources[-1].data, targets[-1].data)
    terminal = weight * law
    total += float((terminal * problem.terminal).sum())
    by_cost = costs.sum(axis=0)
    reward = _by_rewards(problem, by_cost)
    if reward is not None:
        tied |= reward.tied & (by_cost > 0.0)
    by_first = [
        sum((part for part, chain in zip(parts, chains, strict=True) if chain is chains[0]), start=0.0 * parts[0])
        for parts, chains in ((sources, problem.sources), (targets, problem.targets))
    ]
    return HorizonGradient(
        frozen(costs),
        frozen(by_cost),
        frozen(terminal),
        tuple(sources),
        tuple(targets),
        by_first[0],
        by_first[1],
        None if starts is None else starts.source,
        None if starts is None else starts.target,
        None if reward is None else reward.source,
        None if reward is None else reward.target,
        slope,
        max(total - lower, 0.0),
        frozen(tied),
        starts is not None and starts.tie,
    )


def _potential_sums(
    coupling: HorizonCoupling, time: int, law: Floats, moves: TimedMoves
) -> tuple[Floats, Floats, Mask]:
    """Σ law·f and Σ law·g of one step, on the entries of the rows, and where several optima are."""
    problem = coupling.problem
    rows = as_rows(problem.sources[time].transitions), as_rows(problem.targets[time].transitions)
    value = coupling.value_at(time + 1)
    x, y = np.nonzero(law > 0.0)
    source, target, ties = np.zeros(len(rows[0].data)), np.zeros(len(rows[1].data)), np.zeros(len(x), np.bool_)
    tight = NO_DIFFERENCE * float(np.abs(value).max())
    at, visits = np.arange(len(x)), law[x, y]
    kernels.gradient.potential_sums(x, y, at, visits, value, *rows, moves.cells, tight, source, target, ties)
    tied = np.zeros(law.shape, np.bool_)
    tied[x, y] = ties
    return source, target, tied


def _by_rewards(problem: HorizonProblem, by_cost: Floats) -> RewardSlopes | None:
    """The derivatives by the rewards of chains that do not change; None where the cost does not say how."""
    alike = len(problem.sources.different) == len(problem.targets.different) == 1
    return reward_slopes((problem.source, problem.target), problem.reward_weight, by_cost) if alike else None

"""Checks of decision processes: both metrics, optimal policies, aggregation, quotients."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import bisimetric as bm
from tests.campaign import exact_games
from tests.campaign.cases import ROOM, UNIT, WIDE_ROOM, Case, rounding_gap
from tests.campaign.findings import Finding, intervals
from tests.campaign.kinds import KINDS, REWARDS
from tests.campaign.oracles import whole

TOL = 1e-9  # relative gap by default
POLICY_TOL = 1e-11  # relative gap that `optimal_policy` reaches, apart from rounding


def same_actions(case: Case) -> Iterator[Finding]:
    """The metric with the same actions, max_a D, is right."""
    yield from _metric(case, matched=False)


def matched_actions(case: Case) -> Iterator[Finding]:
    """The lax metric; some actions are missing."""
    yield from _metric(case, matched=True)


def optimal_policy(case: Case) -> Iterator[Finding]:
    """No policy earns more than `upper`, this one earns at least `lower`."""
    mdp = _mdp(case, case.shape[0], 2, partial=True)
    if mdp.n_states > 12:
        return
    found = mdp.optimal_policy(case.discount)
    true = exact_games.optimal_values(mdp, case.discount)
    yield from intervals("optimal policy", true, found.lower, found.upper, found.value)
    earned = exact_games.policy_values(mdp, found.policy, case.discount)
    yield from intervals("the policy itself", earned, found.lower, np.full(mdp.n_states, np.inf))
    largest, rewards = max(abs(float(v)) for v in true), float(np.abs(mdp.rewards).max())
    allowed = POLICY_TOL + WIDE_ROOM * _rounding(mdp, mdp, rewards, largest, case.discount)
    if 1.0 - case.discount > 1e-12 and largest and not found.gap <= allowed * largest:
        text = f"optimal policy: relative gap {found.gap / largest:.2g}, rounding allows {allowed:.2g}"
        yield Finding(text, gave_up=True)


def aggregate_mdp(case: Case) -> Iterator[Finding]:
    """Bounds on optimal values and on what the small model's policy loses."""
    mdp = _mdp(case, min(case.shape[0], 3), 2, partial=case.random.random() < 0.5)
    found = bm.aggregate(mdp, n_states=max(_kinds(mdp), mdp.n_states - 1), discount=case.discount)
    best = exact_games.optimal_values(mdp, case.discount)
    small = exact_games.optimal_values(found.model, case.discount)
    earned = exact_games.policy_values(mdp, found.policy, case.discount)
    for s, t in enumerate(found.map.tolist()):
        gap, loss = best[s].plus(small[t], -1).size(), best[s].plus(earned[s], -1)
        if not gap.at_most(found.value_bound):
            yield Finding(f"aggregate: the value of {s} is off by {float(gap)!r}, bound {found.value_bound!r}")
            return
        if not loss.at_most(found.policy_loss):
            yield Finding(f"aggregate: the policy loses {float(loss)!r} at {s}, bound {found.policy_loss!r}")
            return
    if mdp.available.all():
        between = exact_games.game_distances(mdp, found.model, case.discount)
        for s, t in enumerate(found.map.tolist()):
            true = between[s * found.model.n_states + t]
            if not true.at_most(found.distance_bound):
                yield Finding(f"aggregate: state {s} is {float(true)!r} away, bound {found.distance_bound!r}")
                return


def quotient_mdp(case: Case) -> Iterator[Finding]:
    """Optimal values of the quotient are those of the process."""
    mdp = _mdp(case, min(case.shape[0], 4), 2, partial=True)
    small, to = bm.quotient(mdp)
    found = small.optimal_policy(case.discount)
    true = exact_games.optimal_values(mdp, case.discount)
    yield from intervals("optimal values of the quotient", true, found.lower[to], found.upper[to])


def _metric(case: Case, *, matched: bool) -> Iterator[Finding]:
    n, m = (min(size, 3) for size in case.shape)
    is_function = KINDS[case.kind].is_function
    if is_function and not matched:
        n, m = (min(size, 10) for size in case.shape)
    source = _mdp(case, n, 2, partial=matched)
    target = source if case.random.random() < 0.3 else _mdp(case, m, 2, partial=matched)
    found = bm.bisimulation_metric(
        source, target, discount=case.discount, actions="matched" if matched else "same", throw=False
    )
    true = exact_games.game_distances(source, target, case.discount, matched=matched)
    what = "matched actions" if matched else "same actions"
    yield from intervals(what, true, found.lower, found.upper, found.value)
    largest = max(map(float, true))
    rewards = whole([*source.rewards.ravel(), *target.rewards.ravel()])
    spread = (max(rewards.above) - min(rewards.above)) / rewards.below * (1.0 - case.discount)
    room = ROOM * _rounding(source, target, spread, largest, case.discount) <= TOL
    promised = spread >= 1e-300  # below, bounds are as wide as a few denormal numbers
    if promised and room and found.status is not bm.Status.SOLVED:
        gap = f"relative gap {found.relative_gap:.2g} after {len(found.history)} steps"
        yield Finding(f"{what}: {found.status.name}, {gap}", gave_up=True)


def _rounding(source: bm.MDP, target: bm.MDP, cost: float, value: float, discount: float) -> float:
    successors = sum(max(int(np.diff(rows.indptr).max()) for rows in mdp.transitions) for mdp in (source, target))
    moved = 0.5 * sum(float(mdp.row_error.max()) for mdp in (source, target)) + UNIT
    return rounding_gap(cost, value, discount, successors, moved)


def _mdp(case: Case, n: int, n_actions: int, *, partial: bool) -> bm.MDP:
    """A process with rows and rewards of the case's kinds."""
    random = case.random
    matrices = []
    for _ in range(n_actions):
        rows = KINDS[case.kind].rows(random, n)
        matrices.append(rows / rows.sum(axis=1, keepdims=True))
    rewards = case.about.rsplit("rewards ", 1)[1]
    available = np.ones((n, n_actions), bool)
    if partial and random.random() < 0.5:
        available = random.random((n, n_actions)) < 0.7
        available[np.arange(n), random.integers(n_actions, size=n)] = True
    values = np.stack([REWARDS[rewards](random, n) for _ in range(n_actions)], axis=1)
    return bm.MDP(matrices, values, available=available)


def _kinds(mdp: bm.MDP) -> int:
    return len({tuple(row) for row in mdp.available.tolist()})

"""Checks of what is said about single models: MICo, classes, quotients, aggregation, labels."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import bisimetric as bm
from tests.campaign import oracles
from tests.campaign.cases import UNIT, WIDE_ROOM, Case, rounding_gap
from tests.campaign.exact_games import chain_values
from tests.campaign.findings import Finding, intervals
from tests.campaign.oracles import Ratio
from tests.reference import bisimilarity

MICO_TOL = 1e-9  # relative gap that `mico` works to
MICO_ROUNDINGS = 256  # residual that may be rounding, in units of the last place of the largest value


def mico(case: Case) -> Iterator[Finding]:
    """The value of the independent coupling, with a narrow interval."""
    P, Q = case.rows
    if not case.is_small and not oracles.is_forced(P, Q):
        return
    found = bm.mico(case.source, case.target, discount=case.discount)
    gaps = oracles.normalised(oracles.reward_gaps(case.source.reward, case.target.reward), case.discount)
    true = oracles.independent_values(P, Q, gaps, case.discount)
    yield from intervals("mico", true, found.lower, found.upper, found.value)
    largest, costs = max(map(float, true)), float(Ratio(max(gaps.above), gaps.below))
    chains = case.source, case.target
    successors = sum(int(np.diff(chain.transitions.indptr).max()) for chain in chains)
    moved = 0.5 * sum(float(chain.row_error.max()) for chain in chains)
    allowed = MICO_TOL + WIDE_ROOM * rounding_gap(costs, largest, case.discount, successors, moved)
    allowed += MICO_ROUNDINGS * UNIT / (1.0 - case.discount)
    if costs >= 1e-300 and not found.relative_gap <= allowed:  # below, bounds are as wide as a few denormal numbers
        yield Finding(f"mico: relative gap {found.relative_gap:.2g}, rounding allows {allowed:.2g}", gave_up=True)


def metric(case: Case) -> Iterator[Finding]:
    """The bisimulation metric of one chain: symmetric pairs are solved once, bisimilar states are at zero."""
    chain = case.source
    forced = oracles.is_forced(case.rows[0], case.rows[0])
    if chain.n_states > (20 if forced else 4):
        return
    found = bm.bisimulation_metric(chain, discount=case.discount, throw=False)
    true = case.metric_of(chain, chain)
    yield from intervals("bisimulation metric", true, found.lower, found.upper, found.value)
    n = chain.n_states
    if (np.diag(found.upper) != 0).any() or any(true[k * n + k].above for k in range(n)):
        yield Finding("bisimulation metric: a state is not at zero from itself")


def labels(case: Case) -> Iterator[Finding]:
    """The bisimilarity distance on labels."""
    P, Q = case.rows
    if not case.is_small and not oracles.is_forced(P, Q):
        return
    found = bm.bisimilarity_distance(case.source, case.target, discount=case.discount)
    differ = np.not_equal.outer(case.source.labels, case.target.labels).ravel()
    costs = oracles.Costs(differ.astype(int).tolist(), 1)
    true = oracles.distances(P, Q, costs, case.discount, stop=differ.tolist())
    yield from intervals("bisimilarity distance", true, found.lower, found.upper, found.value)


def classes(case: Case) -> Iterator[Finding]:
    """Without a tolerance the classes are exact; with one, bisimilar states stay together."""
    chain = case.source
    if chain.n_states > 20:
        return
    keys = list(zip(chain.reward.tolist(), chain.labels, strict=True))
    true = np.array(bisimilarity(chain.transitions.toarray(), keys))
    strict = bm.bisimilar_classes(chain, tol=0.0)
    if not np.array_equal(strict, true):
        yield Finding(f"classes at tol 0: {strict.tolist()}, not {true.tolist()}")
    wide = bm.bisimilar_classes(chain)
    if any(len(set(wide[true == k].tolist())) > 1 for k in range(true.max() + 1)):
        yield Finding(f"classes: {wide.tolist()} separates bisimilar states, {true.tolist()}")


def quotient(case: Case) -> Iterator[Finding]:
    """Distances between quotients are those between the chains."""
    small, mine = bm.quotient(_unlabelled(case.source))
    other, theirs = bm.quotient(_unlabelled(case.target))
    problem = bm.Problem(small, other, discount=case.discount, normalised=True)
    found = bm.solve(problem, throw=False)
    at = np.ix_(mine, theirs)
    yield from intervals("distance of quotients", case.metric, found.lower[at], found.upper[at])


def _unlabelled(chain: bm.MarkovChain) -> bm.MarkovChain:
    """Without labels, which a metric on rewards does not see, more states are bisimilar."""
    return bm.MarkovChain(chain.transitions, reward=chain.reward, start=chain.start)


def aggregate(case: Case) -> Iterator[Finding]:
    """Bounds on distances and on values hold."""
    chain = case.source
    if chain.n_states > 5:
        return
    found = bm.aggregate(chain, n_states=int(case.random.integers(1, chain.n_states + 1)), discount=case.discount)
    small = found.model
    between = case.metric_of(chain, small)
    for s, t in enumerate(found.map.tolist()):
        if not between[s * small.n_states + t].at_most(found.distance_bound):
            true = float(between[s * small.n_states + t])
            yield Finding(f"aggregate: state {s} is {true!r} away, bound {found.distance_bound!r}")
            break
    values = [chain_values(oracles.rows_of(c.transitions), c.reward, case.discount) for c in (chain, small)]
    for s, t in enumerate(found.map.tolist()):
        gap = values[0][s].plus(values[1][t], -1).size()
        if not gap.at_most(found.value_bound):
            yield Finding(f"aggregate: the value of {s} is off by {float(gap)!r}, bound {found.value_bound!r}")
            break

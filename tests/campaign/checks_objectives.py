"""Checks of finite horizons and of average costs."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

import bisimetric as bm
from tests.campaign import oracles
from tests.campaign.cases import Case
from tests.campaign.findings import Finding, intervals
from tests.campaign.oracles import GRAINS, Costs, Ratio, Transport

MOST_STEPS = 6
FEW_PAIRS = 36  # for which the truth of the long run takes little time
NEARLY_ONE = 1 - Fraction(1, 10**60)  # (1-γ)·V is the average up to 1e-60 of the bias
BIAS = 10**20  # largest bias, in largest costs
NARROW = 1e-12  # relative gap over a finite horizon


def _costs(case: Case) -> Costs:
    """The cost as given, without rounding and without the factor 1-γ."""
    if case.cost is None:
        return oracles.reward_gaps(case.source.reward, case.target.reward)
    return oracles.whole(case.cost.ravel())


def _horizon_truth(case: Case, steps: int, gamma: float) -> list[Ratio]:
    """V_0 by the backward recursion, in integers."""
    P, Q = case.rows
    m, costs = len(Q), _costs(case)
    g, unit = gamma.as_integer_ratio()
    transports = [Transport(p, q) for p in P for q in Q]
    value, below = [0] * len(transports), 1
    for _ in range(steps):
        moved = []
        for transport in transports:
            transport.improve(value, m)
            moved.append(transport.cost(value, m))
        one = unit * GRAINS * below
        value = [c * one + g * to * costs.below for c, to in zip(costs.above, moved, strict=True)]
        below = one * costs.below
    return [Ratio(above, below) for above in value]


def horizon(case: Case) -> Iterator[Finding]:
    """A few steps, with the discount of the case or without."""
    if np.prod(case.shape) > FEW_PAIRS:
        return
    steps, gamma = int(case.random.integers(1, MOST_STEPS)), float(case.random.choice([1.0, case.discount]))
    question = case.source, case.target
    found = bm.solve(bm.HorizonProblem(*question, horizon=steps, discount=gamma, cost=case.cost), throw=False)
    yield from intervals("horizon", _horizon_truth(case, steps, gamma), found.lower, found.upper, found.value)
    if float(found.upper.max()) > 1e-290 and not found.relative_gap <= NARROW + 8 * found.problem.cost_error:
        yield Finding(f"horizon: relative gap {found.relative_gap:.2g} after {steps} steps", gave_up=True)


def average(case: Case) -> Iterator[Finding]:
    """From every pair; the gap is that of rounding times the steps to recurrent states at most."""
    if np.prod(case.shape) > FEW_PAIRS:
        return
    costs = _costs(case)
    if not any(costs.above):
        return
    found = bm.solve(bm.AverageProblem(case.source, case.target, cost=case.cost), throw=False)
    rest = 1 - NEARLY_ONE
    slack = Ratio(max(costs.above) * BIAS, costs.below * 10**60)
    for k, value in enumerate(oracles.distances(*case.rows, costs, NEARLY_ONE)):  # type: ignore[arg-type]
        truth = Ratio(value.above * rest.numerator, value.below * rest.denominator)
        low, high = float(found.lower.ravel()[k]), float(found.upper.ravel()[k])
        if not truth.plus(slack).at_least(low) or not truth.plus(slack, -1).at_most(high):
            yield Finding(f"average: misses: pair {k}: [{low!r}, {high!r}] misses {float(truth)!r}")
            break
    if found.status is bm.Status.STEP_LIMIT:
        yield Finding(f"average: STEP_LIMIT, relative gap {found.relative_gap:.2g}", gave_up=True)

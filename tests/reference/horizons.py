"""Distances over a finite horizon by the naive backward recursion, in rational numbers and in floats."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from tests.reference.floats import bellman
from tests.reference.rationals import GRAINS, marginals, vertices


def exact_horizon_distances(problem):
    """V_0, …, V_h as nested lists of Fractions: every vertex of every transport polytope is tried."""
    n, m = problem.shape
    gamma = Fraction(problem.discount)
    values = [[[Fraction(float(c)) for c in row] for row in problem.terminal]]
    for source, target, cost in reversed(list(zip(problem.sources, problem.targets, problem.costs, strict=True))):
        P, Q, later = marginals(source.transitions), marginals(target.transitions), values[-1]

        def transported(x, y, P=P, Q=Q, later=later):
            prices = (
                sum((grains * later[i][j] for (i, j), grains in plan.items()), Fraction(0))
                for plan in vertices(P[x], Q[y])
            )
            return min(prices) / GRAINS

        values.append([[Fraction(float(cost[x, y])) + gamma * transported(x, y) for y in range(m)] for x in range(n)])
    return values[::-1]


def horizon_distances(problem):
    """V_0 in floats, with transports by linear programs."""
    value = problem.terminal
    for source, target, cost in reversed(list(zip(problem.sources, problem.targets, problem.costs, strict=True))):
        step = SimpleNamespace(
            shape=problem.shape, source=source, target=target, cost=cost, stop=None, discount=problem.discount
        )
        value = bellman(step, np.asarray(value))
    return value

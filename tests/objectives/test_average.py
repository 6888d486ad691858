"""The distance in the long run, in one call."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import bisimetric as bm
from bisimetric.errors import BisimetricError


def by_linear_program(P, Q, cost):
    """min <μ, c> over stationary couplings μ(xy, x'y') with coherent marginals: from the best pair."""
    n, m = cost.shape
    rows, rhs = [], []

    def add(entries, value):
        row = np.zeros((n, m, n, m))
        for place, number in entries:
            row[place] += number
        rows.append(row.ravel())
        rhs.append(value)

    every = slice(None)
    for x, y in np.ndindex(n, m):
        add([((x, y, every, every), 1.0), ((every, every, x, y), -1.0)], 0.0)
        for i in range(n):
            add([((x, y, i, every), 1.0), ((x, y, every, every), -P[x, i])], 0.0)
        for j in range(m):
            add([((x, y, every, j), 1.0), ((x, y, every, every), -Q[y, j])], 0.0)
    add([((every, every, every, every), 1.0)], 1.0)
    costs = np.repeat(cost.ravel(), n * m)
    return optimize.linprog(costs, A_eq=np.array(rows), b_eq=rhs, method="highs").fun


@pytest.mark.parametrize("seed", range(6))
def test_the_linear_program(seed):
    """Over all stationary couplings, with random, sparse and reducible rows."""
    random = np.random.default_rng(seed)
    kept = random.random((4, 4)) < 0.5
    kept[np.arange(4), random.integers(0, 4, 4)] = True
    P = random.dirichlet(np.ones(4), 4) * kept
    P /= P.sum(axis=1, keepdims=True)
    Q, cost = random.dirichlet(np.ones(3), 3), random.integers(0, 4, (4, 3)).astype(float)
    expected = by_linear_program(P, Q, cost)
    found = bm.average_distance(P, Q, cost=cost)
    assert found.distance == found.stationary_distance == pytest.approx(expected, abs=1e-8)


def test_options_are_those_of_solve():
    """Unknown ones are refused by Python, wrong ones by us."""
    with pytest.raises(TypeError, match="discount"):
        bm.average_distance(np.eye(2), np.eye(2), cost=np.eye(2), discount=0.9)
    for wrong in ({"tol": -1.0}, {"solver": "no such"}, {"time_limit": 0}, {"cost": np.eye(3)}):
        with pytest.raises(BisimetricError):
            bm.average_distance(np.eye(2), np.eye(2), **({"cost": np.eye(2)} | wrong))

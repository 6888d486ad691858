"""Value iteration with entropic transports: a contraction whose fixed point is above the distance."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.operators.bellman import Bellman

RANDOM = np.random.default_rng(6)
CHAINS = [bm.MarkovChain(RANDOM.dirichlet(np.ones(k), k)) for k in (3, 2)]
PROBLEM = bm.Problem(*CHAINS, discount=0.6, cost=RANDOM.random((3, 2)))
BELLMAN = Bellman.of(PROBLEM)


def one_round(value, **options):
    """The method's own value after one round."""
    solver = bm.SinkhornBellman(rounds=1, projections=500, **options)
    return solver.init(BELLMAN, value * BELLMAN.scale).now / BELLMAN.scale


def test_a_round_contracts():
    """Two values come closer by the discount."""
    one, other = RANDOM.random((3, 2)), RANDOM.random((3, 2))
    apart = np.abs(one_round(one) - one_round(other)).max()
    assert apart <= 0.6 * np.abs(one - other).max() + 1e-9


def test_the_bias_is_bounded():
    """The fixed point is between the distance and the distance plus ε·log(S)/(1-γ)."""
    epsilon = 0.05 * PROBLEM.cost.max()
    value = PROBLEM.cost.copy()
    for _ in range(60):
        value = one_round(value, regularisation=0.05)
    exact = bm.solve(PROBLEM).value
    assert (value >= exact - 1e-9).all()
    assert (value <= exact + epsilon * np.log(2) / 0.4 + 1e-9).all()


def test_equal_costs_settle_at_once():
    """Nothing to choose: the rounds end before their number."""
    flat = bm.Problem(*CHAINS, discount=0.6, cost=np.ones((3, 2)))
    found = bm.solve(flat, bm.SinkhornBellman(rounds=1000))
    assert len(found.history) < 200
    np.testing.assert_allclose(found.value, 2.5, rtol=1e-9)

"""Entropic policy iteration: its evaluation, and where it ends."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.operators.bellman import Bellman

RANDOM = np.random.default_rng(4)
CHAINS = [bm.MarkovChain(RANDOM.dirichlet(np.ones(k), k)) for k in (3, 2)]
PROBLEM = bm.Problem(*CHAINS, discount=0.6, cost=RANDOM.random((3, 2)))


def test_backups_lead_to_the_value_of_the_couplings():
    """After enough of them the method's own value is the value of its rounded couplings."""
    bellman = Bellman.of(PROBLEM)
    solver = bm.EntropicPolicyIteration(rounds=1, evaluation_steps=500)
    first = solver.init(bellman, None)
    np.testing.assert_allclose(solver.measured(bellman, first).value, first.now, rtol=1e-9)
    shorter = bm.EntropicPolicyIteration(rounds=1, evaluation_steps=1).init(bellman, None)
    assert np.abs(shorter.now - first.now).max() > 1e-3 * first.now.max()


def test_it_ends_when_the_value_settles():
    """Before its rounds are over; the answer is above the distance by what smoothing leaves."""
    found = bm.solve(PROBLEM, bm.EntropicPolicyIteration(rounds=1000, projections=300, sharpness=50.0))
    assert found.status is bm.Status.COMPLETED
    assert len(found.history) < 1000
    exact = bm.solve(PROBLEM)
    assert (found.value >= exact.lower - 1e-9).all()
    assert np.abs(found.value - exact.value).max() <= 0.05 * exact.value.max()

"""Sinkhorn value iteration: one round by hand, and more inner steps."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.operators.bellman import Bellman

RANDOM = np.random.default_rng(1)
CHAINS = [bm.MarkovChain(RANDOM.dirichlet(np.ones(k), k)) for k in (3, 2)]
PROBLEM = bm.Problem(*CHAINS, discount=0.6, cost=RANDOM.random((3, 2)))


def test_the_first_round_by_hand():
    """From V = 0 and the independent coupling the operator is c plus nothing: the expectation is that of the cost."""
    bellman = Bellman.of(PROBLEM)
    first = bm.SinkhornValueIteration(rounds=1, step_size=2.0).init(bellman, None)
    np.testing.assert_allclose(first.expected[0] / bellman.scale, PROBLEM.cost, rtol=1e-12)


@pytest.mark.parametrize("inner_steps", [1, 5, 1e-9])
def test_answers_come_close(inner_steps):
    """With small steps and enough rounds; the status says that all rounds were run."""
    exact = bm.solve(PROBLEM).value
    found = bm.solve(PROBLEM, bm.SinkhornValueIteration(rounds=300, inner_steps=inner_steps))
    assert found.status is bm.Status.COMPLETED
    assert np.abs(found.value - exact).max() <= 0.02 * exact.max()
    assert len(found.history) == 300

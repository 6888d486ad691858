"""Sinkhorn policy iteration: the values of rounded couplings."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.operators.bellman import Bellman

RANDOM = np.random.default_rng(2)
CHAINS = [bm.MarkovChain(RANDOM.dirichlet(np.ones(k), k)) for k in (3, 2)]
PROBLEM = bm.Problem(*CHAINS, discount=0.6, cost=RANDOM.random((3, 2)))


def test_the_first_round_evaluates_the_independent_coupling():
    """To convergence: V = c + γ P V Qᵀ, one value for both sides."""
    bellman = Bellman.of(PROBLEM)
    solver = bm.SinkhornPolicyIteration(rounds=2, inner_steps=1e-12)
    first = solver.init(bellman, None)
    P, Q = (chain.transitions.toarray() for chain in CHAINS)
    truth = np.linalg.solve(np.eye(6) - 0.6 * np.kron(P, Q), PROBLEM.cost.ravel()).reshape(3, 2)
    np.testing.assert_allclose(first.expected[0] / bellman.scale, truth, rtol=1e-9)
    second = solver.step(bellman, first)
    assert second.expected[0] is second.expected[1]


@pytest.mark.parametrize("inner_steps", [1, 5, 1e-9])
def test_answers_come_close(inner_steps):
    """With small steps and enough rounds."""
    exact = bm.solve(PROBLEM).value
    found = bm.solve(PROBLEM, bm.SinkhornPolicyIteration(rounds=300, inner_steps=inner_steps))
    assert found.status is bm.Status.COMPLETED
    assert np.abs(found.value - exact).max() <= 0.02 * exact.max()

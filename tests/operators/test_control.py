"""The operator of one decision process, against its definition."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.operators.control import ControlBellman
from bisimetric.problems.control import Control
from tests import strategies


@given(strategies.mdps(n_actions=3, partial=True), st.sampled_from((0.0, 0.5, 0.99)))
def test_what_actions_earn(mdp, discount):
    """r + γ P V in the operator's scale; an action that is not available earns nothing that anybody would take."""
    bellman = ControlBellman.of(Control(mdp, discount=discount))
    value = np.linspace(-1.0, 2.0, mdp.n_states)
    earned = bellman.earned(value)
    for a, rows in enumerate(mdp.transitions):
        expected = mdp.rewards[:, a] * bellman.scale + discount * (rows @ value)
        here = mdp.available[:, a]
        np.testing.assert_allclose(earned[a][here], expected[here], rtol=1e-14, atol=1e-14)
        assert (earned[a][~here] == -np.inf).all()
    largest = np.abs(mdp.rewards).max() * bellman.scale
    assert largest == 0.0 or 1.0 <= largest < 2.0


@given(strategies.mdps(n_actions=2), st.sampled_from((0.0, 0.5, 0.99)))
def test_the_value_of_a_policy(mdp, discount):
    """From V = 0 the gain is the reward, so the solution is the policy's value."""
    bellman = ControlBellman.of(Control(mdp, discount=discount))
    policy = np.arange(mdp.n_states) % 2
    gain = bellman.taken(bellman.rewards, policy)
    value = bellman.solve(policy, gain, gain.copy(), 1e-13)
    rows = mdp.under(policy).transitions.toarray()
    truth = np.linalg.solve(np.eye(mdp.n_states) - discount * rows, gain)
    np.testing.assert_allclose(value, truth, rtol=1e-9, atol=1e-9)

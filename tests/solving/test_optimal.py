"""Optimal policies against every deterministic policy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidProblem
from tests import reference, strategies


@given(strategies.mdps(n_actions=3, partial=True), st.sampled_from((0.0, 0.3, 0.9, 0.99, 0.9999)))
def test_bounds_contain_the_best_of_all_policies(mdp, discount):
    """The interval is true and tight, the policy earns at least its lower end, and its actions are available."""
    found = mdp.optimal_policy(discount)
    truth = reference.optimal_values(mdp, discount)
    largest = np.abs(truth).max()
    slip = 1e-15 / (1 - discount) * largest  # of the reference
    assert (found.lower - slip <= truth).all()
    assert (truth <= found.upper + slip).all()
    assert (found.lower <= found.value).all()
    assert (found.value <= found.upper).all()
    assert found.gap <= 1e-9 * max(largest, np.abs(mdp.rewards).max())
    assert mdp.available[np.arange(mdp.n_states), found.policy].all()
    chain = mdp.under(found.policy)
    earned = np.linalg.solve(np.eye(mdp.n_states) - discount * chain.transitions.toarray(), chain.reward)
    assert (found.lower - slip <= earned).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-5, 1e300])
def test_any_scale(scale):
    """Rewards times a constant give values times that constant."""
    mdp = bm.environments.four_rooms_mdp(slip=0.2)
    plain = mdp.optimal_policy(0.9)
    scaled = bm.MDP(mdp.transitions, mdp.rewards * scale).optimal_policy(0.9)
    np.testing.assert_allclose(scaled.value / scale, plain.value, rtol=1e-11)
    assert scaled.gap <= 1e-11 * scaled.upper.max()


def test_four_rooms_goes_to_the_goal():
    """Without slips every step leads nearer, so the value is a power of γ times that of staying at the goal."""
    mdp = bm.environments.four_rooms_mdp(side=6)
    best = mdp.optimal_policy(0.9)
    goal = int(mdp.rewards[:, 0].argmax())
    steps = np.log(best.value / best.value[goal]) / np.log(0.9)
    np.testing.assert_allclose(steps, steps.round(), atol=1e-9)
    chain = mdp.under(best.policy)
    assert chain.successors(goal).tolist() == [goal]


def test_nothing_to_earn():
    """All rewards zero."""
    found = bm.MDP([np.eye(2)], np.zeros((2, 1))).optimal_policy(0.9)
    assert found.value.tolist() == found.lower.tolist() == found.upper.tolist() == [0.0, 0.0]
    assert repr(found) == "OptimalPolicy(2 states, gap 0)"


@pytest.mark.parametrize("discount", [1.0, -0.1, np.nan, "0.9", None])
def test_discounts_out_of_range(discount):
    """As everywhere."""
    with pytest.raises(InvalidProblem, match="discount is"):
        bm.environments.four_rooms_mdp().optimal_policy(discount)


def test_overflow_is_refused():
    """Values that leave the range of numbers."""
    with pytest.raises(InvalidProblem, match="divide the rewards"):
        bm.MDP([np.eye(1)], [[1e308]]).optimal_policy(0.99)


@pytest.mark.parametrize("closeness", [1e-5, 1e-6, 1e-8])
def test_discounts_close_to_one_end(closeness):
    """Where rounding is above the tolerance, the bounds say so; they are not waited for."""
    random = np.random.default_rng(0)
    mdp = bm.MDP(random.dirichlet(np.ones(5), size=(2, 5)), random.random((5, 2)))
    found = mdp.optimal_policy(1 - closeness)
    assert (found.lower <= found.upper).all()
    assert found.gap <= 1e-4 / closeness


def test_policies_that_improve_one_state_at_a_time():
    """On a long cycle the best way round is found from the best reward on, in many rounds whose gap does not fall."""
    n = 400
    forwards = np.roll(np.eye(n), 1, axis=1)
    moves = [0.5 * forwards + 0.5 * np.eye(n), 0.5 * forwards.T + 0.5 * np.eye(n)]
    found = bm.MDP(moves, np.random.default_rng(0).random((n, 2))).optimal_policy(0.99999)
    assert found.gap <= 1e-9 * found.upper.max()


def test_nearly_decomposable():
    """Two actions between which only rare moves decide."""
    moves = [[[1 - e, e], [e, 1 - e]] for e in (1e-6, 1e-9)]
    found = bm.MDP(moves, [[0.3, 1], [-0.2, 1.8]]).optimal_policy(1 - 1e-7)
    assert found.gap <= 1e-6 * found.upper.max()


def test_ties_do_not_go_round_in_circles():
    """Rounding decides between actions that are equally good; a policy in which all of them win is worse."""
    found = bm.MDP([np.eye(2), np.eye(2)[::-1]], [[0.4, 0.4], [0.4, 0.9]]).optimal_policy(1 - 1e-9)
    np.testing.assert_allclose(found.value, 0.65e9, rtol=1e-5)

"""Policies: weights on actions, and the chains that follow them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests import strategies

STAY, GO = np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]])
REWARDS = [[0.0, 0.5], [1.0, 2.0]]
MDP = bm.MDP([STAY, GO], REWARDS, start=0, names=["here", "there"], actions=["stay", "go"])


def test_averaged_rewards():
    """Exact where all actions pay the same; the order of the actions does not matter."""
    stay = [np.eye(2)] * 10
    assert bm.MDP(stay, np.ones((2, 10))).under("uniform").reward.tolist() == [1.0, 1.0]
    for rewards in np.random.default_rng(0).random((20, 10)):
        mixed = bm.MDP(stay, [rewards, rewards[::-1]]).under("uniform").reward
        assert mixed[0] == mixed[1] == pytest.approx(rewards.mean())


@given(strategies.mdps(n_actions=3, partial=True, start=True), st.randoms(use_true_random=False))
def test_under_a_policy(mdp, random):
    """Rows and rewards are means over the policy's actions; start and names stay."""
    weight = np.array([[random.random() for _ in range(3)] for _ in range(mdp.n_states)]) * mdp.available + 1e-3
    weight = np.where(mdp.available, weight, 0.0)
    weight /= weight.sum(axis=1, keepdims=True)
    chain = mdp.under(weight)
    dense = np.array([matrix.toarray() for matrix in mdp.transitions])  # [A, n, n]
    np.testing.assert_allclose(chain.transitions.toarray(), np.einsum("sa,ast->st", weight, dense), atol=1e-15)
    np.testing.assert_allclose(chain.reward, (weight * mdp.rewards).sum(axis=1), atol=1e-15)
    np.testing.assert_array_equal(chain.start, mdp.start)
    assert (chain.row_error >= (weight * mdp.row_error).sum(axis=1)).all()


@given(strategies.mdps(n_actions=3, partial=True, tiny=True))
def test_under_one_action_per_state(mdp):
    """The rows are those of the process, bit for bit, and so is what they have moved."""
    choice = mdp.available.argmax(axis=1)
    chain = mdp.under(choice)
    for s, a in enumerate(choice):
        np.testing.assert_array_equal(chain.transitions.toarray()[s], mdp.transitions[a].toarray()[s])
        assert chain.reward[s] == mdp.rewards[s, a]
        assert chain.row_error[s] == mdp.row_error[s, a]


def test_uniform_means_over_the_available_actions():
    """Not over all."""
    mdp = bm.MDP([STAY, GO], REWARDS, available=[[True, True], [False, True]])
    chain = mdp.under("uniform")
    assert chain.transitions.toarray().tolist() == [[0.5, 0.5], [1.0, 0.0]]
    assert chain.reward.tolist() == [0.25, 2.0]


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ("greedy", "policy is 'greedy'"),
        ([[0.5, 0.4], [1, 0]], "sum to 1"),
        ([[1.5, -0.5], [1, 0]], r"policy\[0\] is \[1.5, -0.5\]"),
        ([[1.0, 0.0]], r"policy has shape \(1, 2\)"),
        ([[np.nan, 1.0], [1, 0]], "is nan"),
        ([[1.0], [1.0, 0.0]], "ragged"),
        ([0, 2], r"policy\[1\] is 2"),
        ([-1, 0], r"policy\[0\] is -1"),
        ([0, 1, 0], "expected 2 action indices"),
        ([0.0, 1.0], "expected 2 action indices"),
        (["stay", "go"], "expected 2 action indices"),
        (3, "expected 2 dimension"),
        (None, "dtype object"),
        ("optimal", r"mdp\.optimal_policy"),
        (lambda state: 0, "call it for every state"),
    ],
)
def test_policies_that_are_none(policy, message):
    """Refused with what was expected."""
    with pytest.raises(InvalidOption, match=message):
        MDP.under(policy)


@pytest.mark.parametrize("policy", [[0, 0], [[1, 0], [0.5, 0.5]]])
def test_policies_must_be_available(policy):
    """The message names the action, the state and the choices."""
    mdp = bm.MDP([STAY, GO], REWARDS, actions=["stay", "go"], available=[[True, True], [False, True]])
    with pytest.raises(InvalidOption, match="choose among go"):
        mdp.under(policy)


def test_the_best_policy():
    """What `optimal_policy` returns is taken as it is."""
    mdp = bm.as_mdp("gym:FrozenLake-v1")
    best = mdp.optimal_policy(discount=0.95)
    assert mdp.under(best) == mdp.under(best.policy)

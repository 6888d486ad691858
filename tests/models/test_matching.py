"""States whose choices match, against sets of rational numbers; and copies of choices in any order."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.models.matching import choices_of, match
from tests import reference, strategies


def matched(mdp, tol=0.0):
    """The classes of states, with a tolerance."""
    choices = choices_of(mdp)
    rewards = mdp.rewards[choices.state, choices.action]
    return match(choices, rewards, np.zeros(mdp.n_states, np.int64), tol)


def test_by_hand():
    """The same choices under other names and in other numbers."""
    go, stay = [[0, 1, 0], [0, 1, 0], [0, 1, 0]], [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    available = [[True, True, False], [False, True, True], [True, True, True]]
    mdp = bm.MDP([go, stay, go], [[0, 1, 0], [0, 5, 5], [0, 1, 0]], available=available)
    found = matched(mdp)
    assert found.states.tolist() == [0, 1, 0]
    assert len(set(found.choices.tolist())) == 3


@given(strategies.mdps(n_actions=3, max_states=5, partial=True))
def test_against_rational_numbers(mdp):
    """The coarsest partition, for processes with many ties."""
    assert matched(mdp).states.tolist() == reference.matched_bisimilarity(mdp, [0] * mdp.n_states)


@given(st.data())
def test_copies_with_other_actions_are_matched(data):
    """A state with copies, whose actions are permuted and repeated, has them in its class."""
    base = data.draw(strategies.mdps(n_actions=2, max_states=3))
    copies, owners = data.draw(strategies.with_copies(base, exact=True))
    orders = st.permutations(range(3)).map(lambda order: [(0, 1, data.draw(st.integers(0, 1)))[k] for k in order])
    order = np.array([data.draw(orders) for _ in owners])  # [states, 3], every action at least once
    rows = [matrix.toarray() for matrix in copies.transitions]
    matrices = [np.array([rows[order[s, a]][s] for s in range(len(owners))]) for a in range(3)]
    rewards = np.take_along_axis(copies.rewards, order, axis=1)
    found = matched(bm.MDP(matrices, rewards), 1e-12)
    for s, one in enumerate(owners):
        for t, other in enumerate(owners):
            assert one != other or found.states[s] == found.states[t]


def test_a_long_line():
    """Splits one state at a time, from its end; small probabilities do not separate."""
    n = 400
    rows = np.eye(n, k=1)
    rows[-1, -1] = 1.0
    rewards = np.zeros((n, 1))
    rewards[-1] = 1.0
    assert matched(bm.MDP([rows], rewards)).states.tolist() == list(range(n))
    rows[5, 6], rows[5, 9] = 1 - 1e-13, 1e-13
    twice = np.kron(np.eye(2), rows)
    assert len(set(matched(bm.MDP([twice], np.tile(rewards, (2, 1))), 1e-12).states.tolist())) == n


def test_rounded_probabilities_match():
    """Within the tolerance, and not without."""
    small = 2.0**-40
    rows = [[0, 0.25 + small, 0.75 - small, 0], [0, 0.25, 0.75, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    mdp = bm.MDP([rows], [[0], [0], [1], [2]])
    assert matched(mdp, 1e-11).states.tolist() == [0, 0, 1, 2]
    assert matched(mdp, 1e-13).states.tolist() == [0, 1, 2, 3]

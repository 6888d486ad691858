"""Tables of transitions: ends of episodes, sums, and anything that may be wrong in them."""

from __future__ import annotations

from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain


def mdp_of(table, start=None):
    """The decision process of an environment of any package with this table."""
    return bm.as_mdp(SimpleNamespace(P=table, nS=len(table), isd=start))


def test_duplicate_successors():
    """Probabilities are summed, rewards averaged."""
    mdp = mdp_of([[[(0.25, 1, 4.0, False), (0.5, 0, 1.0, False), (0.25, 1, 0.0, False)]], [[(1, 1, 0, False)]]])
    assert mdp.transitions[0].toarray().tolist() == [[0.5, 0.5], [0.0, 1.0]]
    assert mdp.rewards.tolist() == [[1.5], [0.0]]
    assert (mdp.names, mdp.labels, mdp.start) == (None, ("", ""), None)


def test_a_state_in_which_episodes_end():
    """It absorbs, whatever its own row says, and keeps its index."""
    mdp = mdp_of([[[(1.0, 1, 5.0, True)]], [[(1.0, 0, 9.0, False)]]], start=[1.0, 0.0])
    assert mdp.transitions[0].toarray().tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert mdp.rewards.tolist() == [[5.0], [0.0]]
    assert mdp.labels == ("", "terminal")


def test_a_state_that_is_also_reached_alive():
    """Half of the moves to it end the episode, half go on: an added state takes the former."""
    mdp = mdp_of([[[(0.5, 1, 5.0, True), (0.5, 1, 0.0, False)]], [[(1.0, 0, 9.0, False)]]])
    assert mdp.transitions[0].toarray().tolist() == [[0.0, 0.5, 0.5], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert mdp.rewards.tolist() == [[2.5], [9.0], [0.0]]
    assert (mdp.names, mdp.labels) == (("0", "1", "terminal"), ("", "", "terminal"))


def test_a_start_in_which_episodes_end():
    """Episodes that start there go on, so it cannot absorb."""
    mdp = mdp_of([[[(1.0, 1, 5.0, True)]], [[(1.0, 0, 9.0, False)]]], start=np.array([0.0, 1.0]))
    assert mdp.transitions[0].toarray().tolist() == [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    assert mdp.start.tolist() == [0.0, 1.0, 0.0]


def test_ends_that_lead_to_each_other():
    """Rows behind an end do not count as visits."""
    mdp = mdp_of([[[(0.5, 1, 0, True), (0.5, 2, 0, True)]], [[(1.0, 2, 0, False)]], [[(1.0, 1, 0, False)]]])
    assert mdp.n_states == 3
    assert mdp.transitions[0].toarray().tolist() == [[0, 0.5, 0.5], [0, 1, 0], [0, 0, 1]]


def test_impossible_transitions():
    """With probability 0 they neither end nor lead anywhere."""
    mdp = mdp_of([[[(1.0, 0, 1.0, False), (0.0, 1, 7.0, True)]], [[(1.0, 0, 0.0, False)]]])
    assert (mdp.n_states, mdp.transitions[0].nnz, mdp.rewards[0, 0]) == (2, 2, 1.0)


def test_missing_actions():
    """They are not available; an end has all."""
    mdp = mdp_of({0: {0: [(1.0, 1, 0, True)], 2: [(1.0, 0, 1, False)]}, 1: {}})
    assert mdp.available.tolist() == [[True, False, True], [True, True, True]]
    with pytest.raises(InvalidChain, match=r"P\[1\] has no transitions"):
        mdp_of({0: {0: [(1.0, 1, 0, False)]}, 1: {}})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([], "empty"),
        (3, "is a int"),
        ([3], r"P\[0\] is a int"),
        ([[3]], r"P\[0\]\[0\] is a int"),
        ([[[3]]], "expected .probability, successor, reward, terminated."),
        ([[[(1.0, 0, 0)]]], "expected .probability, successor, reward, terminated."),
        ([[[(0.5, 0, 0, False)]]], "sum to 0.5"),
        ([[[(-0.5, 0, 0, False), (1.5, 0, 0, False)]]], "probability -0.5"),
        ([[[(np.nan, 0, 0, False)]]], "probability nan"),
        ([[[(1.0, 1, 0, False)]]], "leads to 1"),
        ([[[(1.0, -1, 0, False)]]], "leads to -1"),
        ([[[(1.0, 0.0, 0, False)]]], "leads to 0.0"),
        ([[[(1.0, 0, np.inf, False)]]], "reward inf"),
        ([[[(1.0, 0, "1", False)]]], "reward '1'"),
        ([[[(1.0, 0, 0, None)]]], "terminated None"),
        ({1: {0: [(1.0, 0, 0, False)]}}, "has no state 0"),
        ({"a": {}}, "key 'a'"),
        ({0: {10**9: [(1.0, 0, 0, False)]}}, "has no action 0"),
        ([[[]]], "no transitions"),
    ],
)
def test_what_is_wrong_with_a_table(table, message):
    """The place, what came and what was expected."""
    with pytest.raises(InvalidChain, match=message):
        bm.from_gymnasium(SimpleNamespace(P=table))


@pytest.mark.parametrize(
    ("start", "message"),
    [([1.0], "1 entries"), ([np.nan, 1.0], "not a law"), (["a", "b"], "dtype"), ([0.5, 0.4], "sums to 0.9")],
)
def test_what_is_wrong_with_a_start(start, message):
    """Its length, its numbers, its sum."""
    table = [[[(1.0, 0, 0, False)]], [[(1.0, 0, 0, False)]]]
    with pytest.raises(InvalidChain, match=message):
        mdp_of(table, start)


LEAVES = st.booleans() | st.integers(-1, 2) | st.sampled_from([None, 0.5, 1.0, np.float64(0.5), np.nan, "a", 1e308])
MOVES = st.tuples(LEAVES, LEAVES, LEAVES, st.booleans()) | LEAVES | st.lists(LEAVES)
ROWS = st.lists(st.lists(MOVES, max_size=3) | LEAVES, max_size=3) | st.dictionaries(LEAVES, st.lists(MOVES)) | LEAVES


@given(st.lists(ROWS, max_size=3) | st.dictionaries(LEAVES, ROWS) | LEAVES, st.none() | st.lists(LEAVES, max_size=3))
def test_any_table(table, start):
    """A model, or an error of ours."""
    with suppress(BisimetricError):
        bm.from_gymnasium(SimpleNamespace(P=table, isd=start))

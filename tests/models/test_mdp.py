"""The validated, immutable decision process, and the chains that policies make of it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption
from tests import strategies

STAY, GO = np.eye(2), np.array([[0.0, 1.0], [1.0, 0.0]])
REWARDS = [[0.0, 0.5], [1.0, 2.0]]
MDP = bm.MDP([STAY, GO], REWARDS, start=0, names=["here", "there"], actions=["stay", "go"])


@given(strategies.mdps(n_actions=3, partial=True, tiny=True))
def test_any_accepted_process_is_exact(mdp):
    """Every row sums to one without rounding; what is not available is a self-loop without reward."""
    for a, matrix in enumerate(mdp.transitions):
        assert (matrix.toarray().sum(axis=1) == 1.0).all()
        missing = ~mdp.available[:, a]
        np.testing.assert_array_equal(matrix.toarray()[missing], np.eye(mdp.n_states)[missing])
    assert not mdp.rewards[~mdp.available].any()
    assert not mdp.row_error[~mdp.available].any()
    assert mdp.available.any(axis=1).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_what_is_not_available_is_ignored(form):
    """NaN, too, in rows and rewards; where an action is available it is refused."""
    rows, rewards = np.array([[0.5, 0.5], [np.nan, np.inf]]), np.array([[1.0, 2.0], [3.0, np.nan]])
    mdp = bm.MDP([STAY, form(rows)], rewards, available=[[True, True], [True, False]])
    assert mdp.transitions[1].toarray().tolist() == [[0.5, 0.5], [0, 1]]
    assert mdp.rewards.tolist() == [[1, 2], [3, 0]]
    with pytest.raises(InvalidChain, match=r"\[1\]\[1, 0\] is nan"):
        bm.MDP([STAY, form(rows)], rewards)
    with pytest.raises(InvalidChain, match=r"rewards\[1, 1\] is nan"):
        bm.MDP([STAY, GO], rewards)


def test_dense_and_sparse_are_the_same():
    """An [A, n, n] array, a list of lists, and a list of sparse matrices."""
    given = np.array([STAY, GO])
    for form in (given, given.tolist(), [sparse.csr_matrix(matrix) for matrix in given], (STAY, sparse.coo_array(GO))):
        mdp = bm.MDP(form, REWARDS)
        np.testing.assert_array_equal([matrix.toarray() for matrix in mdp.transitions], given)


def test_nothing_can_be_changed():
    """Neither the arrays nor the fields; inputs stay as they were."""
    transitions, rewards, available = np.array([STAY, GO]), np.array(REWARDS), np.ones((2, 2), bool)
    mdp = bm.MDP(transitions, rewards, available=available)
    transitions[0, 0], rewards[0, 0], available[0, 0] = 0.5, 9.0, False
    assert mdp.transitions[0].toarray().tolist() == STAY.tolist()
    assert mdp.rewards[0, 0] == 0.0
    assert mdp.available.all()
    for array in (mdp.rewards, mdp.available, mdp.row_error, mdp.transitions[0].data):
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0
    with pytest.raises(dataclasses.FrozenInstanceError):
        mdp.rewards = rewards


def test_ignored_rows_may_be_anything_finite():
    """Rows of actions that are not available need not be distributions."""
    mdp = bm.MDP([STAY, [[0.0, 0.0], [-3.0, 8.0]]], REWARDS, available=[[True, False], [True, False]])
    assert mdp.transitions[1].toarray().tolist() == STAY.tolist()
    assert mdp.rewards[:, 1].tolist() == [0.0, 0.0]
    assert repr(mdp) == "MDP(2 states, 2 actions, 2 transitions)"


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((STAY, REWARDS), {}, "one n x n matrix per action"),
        ((sparse.csr_array(STAY), REWARDS), {}, "one n x n matrix per action"),
        (("four-rooms", REWARDS), {}, "one n x n matrix per action"),
        ((3, REWARDS), {}, "one n x n matrix per action"),
        (([], REWARDS), {}, "transitions is empty"),
        (([np.zeros((0, 0))], REWARDS), {}, "at least one state"),
        (([STAY, np.eye(3)], REWARDS), {}, r"\[1\] has shape \(3, 3\)"),
        (([STAY, 0.9 * GO], REWARDS), {}, r"transitions\[1\] sums to 0.9.*divide each row"),
        (([STAY, -GO], REWARDS), {}, r"transitions\[1\]\[0, 1\] is -1.0"),
        (([STAY, GO], None), {}, "rewards is missing"),
        (([STAY, GO], [0.0, 1.0]), {}, r"rewards has shape \(2,\)"),
        (([STAY], REWARDS), {}, r"rewards has shape \(2, 2\)"),
        (([STAY, GO], [[0, 1], [0]]), {}, "rewards is ragged"),
        (([STAY, GO], [[0, np.nan], [0, 0]]), {}, r"rewards\[0, 1\] is nan"),
        (([STAY, GO], [["a", "b"], ["c", "d"]]), {}, "rewards has dtype"),
        (([STAY, GO], REWARDS), {"available": [[1, 0], [0, 1]]}, "available has dtype int64"),
        (([STAY, GO], REWARDS), {"available": [True, True]}, r"expected bool and \(2, 2\)"),
        (([STAY, GO], REWARDS), {"available": [[True], [True, True]]}, "available is ragged"),
        (([STAY, GO], REWARDS), {"available": [[True, True], [False, False]]}, "available in state 1"),
        (([STAY, GO], REWARDS), {"actions": ["stay"]}, "actions has 1 entries"),
        (([STAY, GO], REWARDS), {"actions": ["go", "go"]}, "the name 'go' occurs twice"),
        (([STAY, GO], REWARDS), {"actions": [0, 1]}, r"actions\[0\] is 0"),
        (([STAY, GO], REWARDS), {"names": ["a"]}, "names has 1 entries"),
        (([STAY, GO], REWARDS), {"start": 2}, "state 2 is out of range"),
    ],
)
def test_what_is_refused(arguments, options, message):
    """Every message says what came and what was expected."""
    with pytest.raises(InvalidChain, match=message):
        bm.MDP(*arguments, **options)


def test_action_names():
    """Actions by index or by name."""
    assert [MDP.action_index(action) for action in ("go", 1, np.int64(0))] == [1, 1, 0]
    assert MDP.action_name(1) == "go"
    assert bm.MDP([STAY, GO], REWARDS).action_name(1) == "1"
    for wrong, message in (("fly", "unknown"), (2, "out of range"), (True, "unknown"), (0.0, "unknown")):
        with pytest.raises(InvalidOption, match=message):
            MDP.action_index(wrong)


def test_with_start():
    """Another start, the rest shared."""
    moved = MDP.with_start("there")
    assert moved.start.tolist() == [0.0, 1.0]
    assert moved.transitions[1].data is MDP.transitions[1].data
    assert MDP.start.tolist() == [1.0, 0.0]


def test_repr():
    """What there is."""
    assert repr(MDP) == "MDP(2 states, 2 actions, 4 transitions, start, names)"


def test_labels_go_along():
    """Into the chain under a policy, a process with another start, equality, and errors."""
    mdp = bm.MDP([STAY, GO], REWARDS, labels=[{"b", "a"}, "end"])
    assert mdp.labels == (("a", "b"), "end")
    assert mdp.under("uniform").labels == mdp.with_start(1).labels == mdp.labels
    assert bm.as_mdp(mdp.under([0, 0])).labels == mdp.labels
    assert mdp == bm.MDP([STAY, GO], REWARDS, labels=[("a", "b"), "end"])
    assert mdp != bm.MDP([STAY, GO], REWARDS)
    with pytest.raises(InvalidChain, match="labels has 1 entries"):
        bm.MDP([STAY, GO], REWARDS, labels=["a"])

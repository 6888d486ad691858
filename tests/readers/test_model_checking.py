"""Choices become actions."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bisimetric.readers.model_checking import action_columns, mdp_of_choices, start_of


def test_choices_of_one_name_in_a_state_are_several_actions():
    """And those without a name are numbered, without clashes."""
    owner = np.array([0, 0, 0, 1, 1])
    columns, names = action_columns(owner, ["a", "a", None, "a#2", "a"])
    assert names == ("a", "a#2", "0")
    assert columns.tolist() == [0, 1, 2, 1, 0]
    assert action_columns(np.array([0, 0, 0]), ["a", "a#2", "a"])[1] == ("a", "a#2", "a#3")


def test_rows_go_to_their_states():
    """Actions that a state lacks are not available."""
    rows = sparse.csr_array([[0, 1.0], [1.0, 0], [0.5, 0.5]])
    mdp = mdp_of_choices(rows, np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([1.0, 2, 3]), actions=["a", "b"])
    assert mdp.available.tolist() == [[True, True], [False, True]]
    assert mdp.rewards.tolist() == [[1, 2], [0, 3]]
    assert mdp.transitions[1].toarray().tolist() == [[1, 0], [0.5, 0.5]]


def test_start():
    """No, one or several initial states."""
    assert start_of([], 3) is None
    assert start_of([2], 3) == 2
    assert np.asarray(start_of([0, 2], 4)).tolist() == [0.5, 0, 0.5, 0]

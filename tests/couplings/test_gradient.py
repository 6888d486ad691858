"""The arithmetic of derivatives, on small examples by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric._support.frozen import changed
from bisimetric.couplings.gradient import centred_rows, expected_after, refuse_infinite, start_potentials
from bisimetric.errors import InvalidProblem


def test_rows_have_mean_zero():
    """Each over its own support; rows without entries stay empty."""
    rows = centred_rows(np.array([1.0, 3.0, 5.0]), np.array([0, 2, 1]), np.array([0, 2, 2, 3]), (3, 3))
    assert rows.toarray().tolist() == [[-1, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert rows.nnz == 3


def test_starts_in_one_state_each():
    """The potentials are the distances from the other start."""
    value = np.array([[1.0, 2.0], [4.0, 8.0]])
    found = start_potentials(value, np.array([1.0, 0.0]), np.array([0.0, 1.0]), np.ones(1), np.zeros(1))
    assert found.source.tolist() == [0.0, 6.0]
    assert found.target.tolist() == [-1.0, 0.0]
    assert not found.tie


def test_how_many_pairs_tie():
    """In the singular and in the plural."""
    chain = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]], reward=[0, 1], start=0)
    plain = bm.distance(chain, chain.with_start(1), discount=0.5).gradient()
    for tied, starts, told in (
        ([[True, False], [False, False]], False, ": 1 pair ties"),
        ([[True, True], [False, False]], False, ": 2 pairs tie"),
        ([[True, False], [False, False]], True, ": 1 pair and the starts tie"),
        ([[False, False], [False, False]], True, ": the starts tie"),
    ):
        assert told in repr(changed(plain, tied=np.array(tied), starts_tie=starts))


def test_the_expected_distance_after_a_step():
    """For the occupancy of a coupling that moves from the first pair to the second and stays there."""
    moves, value = sparse.csr_array([[0.0, 1.0], [0.0, 1.0]]), np.array([[3.0, 7.0]])
    assert expected_after(moves, np.array([[0.5, 0.5]]), value) == pytest.approx(0.5 * 7.0 + 0.5 * 7.0)


def test_distances_that_are_not_known_do_not_count_where_nobody_comes():
    """Distances of pairs that the start does not lead to may be missing."""
    moves, value = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]]), np.array([[3.0, np.nan]])
    assert expected_after(moves, np.array([[1.0, 0.0]]), value) == 3.0


def test_numbers_out_of_range():
    """Are refused, wherever they are."""
    refuse_infinite(1.0, np.ones(2))
    for slope, part in ((np.inf, np.ones(2)), (1.0, np.array([np.nan]))):
        with pytest.raises(InvalidProblem, match="overflow"):
            refuse_infinite(slope, part)

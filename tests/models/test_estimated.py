"""Chains with the counts that they were estimated from."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric.models.estimated import EstimatedChain, SequenceCounts

NAMES = ("home", "cart", "paid")


def counted(*, reward=None):
    """Three sequences over home, cart, paid; nobody leaves paid."""
    visits = None if reward is None else sparse.csr_array(np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]]))
    return SequenceCounts(
        3,
        np.array([0, 1, 0]),
        np.array([1, 0, 2]),
        np.array([0, 0, 1]),
        sparse.csr_array(np.array([[2, 1, 0], [1, 1, 1], [0, 1, 1]])),
        None if reward is None else sparse.csr_array(np.array(reward, float)),
        visits,
    )


def test_rows_are_shares_of_counts():
    """Counts, visits, starts and rows agree."""
    chain = EstimatedChain(counted(), NAMES)
    assert chain.counts.toarray().tolist() == [[0, 3, 2], [3, 0, 0], [0, 0, 0]]
    assert chain.counts.dtype == np.int64
    assert chain.visits.tolist() == [5, 3, 0]
    assert chain.start_counts.tolist() == [2, 1, 0]
    assert (chain.n_sequences, chain.n_transitions, chain.n_seen_once) == (3, 8, 0)
    assert np.allclose(chain.transitions.toarray(), [[0, 0.6, 0.4], [1, 0, 0], [0, 0, 1]])
    assert np.allclose(chain.start, [2 / 3, 1 / 3, 0])
    assert chain.labels == NAMES


def test_a_state_that_is_never_left_is_absorbing_and_the_chain_says_so():
    """Marked, in the notes, and in the text of the chain."""
    chain = EstimatedChain(counted(), NAMES)
    assert chain.unseen.tolist() == [False, False, True]
    assert any("absorbing" in note for note in chain.notes)
    assert "never left" in repr(chain)


def test_dropping_leaves_out_states_and_the_transitions_into_them():
    """The rows of the others are shares of what is left."""
    chain = EstimatedChain(counted(), NAMES, rule="drop")
    assert chain.names == NAMES[:2]
    assert chain.counts.toarray().tolist() == [[0, 3], [3, 0]]
    assert any("dropped" in note for note in chain.notes)
    line = SequenceCounts(2, np.array([0]), np.array([1]), np.array([0]), sparse.csr_array([[1]]), None, None)
    with pytest.raises(bm.errors.InvalidChain, match="absorbing"):
        EstimatedChain(line, NAMES[:2], rule="drop")


def test_smoothing_adds_to_every_transition():
    """Rows without data become uniform; counts stay as they were seen."""
    chain = EstimatedChain(counted(), NAMES, rule="smoothing", smoothing=1.0)
    assert np.allclose(chain.transitions.toarray() * [[8], [6], [3]], [[1, 4, 3], [4, 1, 1], [1, 1, 1]])
    assert chain.counts.toarray()[2].sum() == 0
    assert chain.unseen[2]


def test_rewards_are_means_per_state():
    """Over all rows of a state in all sequences."""
    chain = EstimatedChain(counted(reward=[[1, 2, 0], [3, 2, 5], [0, 5, 7]]), NAMES)
    assert np.allclose(chain.reward, [2, 3, 6])


def test_it_is_a_chain_wherever_a_chain_is_taken():
    """Distances, pickles, other starts."""
    chain = EstimatedChain(counted(), NAMES)
    solution = bm.distance(chain, chain.with_start("cart"), discount=0.5, cost=bm.cost.label_mismatch)
    assert solution.distance > 0
    again = pickle.loads(pickle.dumps(chain))
    assert again == chain
    assert isinstance(again.with_start(0), EstimatedChain)
    assert again.sequences.totals(np.array([2, 0, 1])).counts.tolist() == [4, 3, 1]


def test_counts_as_a_frame():
    """By name."""
    assert EstimatedChain(counted(), NAMES).frame().loc["home", "paid"] == 2


def test_nothing_can_be_changed():
    """Counts are read-only, like all else in a chain."""
    chain = EstimatedChain(counted(), NAMES)
    with pytest.raises(ValueError, match="read-only"):
        chain.counts.data[0] = 7
    with pytest.raises(AttributeError):
        chain.notes = ()
    without = SequenceCounts(2, np.array([0]), np.array([1]), np.array([0]), sparse.csr_array([[0]]), None, None)
    with pytest.raises(bm.errors.InvalidChain, match="no transition"):
        EstimatedChain(without, NAMES[:2])

"""The validated, immutable chain."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import bisimetric as bm
from bisimetric.errors import BisimetricError, InvalidChain
from bisimetric.models.chain import state_index
from tests import strategies

HALF = [[0.5, 0.5], [0.0, 1.0]]


@given(strategies.chains(max_states=6, start=True))
def test_any_accepted_chain_is_exact(chain):
    """Rows and start sum to one without rounding, and no zero is stored."""
    transitions = chain.transitions
    assert (transitions.toarray().sum(axis=1) == 1.0).all()
    assert (transitions.data > 0).all()
    assert transitions.has_canonical_format
    assert chain.start.sum() == 1.0
    assert transitions.shape == (chain.n_states,) * 2


@pytest.mark.parametrize(
    "form",
    [
        list,
        np.asarray,
        np.asfortranarray,
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_array,
        sparse.lil_array,
        sparse.csr_matrix,
        lambda a: strategies.stored_with_zeros(np.asarray(a)),
    ],
)
def test_every_form_gives_the_same_chain(form):
    """Dense or sparse of any kind, with zeros stored or not."""
    assert bm.MarkovChain(form(HALF)).transitions.toarray().tolist() == HALF


def test_whole_numbers_and_truth_values_are_probabilities():
    """A permutation matrix of ints or bools is a chain."""
    for dtype in (int, bool, np.uint8):
        assert bm.MarkovChain(np.eye(3, dtype=dtype)).transitions.nnz == 3


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([[0.5, 0.4], [0, 1]], r"MarkovChain\.normalised"),
        ([[0.5, 0.5], [0, 0]], "row 1 of transitions sums to 0"),
        ([[1.5, -0.5], [0, 1]], r"transitions\[0, 1\] is -0\.5"),
        ([[np.nan, 1], [0, 1]], r"transitions\[0, 0\] is nan"),
        ([[0, np.inf], [0, 1]], r"transitions\[0, 1\] is inf"),
        ([[1e308, 1e308], [0, 1]], "sums to inf"),
        ([[0.5, 0.5]], r"shape \(1, 2\)"),
        (np.ones((2, 1)), r"shape \(2, 1\)"),
        ([0.5, 0.5], r"shape \(2,\)"),
        (np.ones((1, 1, 1)), r"shape \(1, 1, 1\)"),
        (np.zeros((0, 0)), "empty"),
        (sparse.csr_array((0, 0)), "empty"),
        ([], "expected 2 dimension"),
        (None, "dtype object"),
        ("four", "dtype"),
        (sparse.csr_array((2, 2)), "row 0 of transitions sums to 0"),
    ],
)
def test_what_is_not_a_chain(matrix, message):
    """Every refusal says where and what."""
    with pytest.raises(InvalidChain, match=message):
        bm.MarkovChain(matrix)


def test_errors_are_value_errors_too():
    """Callers who know nothing of this package can still catch them."""
    assert issubclass(InvalidChain, ValueError)
    assert issubclass(InvalidChain, BisimetricError)


def test_nothing_can_be_changed():
    """Attributes and arrays are read-only."""
    chain = bm.MarkovChain(HALF, reward=[0, 1], start=0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        chain.reward = None
    for array in (chain.transitions.data, chain.transitions.indices, chain.reward, chain.start, chain.row_error):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": [1.0]}, "reward has 1 entries"),
        ({"reward": [1.0, np.nan]}, r"reward\[1\] is nan"),
        ({"reward": [1j, 0]}, "dtype complex"),
        ({"reward": ["a", "b"]}, "dtype <U1"),
        ({"reward": [[1.0, 2.0]]}, "expected 1 dimension"),
        ({"start": 2}, "state 2 is out of range"),
        ({"start": -1}, "state -1 is out of range"),
        ({"start": True}, "is a bool"),
        ({"start": 0.5}, "is a float"),
        ({"start": "nowhere"}, "'nowhere' is unknown"),
        ({"start": "--1"}, "'--1' is unknown"),
        ({"start": "²"}, "'²' is unknown"),
        ({"start": "9" * 5000}, "is unknown|out of range"),
        ({"start": [0.5, 0.4]}, r"start sums to 0\.9"),
        ({"start": [1.5, -0.5]}, r"start\[0, 1\] is -0\.5"),
        ({"start": [1.0]}, "start has 1 entries"),
        ({"start": [[1], [1, 2]]}, "ragged"),
        ({"names": "ab"}, "names is 'ab'"),
        ({"names": 5}, "names is 5"),
        ({"names": ["a"]}, "names has 1 entries"),
        ({"names": ["a", "a"]}, "'a' occurs twice"),
        ({"names": ["a", 1]}, r"names\[1\] is 1"),
        ({"labels": "ab"}, "labels is 'ab'"),
        ({"labels": ["a"]}, "labels has 1 entries"),
        ({"labels": ["a", None]}, r"labels\[1\] is None"),
        ({"labels": ["a", float("nan")]}, r"labels\[1\] is NaN"),
        ({"labels": ["a", [[1], [2]]]}, r"labels\[1\]"),
    ],
)
def test_what_does_not_fit_the_states(options, message):
    """Rewards, starts, names and labels of the wrong length, kind or range."""
    with pytest.raises(InvalidChain, match=message):
        bm.MarkovChain(HALF, **options)


def test_starts_by_index_name_or_law():
    """All of them become a distribution; a name that looks like a number wins over the index."""
    names = ["1", "b"]
    for start in (1, np.int64(1), "b", [0.0, 1.0]):
        assert bm.MarkovChain(HALF, start=start, names=names).start.tolist() == [0.0, 1.0]
    assert bm.MarkovChain(HALF, start="1", names=names).start.tolist() == [1.0, 0.0]
    assert bm.MarkovChain(HALF, start="1").start.tolist() == [0.0, 1.0]


def test_with_start_changes_the_start_only():
    """The matrix is shared, the original keeps its start."""
    chain = bm.MarkovChain(HALF, reward=[0, 1], names=["a", "b"], labels=[1, 2], start=0)
    other = chain.with_start("b")
    assert other.start.tolist() == [0.0, 1.0]
    assert chain.start.tolist() == [1.0, 0.0]
    assert other.transitions.data is chain.transitions.data
    assert (other.names, other.labels, other.reward) == (chain.names, chain.labels, chain.reward)
    with pytest.raises(InvalidChain):
        chain.with_start("c")


def test_normalised_rescales_rows():
    """Counts of any size, row by row; the rest of the checks stay."""
    chain = bm.MarkovChain.normalised([[3, 1], [0, 7]], reward=[1, 2], start="b", names=["a", "b"], labels=["x", "y"])
    assert chain.transitions.toarray().tolist() == [[0.75, 0.25], [0.0, 1.0]]
    assert chain.start.tolist() == [0.0, 1.0]
    assert chain.labels == ("x", "y")
    extreme = bm.MarkovChain.normalised([[1e300, 0, 1e300], [1e-300, 1e-300, 0], [0, 0, 1.7e308]])
    assert extreme.transitions.toarray().tolist() == [[0.5, 0, 0.5], [0.5, 0.5, 0], [0, 0, 1]]
    for bad, message in (
        ([[1, 0], [0, 0]], "row 1 .*all zero"),
        ([[2, -1], [0, 1]], "is -1"),
        (np.zeros((2, 2)), "row 0"),
    ):
        with pytest.raises(InvalidChain, match=message):
            bm.MarkovChain.normalised(bad)


def test_equal_sets_are_one_label():
    """Python's equality decides: 1 is True, and 1e16 is 10**16, inside a set as outside."""
    chain = bm.MarkovChain(np.eye(4), labels=[{True, "T"}, {1, "T"}, {1e16, 15}, {10**16, 15}])
    assert chain.labels[0] == chain.labels[1]
    assert chain.labels[2] == chain.labels[3]
    assert bm.bisimilar_classes(chain).tolist() == [0, 0, 1, 1]
    assert bm.cost.label_mismatch(chain, chain)[0].tolist() == [0, 0, 1, 1]
    with pytest.raises(InvalidChain, match=r"labels\[0\]"):
        bm.MarkovChain([[1.0]], labels=[{("a", "b"), 1}])


def test_labels_become_plain_values():
    """Sets are sorted, arrays and lists become tuples, numpy scalars plain numbers."""
    chain = bm.MarkovChain(np.eye(4), labels=[{"b", "a"}, np.array([1.0, 2.0]), np.int64(3), "x"])
    assert chain.labels == (("a", "b"), (1.0, 2.0), 3, "x")
    assert type(chain.labels[2]) is int


def test_successors_and_names():
    """Successors ascend; states without names are called by their index."""
    chain = bm.MarkovChain([[0.5, 0, 0.5], [0, 1, 0], [1, 0, 0]], names=["a", "b", "c"])
    assert chain.successors(0).tolist() == [0, 2]
    assert chain.name_of(1) == "b"
    assert bm.MarkovChain([[1]]).name_of(0) == "0"
    assert state_index("c", 3, chain.names) == 2


def test_texts():
    """repr counts."""
    chain = bm.MarkovChain(HALF, reward=[0, 1], start=0)
    assert repr(chain) == "MarkovChain(2 states, 3 transitions, reward, start)"


def test_a_text_is_the_set_that_holds_it_alone():
    """So a model equals what comes back from a file of a model checker, and is at distance zero from it."""
    rows = [[0.5, 0.5, 0], [0, 1, 0], [0, 0, 1]]
    texts, sets = (bm.MarkovChain(rows, labels=labels) for labels in (["", "a", "b"], [(), {"a"}, ["b"]]))
    assert texts == sets
    assert hash(texts) == hash(sets)
    assert texts.labels == ("", "a", "b")
    assert texts != bm.MarkovChain(rows, labels=["", "a", ("b", "c")])
    assert bm.MDP([rows], [[0]] * 3, labels=texts.labels) == bm.MDP([rows], [[0]] * 3, labels=sets.labels)
    for cost in (bm.cost.label_mismatch, bm.cost.label_difference, bm.cost.label_jaccard):
        assert not np.diagonal(bm.distance(texts, sets, discount=0.5, cost=cost).value).any()
    assert not np.diagonal(bm.bisimilarity_distance(texts, sets).value).any()
    mixed = bm.MarkovChain(np.eye(4), labels=["", (), "a", ("a",)])
    assert bm.bisimilar_classes(mixed).tolist() == [0, 0, 1, 1]

"""Partition refinement against the naive fixed point, in every mode of the kernels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from bisimetric.models import partition
from bisimetric.models.partition import Moves, refine
from tests import reference, strategies

pytestmark = pytest.mark.kernels


def moves(matrix, per_state=1):
    """The rows of a dense matrix."""
    rows = sparse.csr_array(matrix)
    return Moves(rows.indptr, rows.indices, rows.data, per_state)


def classes_of(matrix, groups, tol=0.0, **options):
    return refine(moves(matrix), np.asarray(groups, np.int64), tol, **options).tolist()


@given(st.data())
def test_is_the_naive_partition(data):
    """With tol=0, on chains with ties, zeros and probabilities of any size."""
    chain = data.draw(strategies.chains(max_states=7))
    n = chain.n_states
    groups = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    matrix = chain.transitions.toarray()
    assert classes_of(matrix, groups) == reference.bisimilarity(matrix, groups)


@given(st.data())
def test_several_rows_per_state(data):
    """States of a class agree in each of their rows, as a decision process needs."""
    n, actions = data.draw(st.integers(1, 5)), data.draw(st.integers(2, 3))
    rows = np.array([[data.draw(strategies.tied_rows(n)) for _ in range(actions)] for _ in range(n)])
    groups = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    rows = np.round(rows * 2**20) / 2**20  # sums are exact
    found = refine(moves(rows.reshape(n * actions, n), actions), groups, 0.0)
    assert found.tolist() == reference.bisimilarity(rows, groups.tolist())


def test_the_largest_part_is_settled_by_the_others():
    """A block in three parts, two of which are splitters; numbers of groups may have gaps."""
    matrix = np.zeros((9, 9))
    matrix[range(9), [8, 8, 7, 7, 6, 6, 6, 7, 8]] = 1.0
    groups = [0, 0, 0, 0, 0, 0, 5, 3, 9]
    assert classes_of(matrix, groups) == [0, 0, 1, 1, 2, 2, 3, 4, 5] == reference.bisimilarity(matrix, groups)


def test_sorting():
    """Many different sums, a majority among them, in one block."""
    random = np.random.default_rng(3)
    sums = np.concatenate([random.integers(1, 60, 40), np.full(50, 30)]) / 64
    random.shuffle(sums)
    n = len(sums)
    matrix = np.zeros((n + 2, n + 2))
    matrix[:n, n], matrix[:n, n + 1] = sums, 1 - sums
    matrix[n, n] = matrix[n + 1, n + 1] = 1.0
    groups = [0] * n + [1, 2]
    assert classes_of(matrix, groups) == reference.bisimilarity(matrix, groups)


def test_slices_change_nothing(monkeypatch):
    """One splitter per call gives the same partition as all at once."""
    random = np.random.default_rng(5)
    matrix = np.eye(30)[random.integers(0, 30, 30)] * 0.5 + np.eye(30)[random.integers(0, 30, 30)] * 0.5
    groups = random.integers(0, 2, 30)
    whole = classes_of(matrix, groups)
    monkeypatch.setattr(partition, "ARCS_AT_ONCE", 1)
    assert classes_of(matrix, groups) == whole == reference.bisimilarity(matrix, groups.tolist())


def test_a_limit_on_classes():
    """None as soon as there are more, the partition if there are not."""
    path = np.eye(6)[[1, 2, 3, 4, 5, 5]]
    groups = np.array([0, 0, 0, 0, 0, 1])
    assert refine(moves(path), groups, 0.0, 5) is None
    assert refine(moves(path), groups, 0.0, 6).tolist() == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize(("tol", "expected"), [(0.011, [0, 0, 0, 1, 2]), (0.005, [0, 1, 2, 3, 4])])
def test_gaps_decide(tol, expected):
    """Sums 0.50, 0.51, 0.52 hang together at a tolerance of 0.011, though the first and the last differ by more."""
    matrix = np.array([[0, 0, 0, p, 1 - p] for p in (0.5, 0.51, 0.52)] + [[0, 0, 0, 1, 0], [0, 0, 0, 0, 1]])
    assert classes_of(matrix, [0, 0, 0, 1, 2], tol) == expected


def test_stable_in_the_end():
    """No gap above tol into any class that is left, also where differences of sums add up to more than tol."""
    random = np.random.default_rng(11)
    tol = 0.02
    for _ in range(30):
        weights = random.integers(0, 3, (12, 12)) + random.normal(0, 0.05, (12, 12)).clip(0)
        weights[:, 0] += 1
        matrix = weights / weights.sum(axis=1, keepdims=True)
        classes = np.array(classes_of(matrix, random.integers(0, 2, 12), tol))
        into = np.array([matrix[:, classes == k].sum(axis=1) for k in range(classes.max() + 1)])
        for k in range(classes.max() + 1):
            assert (np.diff(np.sort(into[:, classes == k], axis=1), axis=1) <= tol * (1 + 1e-9)).all()

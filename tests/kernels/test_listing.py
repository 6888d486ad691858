"""Vectors over listed pairs: numbers, gathering, spreading and reaching."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import bisimetric as bm
from bisimetric import kernels
from bisimetric.operators.bellman import Bellman, as_rows

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("n", [2, 3, 6, 7])
def test_half_of_the_pairs_have_numbers(n):
    """One of (x, y) and (y, x) is listed; both have its number, all numbers occur, equal states have none."""
    chain = bm.MarkovChain(np.eye(n) / 2 + np.roll(np.eye(n), 1, axis=1) / 2, reward=np.arange(n))
    pairs = Bellman.on_open_pairs(bm.Problem(chain, chain, discount=0.5)).pairs
    x, y = (part.ravel() for part in np.indices((n, n)))
    found = np.empty(n * n, np.int64)
    kernels.listing.numbers(x, y, pairs.listed, n, found)
    table = found.reshape(n, n)
    assert np.array_equal(table, table.T)
    assert (np.diag(table) == -1).all()
    assert sorted(set(found.tolist())) == list(range(-1, n * (n - 1) // 2))


def test_gathering_and_spreading():
    """A vector over listed pairs goes to a matrix and back; other entries are kept."""
    problem = bm.Problem(
        bm.MarkovChain(np.full((4, 4), 0.25)),
        bm.MarkovChain(np.full((3, 3), 1 / 3)),
        discount=0.5,
        cost=np.ones((4, 3)),
        stop=np.arange(12).reshape(4, 3) % 2 == 0,
    )
    pairs = Bellman.on_open_pairs(problem).pairs
    matrix = np.arange(12.0).reshape(4, 3)
    vector = np.empty(pairs.size)
    kernels.listing.gather(0, 4, pairs.listed, matrix, vector)
    assert vector.tolist() == matrix[~problem.stop].tolist()
    other = np.full((4, 3), -1.0)
    kernels.listing.spread(0, 4, pairs.listed, vector, other)
    assert np.array_equal(other, np.where(problem.stop, -1.0, matrix))


def test_reaching():
    """All pairs that follow, and none behind a stop."""
    rows = as_rows(bm.MarkovChain(np.roll(np.eye(4), 1, axis=1)).transitions)
    for stop, reached in ((np.zeros((0, 0), np.bool_), 4), (np.eye(4, k=0)[[0, 1, 2, 3]] > 1, 4)):
        seen, queue = np.zeros((4, 4), np.bool_), np.zeros(16, np.int64)
        seen[0, 0] = True
        begin, filled = kernels.listing.reach(0, queue, 1, stop, rows, rows, seen)
        assert begin == filled == reached
        assert np.array_equal(seen, np.eye(4, dtype=np.bool_))
    stop = np.zeros((4, 4), np.bool_)
    stop[1, 1] = True
    seen = np.zeros((4, 4), np.bool_)
    seen[0, 0] = True
    kernels.listing.reach(0, np.zeros(16, np.int64), 1, stop, rows, rows, seen)
    assert np.flatnonzero(seen).tolist() == [0, 5]


@pytest.mark.parametrize("seed", range(3))
def test_following_moves(seed):
    """All states that paths from the first ones lead to."""
    random = np.random.default_rng(seed)
    moves = random.random((30, 30)) < 1.2 / 30
    rows = sparse.csr_array(moves.astype(float))
    seen, queue = np.zeros(30, np.bool_), np.empty(30, np.int64)
    seen[:2] = True
    kernels.listing.follow(rows.indptr, rows.indices, seen, queue)
    reach = np.linalg.matrix_power(np.eye(30) + moves, 30) > 0
    assert np.flatnonzero(seen).tolist() == np.flatnonzero(reach[:2].any(axis=0)).tolist()

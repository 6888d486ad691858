"""Walks as arrays: large and small weights, and the law that a walk keeps."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bisimetric.errors import InvalidChain, NotEnoughMemory
from bisimetric.models.rows import scaled_rows
from bisimetric.readers.walks import jumps, mixed_walk, sinks_of, stationary


def test_sinks():
    """States without outgoing weight, stored or not."""
    weights = sparse.csr_array(([1.0, 0.0], ([0, 1], [1, 1])), shape=(3, 3))
    assert sinks_of(weights).tolist() == [False, True, True]


def test_mixed_walks():
    """A share of one, the rest of the other."""
    one, other = sparse.csr_array(np.eye(2)), sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])
    assert mixed_walk(one, other, 0.25).toarray().tolist() == [[0.75, 0.25], [0.25, 0.75]]


def test_the_law_that_a_walk_keeps():
    """Against powers of the matrix; periodic and absorbing walks have one too."""
    rows = np.random.default_rng(0).dirichlet(np.ones(6), 6)
    law = stationary(sparse.csr_array(rows))
    np.testing.assert_allclose(law, np.linalg.matrix_power(rows, 200)[0], atol=1e-14)
    assert stationary(sparse.csr_array([[0.0, 1.0], [1.0, 0.0]])).tolist() == [0.5, 0.5]
    assert stationary(sparse.csr_array([[0.5, 0.5], [0.0, 1.0]])).tolist() == [0.0, 1.0]
    nearly = sparse.csr_array([[1 - 1e-12, 1e-12], [3e-12, 1 - 3e-12]])
    np.testing.assert_allclose(stationary(nearly), [0.75, 0.25], rtol=1e-3)
    with pytest.raises(InvalidChain, match="2 parts that it never leaves"):
        stationary(sparse.csr_array(np.eye(2)))


@pytest.mark.parametrize("neighbours", [1, 4])
def test_the_law_of_a_large_walk(neighbours):
    """Walking finds it on a random graph, elimination on a ring, where walks forget slowly."""
    n = 3000
    random = np.random.default_rng(1)
    ring = sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    ways = sparse.csr_array((np.ones(4 * n), (np.repeat(np.arange(n), 4), random.integers(0, n, 4 * n))), shape=(n, n))
    back = sparse.diags_array(random.random(n)) @ ring.T
    moves = scaled_rows(sparse.csr_array(ring + (ways if neighbours > 1 else back)))
    law = stationary(moves)
    assert law.min() >= 0.0
    assert law.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(moves.T @ law, law, atol=1e-13)


def test_jumps_to_many_states(free_memory):
    """The memory is estimated before."""
    assert jumps(np.array([0.5, 0.0]), np.array([0.25, 0.75])).toarray().tolist() == [[0.125, 0.375], [0.0, 0.0]]
    free_memory(1000)
    with pytest.raises(NotEnoughMemory, match="start at a node"):
        jumps(np.ones(5000), np.full(5000, 1 / 5000))

"""Occupancies by two triangles."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bisimetric.linear.krylov import MAX_PRODUCTS
from bisimetric.linear.splitting import Split

SIZE = 200
ALL = np.arange(SIZE)


def random_moves(seed):
    """About four successors each."""
    random = np.random.default_rng(seed)
    dense = random.random((SIZE, SIZE)) * (random.random((SIZE, SIZE)) < 4 / SIZE) + 0.1 * np.eye(SIZE)
    return sparse.csr_array(dense / dense.sum(axis=1, keepdims=True))


def ring():
    """One after the other, and round."""
    return sparse.csr_array((np.ones(SIZE), ((ALL), (ALL + 1) % SIZE)), shape=(SIZE, SIZE))


@pytest.mark.parametrize("discount", [0.5, 0.99, 0.99999])
@pytest.mark.parametrize("moves", [random_moves(0), random_moves(1), ring()], ids=["random", "other", "ring"])
def test_from_one_state(moves, discount):
    """ν = b + γΠᵀν after few products, also where each step leads to one state only."""
    b = np.zeros(SIZE)
    b[SIZE // 2] = 1.0 - discount
    target = 1e-14
    solved = Split.of(moves, ALL, discount).solve(b, target)
    assert np.abs(b + discount * (moves.T @ solved.x) - solved.x).sum() <= 3 * target
    assert solved.x.sum() == pytest.approx(1.0, abs=1e-8)
    assert solved.products <= 40


def test_sweeps():
    """b + γΠᵀν, and how much that differs from ν."""
    moves, random = random_moves(2), np.random.default_rng(3)
    b, law = random.random(SIZE), random.random(SIZE)
    after, change = Split.of(moves, ALL, 0.9).sweep(b, law)
    np.testing.assert_allclose(after, b + 0.9 * (moves.T @ law))
    assert change == pytest.approx(np.abs(after - law).sum())


def test_a_search_ends():
    """On a ring in random order BiCGSTAB gets nowhere, and stops."""
    order = np.random.default_rng(4).permutation(SIZE)
    moves = ring()[order][:, order]
    b = np.zeros(SIZE)
    b[0] = 1e-4
    assert Split.of(sparse.csr_array(moves), ALL, 0.9999).solve(b, 1e-18).products <= MAX_PRODUCTS + 10

"""The arrays of kernels are laid out as their docstring says."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.kernels import layout
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import new_trees, tree_begins

pytestmark = pytest.mark.kernels


def test_trees_follow_one_another_without_an_index():
    """The tree of (x, y) has S_x + S_y - 1 arcs and begins at offset[x] + y·(S_x - 1) + Q.indptr[y]."""
    random = np.random.default_rng(0)
    chains = []
    for n in (5, 4):
        matrix = random.random((n, n)) * (random.random((n, n)) < 0.6) + np.eye(n)
        chains.append(bm.MarkovChain(matrix / matrix.sum(axis=1, keepdims=True)))
    bellman = Bellman.of(bm.Problem(*chains, discount=0.5, cost=random.random((5, 4))))
    trees = new_trees(bellman)
    sizes = [np.diff(chain.transitions.indptr) for chain in chains]
    arcs = np.add.outer(*sizes) - 1
    begins = [
        int(trees.offset[x]) + y * (int(sizes[0][x]) - 1) + int(bellman.target.indptr[y])
        for x in range(5)
        for y in range(4)
    ]
    assert begins == (np.cumsum(arcs.ravel()) - arcs.ravel()).tolist()
    assert np.array_equal(tree_begins(bellman, trees), begins)
    assert len(trees.code) == arcs.sum()


def test_indices_are_unsigned():
    """numba tests other indices for being negative."""
    assert np.dtype(layout.Index).kind == "u"


def test_sums_that_share_a_kernel_do_not_underflow():
    """Terms that exp gives up, times the largest weight, change no digit of the smallest sum."""
    given_up = np.exp(-708.0) * np.exp(layout.SPAN / 2)
    assert given_up < np.finfo(float).eps * layout.SMALLEST

"""The arrays of many problems are those of each, one after the other."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.side_by_side import SideBySide
from bisimetric.operators.trees import new_trees
from bisimetric.problems.side_by_side import ManyProblems

RANDOM = np.random.default_rng(3)


def chain(n):
    """A random chain in which some moves are impossible."""
    rows = RANDOM.random((n, n)) * (RANDOM.random((n, n)) < 0.7) + np.eye(n)
    return bm.MarkovChain.normalised(rows, reward=RANDOM.integers(0, 5, n))


def make(*pairs, **options):
    """The operators of problems between these chains."""
    return [bm.Problem(source, target, discount=0.9, **options) for source, target in pairs]


def test_chains_are_stored_once():
    """Problems refer to them by number; rows, costs and scales are those of each problem's own operator."""
    a, b, c = chain(3), chain(4), chain(2)
    parts = make((a, b), (b, a), (c, c), (a, c))
    operator = SideBySide.of(ManyProblems(parts))
    arrays, rows = operator.arrays, operator.arrays.chains
    assert list(operator.chains) == [a, b, c]
    assert arrays.source.tolist() == [0, 1, 2, 0]
    assert arrays.target.tolist() == [1, 0, 2, 2]
    assert operator.counts.tolist() == [12, 12, 4, 6]
    x, y = operator.rows_of_pairs
    for k, part in enumerate(parts):
        bellman = Bellman.of(part)
        here = slice(arrays.pair_at[k], arrays.pair_at[k + 1])
        assert arrays.scale[k] == bellman.scale
        np.testing.assert_array_equal(arrays.cost[here], part.cost.ravel())
        sizes = np.array([rows.indptr[row + 1] - rows.indptr[row] for row in (x[here], y[here])])
        np.testing.assert_array_equal(sizes[0], np.repeat(bellman.sizes[0], part.shape[1]))
        np.testing.assert_array_equal(sizes[1], np.tile(bellman.sizes[1], part.shape[0]))
        assert arrays.cell_at[k + 1] - arrays.cell_at[k] == new_trees(bellman).code.size


def test_mirrors_belong_to_chains_against_themselves():
    """The pair (y, x) of (x, y); a pair of other problems is its own."""
    a, b = chain(3), chain(3)
    operator = SideBySide.of(ManyProblems(make((a, b), (a, a))))
    first, second = operator.mirror.reshape(2, 3, 3)
    np.testing.assert_array_equal(first, np.arange(9).reshape(3, 3))
    np.testing.assert_array_equal(second, np.arange(9, 18).reshape(3, 3).T)
    assert not SideBySide.of(ManyProblems(make((a, b)))).mirror.size


@pytest.mark.parametrize("threads", ["1", "2"])
def test_trees_are_read_as_those_of_one_problem(threads, monkeypatch):
    """All couplings and potentials together are those of one problem's witness after the other's."""
    monkeypatch.setenv("BISIMETRIC_THREADS", threads)
    chains = [chain(3 + k % 2) for k in range(80)]
    parts = make(*zip(chains, reversed(chains), strict=True))
    operator = SideBySide.of(ManyProblems(parts))
    trees = operator.solve(1e-10)
    cells = operator.cells(trees)
    for k in (0, 41, 79):
        own = operator.witness(k, parts[k], trees).cells(0, parts[k].cost.size)
        first, last = operator.arrays.pair_at[k], operator.arrays.pair_at[k + 1]
        here, there = slice(*cells.indptr[[first, last]]), slice(*cells.start[[first, last]])
        np.testing.assert_array_equal(own.left, cells.left[here])
        np.testing.assert_array_equal(own.right, cells.right[here])
        np.testing.assert_array_equal(own.weight, cells.weight[here])
        np.testing.assert_array_equal(own.potential, cells.potential[there])

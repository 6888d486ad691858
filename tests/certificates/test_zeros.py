"""Pairs that are proved to be at distance zero."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates.check import check
from bisimetric.certificates.zeros import closed_subset
from bisimetric.couplings.witness import IndependentWitness
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness, new_trees


@pytest.mark.parametrize("cells_per_pair", [1, 2**15, 2**20], ids=["all at once", "few at once", "row by row"])
@pytest.mark.parametrize("seed", range(8))
def test_closed_subset_is_the_largest_fixpoint(seed, cells_per_pair):
    """Against dropping, again and again, every candidate with a successor outside; on random graphs."""
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(2, 7, 2))
    size = shape[0] * shape[1]
    candidate = random.random(shape) < 0.8
    heads = [random.choice(size, random.integers(0, 3), replace=False) for _ in range(size)]
    if seed % 2:
        heads[random.integers(size)] = np.array([size])  # a pair outside

    def coupled(pairs):
        assert (np.diff(pairs) > 0).all()
        return np.array([len(heads[pair]) for pair in pairs]), np.concatenate([heads[pair] for pair in pairs])

    expected = set(np.flatnonzero(candidate).tolist())
    while outside := {pair for pair in expected if not set(heads[pair].tolist()) <= expected}:
        expected -= outside
    found = closed_subset(candidate, coupled, cells_per_pair)
    assert found.shape == shape
    assert set(np.flatnonzero(found).tolist()) == expected


def test_zeros_need_a_coupling_that_stays_among_zeros():
    """The independent coupling of two equal fair coins leads to pairs that cost; the diagonal one does not."""
    coin = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1])
    problem = bm.Problem(coin, coin, discount=0.5)
    bellman = Bellman.of(problem)
    truth = np.array([[0.0, 1.0], [1.0, 0.0]])
    independent = check(problem, bellman, truth * bellman.scale, IndependentWitness(bellman))
    assert independent.upper[0, 0] > 0
    trees = new_trees(bellman)
    bellman.improve(truth * bellman.scale, trees, cold=True)
    diagonal = check(problem, bellman, truth * bellman.scale, TreeWitness(bellman, truth * bellman.scale, trees))
    assert diagonal.upper[0, 0] == diagonal.lower[0, 0] == diagonal.value[0, 0] == 0.0


def test_tiny_but_positive_is_not_zero():
    """A pair that costs nothing now and 1e-12 later is not proved zero."""
    chain = bm.MarkovChain([[1 - 1e-12, 1e-12, 0], [0, 1, 0], [0, 0, 1]], reward=[0, 1, 0])
    solution = bm.solve(bm.Problem(chain, chain, discount=0.5))
    assert solution.upper[0, 2] > 0
    assert solution.upper[0, 0] == solution.upper[2, 2] == 0.0

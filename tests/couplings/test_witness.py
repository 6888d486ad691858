"""Witnesses: any range of pairs, whoever holds the couplings."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.couplings.witness import IndependentWitness, StoredWitness
from bisimetric.operators.bellman import Bellman


def test_witnesses_hand_out_any_range():
    """Any cut of the pairs gives the same cells, for computed and for stored witnesses."""
    random = np.random.default_rng(1)
    source, target = (bm.MarkovChain(random.dirichlet(np.ones(k), k)) for k in (3, 4))
    problem = bm.Problem(source, target, discount=0.9, cost=random.random((3, 4)))
    trees = bm.solve(problem)._proof.witness
    independent = IndependentWitness(Bellman.of(problem))
    for witness in (trees, independent, StoredWitness(trees.cells(0, 12)), StoredWitness(independent.cells(0, 12))):
        whole = witness.cells(0, 12)
        assert np.diff(whole.indptr).max() <= witness.cells_per_pair
        for first, last in ((0, 5), (5, 12), (11, 12)):
            part = witness.cells(first, last)
            a, b = whole.indptr[first], whole.indptr[last]
            c, d = whole.start[first], whole.start[last]
            assert np.array_equal(part.indptr, whole.indptr[first : last + 1] - a)
            assert np.array_equal(part.start, whole.start[first : last + 1] - c)
            for name in ("left", "right", "weight"):
                assert np.array_equal(getattr(part, name), getattr(whole, name)[a:b])
            assert np.array_equal(part.potential, whole.potential[c:d])

"""Sums of potentials over pairs, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.operators.bellman import as_rows

pytestmark = pytest.mark.kernels


def test_potential_sums():
    """Σ ν f and Σ ν g with mean zero, and which pairs tie."""
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(3), 3)) for _ in range(2)]
    solution = bm.solve(bm.Problem(*chains, discount=0.8, cost=random.random((3, 3))))
    proof = solution._proof
    rows = [as_rows(chain.transitions) for chain in chains]
    visits = random.random(9)
    source, target, tied = np.zeros(9), np.zeros(9), np.ones(9, np.bool_)
    cells = proof.witness.cells(0, 9)
    at = np.arange(9)
    kernels.gradient.potential_sums(at // 3, at % 3, at, visits, proof.value, *rows, cells, 1e-9, source, target, tied)
    by_source, by_target = np.zeros((3, 3)), np.zeros((3, 3))
    for pair in range(9):
        x, y = divmod(pair, 3)
        f, g = (part * proof.scale for part in solution.potentials[x, y])
        by_source[x] += visits[pair] * (f - f.mean())
        by_target[y] += visits[pair] * (g - g.mean())
    np.testing.assert_allclose(source.reshape(3, 3), by_source, atol=1e-12)
    np.testing.assert_allclose(target.reshape(3, 3), by_target, atol=1e-12)
    assert not tied.any()
    kernels.gradient.potential_sums(at // 3, at % 3, at, visits, proof.value, *rows, cells, 10.0, source, target, tied)
    assert tied.all()

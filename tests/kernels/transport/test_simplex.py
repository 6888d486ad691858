"""Single transports: pivots from a cold and from a warm tree lead to an optimum and a sound tree."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.kernels.layout import FEW_CELLS
from bisimetric.operators.trees import TreeWitness
from tests import reference
from tests.kernels.transport.transport_samples import CASES, LARGE_CASES, PIVOTS, Instance, crowded, uniform, values

pytestmark = pytest.mark.kernels


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def instance(request):
    """Each of the fixed problems."""
    return Instance(*request.param)


def test_warm_sweeps_are_optimal(instance):
    """The same from the trees of another value, again and again; at the same value no pivot is left."""
    sequence = list(values(instance.bellman.shape))
    instance.improve(sequence[0], cold=True)
    for value in (*sequence[1:], sequence[0], -sequence[1] + 5.0):
        residual, _ = instance.improve(value, cold=False)
        np.testing.assert_allclose(residual, instance.expected(value), atol=1e-9)
        instance.check_trees()
        again, report = instance.improve(value, cold=False)
        np.testing.assert_allclose(again, residual, atol=1e-12)
        assert report[PIVOTS] == 0


def test_more_nodes_than_a_byte_holds():
    """Supports of 130 and 140 states need wide node numbers."""
    random = np.random.default_rng(4)
    instance = Instance(crowded(random.dirichlet(np.ones(130))), crowded(random.dirichlet(np.ones(140))))
    assert instance.trees.shift == 16
    value = random.random((130, 140))
    residual, _ = instance.improve(value, cold=True, first=0, last=1)
    b = instance.bellman
    P, Q = (chain.transitions.toarray()[0] for chain in (instance.problem.source, instance.problem.target))
    expected = b.scaled_cost()[0, 0] + 0.75 * reference.transport(P, Q, value) - value[0, 0]
    assert residual[0, 0] == pytest.approx(expected, abs=1e-9)
    flows = instance.flows(0, 0)
    assert min(flows) >= 0.0
    cells = TreeWitness(b, value, instance.trees).cells(0, 1)
    assert np.array_equal(np.bincount(cells.left, cells.weight, 130), P)
    assert np.array_equal(np.bincount(cells.right, cells.weight, 140), Q)


def test_both_ways_of_pricing_are_covered():
    """The cases lie on both sides of the size at which pricing changes."""
    sizes = [np.count_nonzero(P[0]) * np.count_nonzero(Q[0]) for P, Q in CASES.values()]
    assert min(sizes) < FEW_CELLS < max(sizes)
    assert all(np.count_nonzero(P[0]) * np.count_nonzero(Q[0]) > FEW_CELLS for P, Q in LARGE_CASES.values())


@pytest.mark.parametrize("seed", range(6))
def test_pivots_end_where_everything_ties(seed):
    """Whole-number values and uniform rows: many couplings are optimal, and none is visited for ever."""
    random = np.random.default_rng(seed)
    instance = Instance(uniform(8, 4), uniform(8, 8))
    for cold in (True, False, False):
        value = random.integers(0, 2, (8, 8)).astype(float)
        residual, report = instance.improve(value, cold=cold)
        np.testing.assert_allclose(residual, instance.expected(value), atol=1e-12)
        assert report[PIVOTS] < 50 * value.size
        instance.check_trees()

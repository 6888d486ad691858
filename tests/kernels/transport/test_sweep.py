"""Sweeps over all pairs on a fixed small set: also run as plain Python and with bounds checks (.ci/run)."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.operators.trees import TreeWitness
from tests.kernels.transport.transport_samples import (
    CASES,
    HIGHEST,
    LOWEST,
    PIVOTS,
    SMALL_CASES,
    Instance,
    random_matrix,
    uniform,
    values,
)

pytestmark = pytest.mark.kernels


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def instance(request):
    """Each of the fixed problems."""
    return Instance(*request.param)


def test_cold_sweeps_are_optimal(instance):
    """T V - V from new trees equals linear programs, for any value; the trees are sound."""
    for value in values(instance.bellman.shape):
        residual, report = instance.improve(value, cold=True)
        np.testing.assert_allclose(residual, instance.expected(value), atol=1e-9)
        assert report[LOWEST] == pytest.approx(residual.min(), abs=1e-12)
        assert report[HIGHEST] == residual.max()
        instance.check_trees()


def test_trees_read_back_are_couplings_and_potentials(instance):
    """read_trees gives exact marginals, and potentials that are feasible and tight where mass moves."""
    b, shape = instance.bellman, instance.bellman.shape
    value = list(values(shape))[1]
    instance.improve(value, cold=True)
    cells = TreeWitness(b, value, instance.trees).cells(0, value.size)
    for pair in range(value.size):
        x, y = divmod(pair, shape[1])
        xs = b.source.indices[b.source.indptr[x] : b.source.indptr[x + 1]]
        ys = b.target.indices[b.target.indptr[y] : b.target.indptr[y + 1]]
        inside = slice(cells.indptr[pair], cells.indptr[pair + 1])
        plan = np.zeros((len(xs), len(ys)))
        plan[cells.left[inside], cells.right[inside]] = cells.weight[inside]
        assert np.array_equal(plan.sum(axis=1), b.source.data[b.source.indptr[x] : b.source.indptr[x + 1]])
        assert np.array_equal(plan.sum(axis=0), b.target.data[b.target.indptr[y] : b.target.indptr[y + 1]])
        assert (cells.weight[inside] > 0).all()
        g = cells.potential[cells.start[pair] : cells.start[pair + 1]]
        local = value[np.ix_(xs, ys)]
        f = (local - g).min(axis=1)
        assert np.abs((local - f[:, None] - g)[plan > 0]).max() <= 1e-12


def test_stopped_pairs_are_left_alone():
    """No transport where the game stops: the residual is c - V, no cells, no potentials."""
    stop = np.array([[True, False], [False, True]])
    instance = Instance(uniform(2, 2), random_matrix(2, 1), stop)
    value = np.array([[1.0, 2.0], [3.0, 4.0]])
    residual, report = instance.improve(value, cold=True)
    np.testing.assert_allclose(residual, instance.expected(value), atol=1e-12)
    instance.check_trees()
    assert report[LOWEST] <= residual.min()
    cells = TreeWitness(instance.bellman, value, instance.trees).cells(0, 4)
    assert np.diff(cells.indptr).tolist()[::3] == [0, 0]
    assert not cells.potential[:2].any()


def test_copied_trees_are_as_good_as_new_ones():
    """Starting from the tree of a pair with the same probabilities gives the same transport, after fewer pivots."""
    value = list(values((5, 5)))[1]
    copied, fresh = (Instance(uniform(5, 3), uniform(5, 3)) for _ in range(2))
    one, report = copied.improve(value, cold=True)
    alone = [fresh.improve(value, cold=True, first=k, last=k + 1) for k in range(value.size)]
    other = np.nanmax([residual for residual, _ in alone], axis=0)
    np.testing.assert_allclose(one, other, atol=1e-12)
    assert report[PIVOTS] < sum(each[PIVOTS] for _, each in alone)
    copied.check_trees()


def test_ranges_touch_nothing_else():
    """A call on a range of pairs writes the residuals of that range only, whatever the cut."""
    P, Q = SMALL_CASES["no structure"]
    whole, parts = Instance(P, Q), Instance(P, Q)
    value = list(values((5, 4)))[1]
    expected, _ = whole.improve(value, cold=True)
    for first, last in ((0, 3), (3, 4), (4, 13), (13, 20)):
        residual, report = parts.improve(value, cold=True, first=first, last=last)
        assert np.isnan(np.delete(residual.ravel(), np.s_[first:last])).all()
        np.testing.assert_allclose(residual.ravel()[first:last], expected.ravel()[first:last], atol=1e-12)
        assert report[HIGHEST] == np.nanmax(residual)

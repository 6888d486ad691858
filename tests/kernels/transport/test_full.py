"""Sweeps over full rows on a fixed small set: also run as plain Python and with bounds checks (.ci/run)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from bisimetric import kernels
from bisimetric.operators import bellman
from bisimetric.operators.bellman import Bellman
from tests.kernels.transport.transport_samples import HIGHEST, LOWEST, Instance, random_matrix, rolled, uniform, values

pytestmark = pytest.mark.kernels

FULL_CASES = {
    "no structure": (random_matrix(6, 1), random_matrix(5, 2)),
    "more rows than columns": (random_matrix(9, 3), random_matrix(2, 4)),
    "more columns than rows": (random_matrix(2, 5), random_matrix(9, 6)),
    "fewer states than hubs": (random_matrix(3, 7), random_matrix(7, 8)),
    "far apart": (random_matrix(8, 9, 0.3), random_matrix(7, 10, 0.3)),
    "equal probabilities": (uniform(6, 6), uniform(4, 4)),
    "repeated sums": (rolled(np.repeat([1, 2, 4], 2) / 14), rolled(np.tile([1, 2, 4, 8], 2) / 30)),
    "the same rows": (np.tile(random_matrix(1, 11), (1, 1)), random_matrix(5, 12)),
}


class FullInstance(Instance):
    """A problem between chains with full rows."""

    def improve(self, value, *, cold, tol=None):
        """Residuals and report of one sweep."""
        residual = np.full(value.size, np.nan)
        tol = 1e-14 * np.abs(value).max() if tol is None else tol
        report = self.bellman._improve_full(value, self.trees, residual, tol, cold, 0, len(value))
        return residual.reshape(self.bellman.shape), report


@pytest.fixture(params=FULL_CASES.values(), ids=FULL_CASES.keys())
def instance(request):
    """Each of the fixed problems."""
    return FullInstance(*request.param)


def test_cold_sweeps_are_optimal(instance):
    """T V - V from new trees equals linear programs, for any value; the trees are sound."""
    for value in values(instance.bellman.shape):
        residual, report = instance.improve(value, cold=True)
        np.testing.assert_allclose(residual, instance.expected(value), atol=1e-9)
        assert report[LOWEST] == pytest.approx(residual.min(), abs=1e-12)
        assert report[HIGHEST] == residual.max()
        instance.check_trees()


def test_warm_sweeps_are_optimal(instance):
    """Trees of one value serve for the next, and need no pivot for the same."""
    first, *others = values(instance.bellman.shape)
    instance.improve(first, cold=True)
    for value in [*others, first]:
        residual, report = instance.improve(value, cold=False)
        np.testing.assert_allclose(residual, instance.expected(value), atol=1e-9)
        assert report[LOWEST] <= residual.min() + 1e-12
        instance.check_trees()
        again, report = instance.improve(value, cold=False)
        np.testing.assert_allclose(again, residual, atol=1e-13)
        assert report[2] == 0


def test_pivots_within_the_tolerance_are_left_out():
    """Then the report's lower end says what may be missing."""
    instance = FullInstance(random_matrix(6, 1), random_matrix(5, 2))
    first, value, *_ = values((6, 5))
    instance.improve(first, cold=True)
    residual, report = instance.improve(value, cold=False, tol=10.0)
    assert report[2] == 0
    assert report[LOWEST] <= instance.expected(value).min()
    assert (residual >= instance.expected(value).min() - 10.0).all()


def test_cuts_change_nothing():
    """Once the hubs are done, rows do not depend on one another: threads get the same bits."""
    P, Q = random_matrix(12, 1), random_matrix(9, 2)
    value = list(values((12, 9)))[1]
    found = []
    for cuts in ([4, 12], [4, 5, 6, 11, 12], [4, 8, 12]):
        instance = FullInstance(P, Q)
        b, residual = instance.bellman, np.empty(value.size)
        turned, weight = np.ascontiguousarray(value.T), 1.0 / np.sqrt(np.maximum(np.arange(22), 1.0))
        hub_f, hub_g = np.empty((4, 9, 12)), np.empty((4, 9))
        rows = b.source.data.reshape(12, 12), b.target.data.reshape(9, 9)
        for i, j in [(0, 1), (1, 2), (2, 3), (3, 4), *reversed(list(pairwise(cuts)))]:
            kernels.transport.full.improve(
                i, j, value, turned, b.cost, b.scale, b.discount, *rows, instance.trees, residual, 1e-14, True,
                hub_f, hub_g, weight,
            )  # fmt: skip
        found.append((residual.tolist(), instance.trees.code.tolist()))
    assert found[0] == found[1] == found[2]


def test_full_rows_are_recognised():
    """Where all states follow all states and there are enough of them; not with a stop or a missing entry."""
    dense = random_matrix(30, 1)
    assert Instance(dense, dense).bellman.is_full
    sparse = dense.copy()
    sparse[3, 4], sparse[3, 5] = 0.0, sparse[3, 5] + sparse[3, 4]
    assert not Instance(sparse, dense).bellman.is_full
    assert not Instance(dense, sparse).bellman.is_full
    stop = np.zeros((30, 30), bool)
    stop[0, 0] = True
    assert not Instance(dense, dense, stop).bellman.is_full
    assert not Instance(dense[:4, :4] / dense[:4, :4].sum(axis=1, keepdims=True), np.eye(1)).bellman.is_full


def test_both_sweeps_agree(monkeypatch):
    """The general sweep and the one for full rows lead to the same transports."""
    b = Bellman.of(FullInstance(random_matrix(25, 1), random_matrix(21, 2)).problem)
    value = list(values((25, 21)))[1]
    trees = bellman.Trees(*FullInstance(random_matrix(25, 1), random_matrix(21, 2)).trees)
    full = b.improve(value, trees, cold=True)
    monkeypatch.setattr(bellman, "FULL_FROM", 10**9)
    general = b.improve(value, trees, cold=True)
    np.testing.assert_allclose(full.residual, general.residual, atol=1e-13)

"""Costs between feature vectors."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm


def chain(n, **options):
    """n absorbing states."""
    return bm.MarkovChain(np.eye(n), **options)


@pytest.mark.parametrize(("metric", "expected"), [("euclidean", 5.0), ("cityblock", 7.0), ("sqeuclidean", 25.0)])
def test_features(metric, expected):
    """Distances between label vectors."""
    cost = bm.cost.features(metric)(chain(1, labels=[(0.0, 0.0)]), chain(1, labels=[[3, 4]]))
    assert cost.tolist() == [[expected]]
    assert metric in repr(bm.cost.features(metric))


def test_scalar_features():
    """A number is a vector of one."""
    cost = bm.cost.features()(chain(2, labels=[1, 2]), chain(1, labels=[5]))
    assert cost.tolist() == [[4.0], [3.0]]


def test_features_of_any_size():
    """Squares that vanish or overflow do no harm."""
    near, far = chain(2, labels=[(0.0, 1.0), (3e-200, 1.0)]), chain(2, labels=[(0.0, 0.0), (3e200, 4e200)])
    assert bm.cost.features()(near, near).tolist() == [[0, 3e-200], [3e-200, 0]]
    np.testing.assert_allclose(bm.cost.features()(far, far), [[0, 5e200], [5e200, 0]])


def test_a_function_is_a_metric():
    """As for SciPy, a function of two vectors."""

    def steps(u, v):
        return float(abs(u - v).sum() > 1)

    cost = bm.cost.features(steps)
    assert cost(chain(2, labels=[0, 1]), chain(2, labels=[1, 5])).tolist() == [[0.0, 1.0], [0.0, 1.0]]
    assert (cost.name, cost.unit) == ("features('steps')", "steps distance")
    assert cost.error(chain(1, labels=[1]), chain(1, labels=[1])) == 0.0

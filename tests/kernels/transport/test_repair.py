"""Repaired trees on a fixed small set: also run as plain Python and with bounds checks (.ci/run)."""

from __future__ import annotations

import numpy as np
import pytest

from tests.kernels.transport.transport_samples import CASES, Instance, values

pytestmark = pytest.mark.kernels


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def instance(request):
    """Each of the fixed problems."""
    return Instance(*request.param)


def moved(matrix, seed):
    """Other probabilities for the same successors."""
    other = matrix * np.random.default_rng(seed).uniform(0.2, 1.0, matrix.shape)
    return other / other.sum(axis=1, keepdims=True)


def test_repaired_trees_are_as_good_as_new_ones(instance):
    """Trees of other probabilities on the same supports give the same transports, and stay sound."""
    before, rows = (
        instance,
        [chain.transitions.toarray() for chain in (instance.problem.source, instance.problem.target)],
    )
    for value in list(values(instance.bellman.shape))[1:3]:
        before.improve(value, cold=True)
        after = Instance(*(moved(matrix, seed) for seed, matrix in enumerate(rows)))
        np.copyto(after.trees.code, before.trees.code)
        swept = after.bellman.repair(value, after.trees)
        np.testing.assert_allclose(swept.residual.reshape(value.shape), after.expected(value), atol=1e-9)
        assert swept.lowest <= swept.residual.min() <= swept.residual.max() == swept.highest
        after.check_trees()


def test_rough_trees_keep_their_flows_and_give_lower_bounds(instance):
    """Where the flows of a tree are no longer feasible; all others are repaired as ever."""
    rows = [chain.transitions.toarray() for chain in (instance.problem.source, instance.problem.target)]
    value = list(values(instance.bellman.shape))[1]
    instance.improve(value, cold=True)
    after = Instance(*(moved(matrix, seed) for seed, matrix in enumerate(rows)))
    for name in ("code", "used", "target", "weight"):
        np.copyto(getattr(after.trees, name), getattr(instance.trees, name))
    swept = after.bellman.repair(value, after.trees, np.ones(value.shape, np.bool_))
    assert swept.pivots == 0
    assert (swept.residual.reshape(value.shape) <= after.expected(value) + 1e-9).all()
    same = instance.bellman.repair(value, instance.trees, np.ones(value.shape, np.bool_))
    np.testing.assert_allclose(same.residual.reshape(value.shape), instance.expected(value), atol=1e-9)

"""Rounding to valid couplings (Algorithm 3), against the same in plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric import kernels

pytestmark = pytest.mark.kernels


def plain(p, q, plan):
    """Shrink rows, shrink columns, spread what is missing."""
    plan = plan * np.minimum(1.0, p / np.maximum(plan.sum(axis=1), 1e-300))[:, None]
    plan = plan * np.minimum(1.0, q / np.maximum(plan.sum(axis=0), 1e-300))
    row, column = p - plan.sum(axis=1), q - plan.sum(axis=0)
    missing = column.sum()
    return plan + (np.outer(row, column) / missing if missing > 0 else 0.0)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (5, 4)])
def test_any_plan_becomes_a_coupling(shape, seed):
    """With the right marginals, nowhere negative, and as the plain algorithm has it."""
    random = np.random.default_rng(seed)
    p, q = (random.dirichlet(np.ones(k)) for k in shape)
    plan = random.random(shape) * random.choice([0.01, 1.0, 10.0])
    found = plan.ravel().copy()
    kernels.sinkhorn.rounding.couple(p, q, found, np.empty(shape[0]), np.empty(shape[1]))
    coupled = found.reshape(shape)
    assert (coupled >= 0.0).all()
    np.testing.assert_allclose(coupled.sum(axis=1), p, atol=1e-14)
    np.testing.assert_allclose(coupled.sum(axis=0), q, atol=1e-14)
    np.testing.assert_allclose(coupled, plain(p, q, plan), atol=1e-14)


def test_a_coupling_stays_as_it_is():
    """To the last bit, where sums are exact."""
    p, q = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    plan = np.array([[0.25, 0.0], [0.25, 0.5]])
    found = plan.ravel().copy()
    kernels.sinkhorn.rounding.couple(p, q, found, np.empty(2), np.empty(2))
    assert np.array_equal(found.reshape(2, 2), plan)


def test_no_mass_at_all():
    """Becomes the independent coupling."""
    p, q = np.array([0.25, 0.75]), np.array([0.5, 0.5])
    found = np.zeros(4)
    kernels.sinkhorn.rounding.couple(p, q, found, np.empty(2), np.empty(2))
    np.testing.assert_allclose(found.reshape(2, 2), np.outer(p, q))

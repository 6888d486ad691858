"""Rounded couplings: valid, and evaluated without storing them."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.couplings import rounded


@pytest.mark.parametrize("stop", [False, True])
def test_stored_couplings_have_the_same_value(monkeypatch, stop):
    """Evaluations of small problems store the rounded couplings; it changes nothing but rounding."""
    source, target = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    problem = bm.Problem(source, target, discount=0.9, stop=np.eye(source.n_states) > 0 if stop else None)
    stored = bm.solve(problem, bm.SinkhornValueIteration(rounds=30))
    monkeypatch.setattr(rounded, "STORED", 0)
    made = bm.solve(problem, bm.SinkhornValueIteration(rounds=30))
    np.testing.assert_allclose(stored.value, made.value, atol=1e-10)
    np.testing.assert_allclose(stored.upper, made.upper, atol=1e-9)

"""Comparisons that several laws use."""

from __future__ import annotations

import numpy as np


def assert_close(value, truth, tol):
    """Equal up to `tol` of the largest distance."""
    truth = np.asarray(truth, float)
    np.testing.assert_allclose(value, truth, rtol=0, atol=tol * np.abs(truth).max())


def assert_overlap(one, other):
    """Two certified answers to the same question must have a distance in common at every pair."""
    assert (one.lower <= other.upper).all()
    assert (other.lower <= one.upper).all()

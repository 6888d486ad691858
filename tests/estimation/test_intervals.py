"""P-values and intervals from resampled distances."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.estimation.intervals import bootstrap_intervals, permutation_p_value


def test_the_p_value_counts_the_observed_distance_too():
    """So it is never zero, and equal distances count as large."""
    null = np.array([0.1, 0.2, 0.3, 0.4])
    assert permutation_p_value(0.5, null) == 1 / 5
    assert permutation_p_value(0.3, null) == 3 / 5
    assert permutation_p_value(0.0, np.zeros(3)) == 1.0
    assert permutation_p_value(1.0, np.empty(0)) == 1.0


def test_percentiles_are_moved_by_twice_the_bias():
    """Once to the estimate, once more to what it estimates."""
    resampled = np.linspace(1.2, 1.4, 101)
    found = bootstrap_intervals(1.1, resampled, 0.9)
    assert found.bias == pytest.approx(0.2)
    assert found.percentile == pytest.approx((1.21, 1.39))
    assert found.corrected == pytest.approx((0.81, 0.99))


def test_intervals_stay_above_zero():
    """Distances do."""
    assert bootstrap_intervals(0.1, np.linspace(0.3, 0.4, 50), 0.95).corrected == (0.0, 0.0)
    assert bootstrap_intervals(0.1, np.empty(0), 0.95).corrected == (0.0, np.inf)

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


def test_percentiles_are_moved_by_the_bias():
    """Once to the estimate, and once more to what it estimates, or as much as that may be at a kink."""
    resampled = np.linspace(1.2, 1.4, 101)
    found = bootstrap_intervals(1.1, resampled, 0.9)
    assert found.bias == pytest.approx(0.2)
    assert found.percentile == pytest.approx((1.21, 1.39))
    assert found.corrected == pytest.approx((1.21 - 0.2 * (2 + np.sqrt(2)), 0.99))
    assert bootstrap_intervals(1.4, resampled, 0.9).corrected == pytest.approx((1.21 + 0.2, 1.39 + 0.1 * 3.41421356))


@pytest.mark.parametrize(("kink", "expected"), [(True, 0), (False, 1)])
def test_the_ends_are_right_for_smooth_distances_and_for_kinks(kink, expected):
    """Resamples of a sum of squares show all of its bias, those of the root of one a part; the truth is zero."""
    random = np.random.default_rng(0)
    sample = random.normal(0, 1, 400)
    around = sample + random.normal(0, 1, (500, 400))
    power = 0.5 if kink else 1.0
    observed, resampled = float((sample**2).sum() ** power), (around**2).sum(axis=1) ** power
    interval = bootstrap_intervals(observed, resampled, 1e-9)
    moved = np.quantile(resampled, 0.5) - np.array([2 + np.sqrt(2), 2.0]) * interval.bias
    assert interval.corrected == pytest.approx(np.maximum(moved, 0.0))
    assert abs(moved[expected]) < 0.05 * observed


def test_intervals_stay_above_zero():
    """Distances do."""
    assert bootstrap_intervals(0.1, np.linspace(0.3, 0.4, 50), 0.95).corrected == (0.0, 0.0)
    assert bootstrap_intervals(0.1, np.empty(0), 0.95).corrected == (0.0, np.inf)

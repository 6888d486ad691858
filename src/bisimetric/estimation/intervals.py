"""From resampled distances to a p-value and intervals.

    p = (1 + number of null distances ≥ observed) / (1 + resamples)

The plug-in distance is biased upwards: two samples of one process are never at zero. The bootstrap shows the bias once
more: resamples are further apart than the samples by about as much as the samples are further apart than the processes,

    bias = mean of resamples - observed,        interval = percentiles - 2 · bias,  not below zero,

once because resamples are biased against the samples, once because the samples are biased against the truth. Plain
percentiles lie too high by that. Near zero the distance has a kink, and no bootstrap interval is right there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bisimetric.models.rows import Floats

COMPUTED_TO = 1e-3  # relative accuracy of resampled distances; a null distance counts as large up to this


class BootstrapIntervals(NamedTuple):
    """Intervals from resampled distances."""

    corrected: tuple[float, float]
    percentile: tuple[float, float]
    bias: float


def permutation_p_value(observed: float, null: Floats) -> float:
    """The share of null distances at least as large as the observed one, counted with it; 1 without any."""
    at_least = int((null >= observed * (1.0 - COMPUTED_TO)).sum())
    return (1 + at_least) / (1 + len(null))


def bootstrap_intervals(observed: float, resampled: Floats, confidence: float) -> BootstrapIntervals:
    """Percentiles, and percentiles moved by twice the bias."""
    if not len(resampled):
        return BootstrapIntervals((0.0, np.inf), (0.0, np.inf), np.nan)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(resampled, [tail, 1.0 - tail]).tolist()
    bias = float(resampled.mean()) - observed
    moved = max(low - 2.0 * bias, 0.0), max(high - 2.0 * bias, 0.0)
    return BootstrapIntervals(moved, (low, high), bias)

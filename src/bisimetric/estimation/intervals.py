"""From resampled distances to a p-value and intervals.

    p = (1 + number of null distances ≥ observed) / (1 + resamples)

The plug-in distance is biased upwards: two samples of one process are never at zero. The bootstrap shows a part of that
bias as b, how much further apart resamples are than the samples. How large the part is depends on where the distance
is smooth. A smooth function of the shares has a bias in proportion to their variance σ², and resamples have twice that
variance: all of the bias is seen. At a kink, as of |p - q| near p = q, it is in proportion to σ: of a bias of σ the
resamples show (√2 - 1) σ. A distance between chains is a mixture of both, so the truth lies between

    distance - b    and    distance - b / (√2 - 1),

and the interval has room for either: its lower end is that of percentiles around the second, its upper end that of
percentiles around the first, neither below zero. Plain percentiles lie around distance + b, which is too high. Near
zero, where all is kink, no bootstrap is right, and this interval holds less often than it says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bisimetric.models.rows import Floats

KINK_SHOWS = 2.0**0.5 - 1.0  # the part of the bias at a kink that resamples show
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
    """Percentiles, and percentiles moved by as much as the bias may be."""
    if not len(resampled):
        return BootstrapIntervals((0.0, np.inf), (0.0, np.inf), np.nan)
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(resampled, [tail, 1.0 - tail]).tolist()
    bias = float(resampled.mean()) - observed
    least, most = sorted((2.0 * bias, (1.0 + 1.0 / KINK_SHOWS) * bias))  # from around the mean of the resamples
    return BootstrapIntervals((max(low - most, 0.0), max(high - least, 0.0)), (low, high), bias)

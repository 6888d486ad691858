"""Resamples are drawn by seeds of their own and solved to the accuracy that is stated."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.cost.ground import label_mismatch
from bisimetric.estimation.pooled import pooled
from bisimetric.estimation.resampling import BOOTSTRAP, NULL, Resampling
from tests.estimation.logs import logs


@pytest.fixture
def resampling():
    """Of two logs that differ."""
    both = pooled(*(bm.from_trajectories(log) for log in logs("changed")))
    return Resampling(both, 0.8, label_mismatch, False, 7)


def test_the_null_splits_all_sequences_again(resampling):
    """Into the two sizes, each sequence once."""
    first, second = resampling.weights(NULL, 3)
    assert (first + second == 1).all()
    assert first.sum() == resampling.logs.sizes[0]


def test_the_bootstrap_draws_whole_sequences_of_each_log(resampling):
    """With replacement, as many as there are."""
    first, second = resampling.weights(BOOTSTRAP, 3)
    n, m = resampling.logs.sizes
    assert first[:n].sum() == n
    assert not first[n:].any()
    assert second[n:].sum() == m
    assert not second[:n].any()
    assert first.max() > 1


def test_a_resample_depends_on_its_number_alone(resampling):
    """The same seed, kind and number give the same draw; others do not."""
    again = Resampling(resampling.logs, 0.8, label_mismatch, False, 7)
    assert np.array_equal(resampling.weights(NULL, 5)[0], again.weights(NULL, 5)[0])
    assert not np.array_equal(resampling.weights(NULL, 5)[0], again.weights(NULL, 6)[0])
    assert not np.array_equal(
        resampling.weights(NULL, 5)[0], Resampling(resampling.logs, 0.8, label_mismatch, False, 8).weights(NULL, 5)[0]
    )


@pytest.mark.parametrize("kind", [NULL, BOOTSTRAP])
def test_distances_are_those_of_chains_estimated_by_hand(resampling, kind):
    """Sequences are repeated, counted anew, and solved cold."""
    sequences = [*logs("changed")[0], *logs("changed")[1]]
    for k in range(4):
        sides = [
            [sequence for sequence, times in zip(sequences, side, strict=True) for _ in range(times)]
            for side in resampling.weights(kind, k)
        ]
        chains = [bm.from_trajectories(side) for side in sides]
        expected = bm.distance(*chains, discount=0.8, cost=bm.cost.label_mismatch).distance
        assert resampling.distance(kind, k) == pytest.approx(expected, rel=2e-3)

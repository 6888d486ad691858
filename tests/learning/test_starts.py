"""Where descents begin."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.learning.starts import medoid_clusters, small_chains, time_spent, weighted_means
from tests import strategies


@settings(max_examples=30)
@given(st.integers(1, 7), st.integers(1, 7), st.integers(0, 3), st.integers(0, 99))
def test_clusters_are_a_partition(n, count, distinct, seed):
    """Of as many clusters as asked for, numbered by their first states; also where distances are zero."""
    count = min(n, count)
    random = np.random.default_rng(seed)
    places = random.integers(0, distinct + 1, n).astype(float)
    clusters = medoid_clusters(np.abs(places[:, None] - places), random.random(n) + 1e-12, count, random)
    first = [int(np.flatnonzero(clusters == k)[0]) for k in range(count)]
    assert sorted(set(clusters.tolist())) == list(range(count))
    assert first == sorted(first)


def test_clusters_of_places_far_apart():
    """Three heaps are found, from every seed."""
    places = np.array([0, 0.1, 5, 5.1, 5.2, 9, 0.2])
    for seed in range(5):
        random = np.random.default_rng(seed)
        clusters = medoid_clusters(np.abs(places[:, None] - places) ** 4, np.ones(7), 3, random)
        assert clusters.tolist() == [0, 0, 1, 1, 1, 2, 0]


def test_states_count_by_the_time_spent_there():
    """Means follow the state that the chain is in nearly always, and shares of time are the occupancy."""
    chain = bm.MarkovChain([[1, 0, 0], [0, 1, 0], [0, 0, 1]], reward=[0, 1, 5], start=[0.9, 0.1, 0])
    weight = time_spent(chain, 0.9)
    assert weight == pytest.approx([0.9, 0.1, 0.0])
    small = weighted_means(chain, np.array([0, 0, 1]), 2, weight)
    assert small.reward == pytest.approx([0.1, 5])
    assert small.start == pytest.approx([1, 0])


@settings(max_examples=10)
@given(strategies.chains(max_states=4, min_states=2, reward=True, start=True, tiny=False))
def test_the_first_is_that_of_aggregate(chain):
    """Then there is no end of them; all have the wanted size, and what came before is told."""
    starts = list(islice(small_chains(chain, 2, 0.8, np.random.default_rng(0)), 12))
    merged = bm.aggregate(chain, n_states=2, discount=0.8)
    assert np.array_equal(starts[0][0].transitions.toarray(), merged.model.transitions.toarray())
    assert {small.n_states for small, _ in starts} == {2}
    assert [seen for _, seen in starts[:2]] == [False, False]
    assert starts[-1][1] or chain.n_states == 4  # 3 partitions of three states into two, 7 of four

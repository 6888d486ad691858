"""Where descents begin."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.learning.starts import Clusters, medoid_clusters, time_spent, weighted_medians
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
    """Means and medians follow the state that the chain is in nearly always; shares of time are the occupancy."""
    chain = bm.MarkovChain([[1, 0, 0], [0, 1, 0], [0, 0, 1]], reward=[0, 1, 5], start=[0.9, 0.1, 0])
    assert time_spent(chain, 0.9) == pytest.approx([0.9, 0.1, 0.0])
    small = Clusters(chain, 2, 0.9).small_chain(np.array([0, 0, 1]))
    assert small.reward.tolist() == [0, 5]
    assert small.laws == pytest.approx(np.array([[1, 0], [0, 1], [1, 0]]))
    leaving = bm.MarkovChain([[0.9, 0, 0.1], [0, 1, 0], [0, 0, 1]], reward=[0, 1, 5], start=[0.9, 0.1, 0])
    laws = Clusters(leaving, 2, 0.9).small_chain(np.array([0, 0, 1])).laws
    weight = time_spent(leaving, 0.9)
    assert laws[0, 1] == pytest.approx(0.1 * weight[0] / (weight[0] + weight[1]))


def test_weighted_medians():
    """A value with half of the weight on either side, in every column."""
    weight = np.array([[1, 0, 0.2], [1, 0, 0.2], [1, 1, 0.6]])
    assert weighted_medians(np.array([3.0, 1.0, 2.0]), weight).tolist() == [2, 2, 2]
    assert weighted_medians(np.array([3.0, 1.0, 2.0]), weight[:, ::-1] * [1, 1, 4]).tolist() == [2, 2, 2]
    assert weighted_medians(np.array([3.0, 1.0]), np.array([[0.6], [0.4]])).tolist() == [3]


@settings(max_examples=10)
@given(strategies.chains(max_states=5, min_states=3, reward=True, start=True, tiny=False), st.integers(0, 99))
def test_moves_are_predicted(chain, seed):
    """The change of <slopes, laws> is that of the small chain with one state moved; moves are in its order."""
    random, n = np.random.default_rng(seed), chain.n_states
    chain = chain.with_start(np.full(n, 1 / n))  # every state is visited
    clusters = np.arange(n) % 2
    slopes, made = random.normal(size=(3, 2)), Clusters(chain, 2, 0.8)
    before, found = made.small_chain(clusters).laws, []
    moves = made.moves(clusters, slopes)
    for state, cluster in moves:
        moved = clusters.copy()
        moved[state] = cluster
        change = (slopes * (made.small_chain(moved).laws - before)).sum()
        assert made._predicted(clusters, slopes)[state, cluster] == pytest.approx(change, abs=1e-6)
        found.append(change)
    assert len(moves) == (n if n > 3 else 2)
    assert np.diff(found).min() >= -1e-6


def test_no_end_of_random_clusterings():
    """All have the wanted size."""
    chain = bm.environments.random_sparse_chain(6, 3, seed=1).with_start(0)
    distances = bm.bisimulation_metric(chain, discount=0.8).value
    found = list(islice(Clusters(chain, 3, 0.8).random(distances, np.random.default_rng(0)), 7))
    assert {int(one.max()) for one in found} == {2}

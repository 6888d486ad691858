"""Clusters by complete linkage, and means over them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.bisimulation.clusters import cluster_states, mean_mdp
from tests import strategies

LINE = np.array([0.0, 1.0, 3.0, 6.0])  # neighbours are 1, 2 and 3 apart


def on_the_line(kinds=(0, 0, 0, 0), **how):
    """Clusters of the points."""
    options = {"epsilon": None, "n_states": None, **how}
    return cluster_states(np.abs(np.subtract.outer(LINE, LINE)), np.array(kinds), **options).tolist()


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [(0.5, [0, 1, 2, 3]), (1.0, [0, 0, 1, 2]), (2.9, [0, 0, 1, 2]), (3.0, [0, 0, 1, 1]), (6.0, [0, 0, 0, 0])],
)
def test_by_the_farthest_members(epsilon, expected):
    """The third point is 2 from its neighbour but 3 from the cluster, and as far from the fourth."""
    found = on_the_line(epsilon=epsilon)
    alternatives = [expected, [0, 0, 0, 1]] if epsilon == 3.0 else [expected]  # a tie
    assert found in alternatives


def test_kinds_stay_apart():
    """With any epsilon, down to as many clusters as there are kinds, and with all distances zero."""
    kinds = [0, 1, 0, 1]
    assert on_the_line(kinds, epsilon=1e9) == on_the_line(kinds, n_states=2) == [0, 1, 0, 1]
    assert on_the_line(kinds, n_states=3) == [0, 1, 0, 2]
    assert cluster_states(np.zeros((3, 3)), np.array([0, 1, 0]), epsilon=5.0, n_states=None).tolist() == [0, 1, 0]


@given(strategies.mdps(tiny=True), st.data())
def test_means(mdp, data):
    """Of rows and rewards over a cluster; rows sum to one exactly, and singletons stay as they are."""
    clusters = np.array(data.draw(st.lists(st.integers(0, 1), min_size=mdp.n_states, max_size=mdp.n_states)))
    clusters = np.unique(clusters, return_inverse=True)[1]
    small = mean_mdp(mdp, clusters)
    for k in range(small.n_states):
        inside = clusters == k
        np.testing.assert_allclose(small.rewards[k], mdp.rewards[inside].mean(axis=0), atol=1e-15)
        for full, little in zip(mdp.transitions, small.transitions, strict=True):
            lumped = full.toarray()[inside] @ np.eye(small.n_states)[clusters]
            np.testing.assert_allclose(little.toarray()[k], lumped.mean(axis=0), atol=1e-15)
            assert little.toarray()[k].sum() == 1.0
            assert inside.sum() > 1 or (little.toarray()[k] == lumped[0]).all()
    assert not small.row_error.any()
    assert isinstance(small, bm.MDP)

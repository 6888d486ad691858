"""Moves of states between clusters, and Adam."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.learning.descent import STAGES, Reached, better_clusters, descend, polish
from bisimetric.learning.small import SEARCH_TOL, Objective, SmallChain
from bisimetric.learning.starts import Clusters

RANDOM = bm.environments.random_sparse_chain(12, 3, seed=1).with_start(0)
POOR = np.arange(12) % 3  # clusters that know nothing of the chain


def test_moves_bring_it_closer():
    """Much, from poor clusters; every solve is told, and there are no more than allowed."""
    objective, clusters, told = Objective(RANDOM, 0.9), Clusters(RANDOM, 3, 0.9), []
    before = objective.distance(clusters.small_chain(POOR))
    found = better_clusters(objective, clusters, POOR, 80, told.append)
    assert objective.distance(clusters.small_chain(found)) < 0.8 * before
    assert len(told) <= 80
    assert np.array_equal(better_clusters(objective, clusters, POOR, 0, told.append), POOR)


def test_no_move_where_none_helps():
    """Three copies of one state each: their clusters are exact, and stay."""
    rows = np.kron([[0.2, 0.8, 0], [0, 0.5, 0.5], [0.3, 0, 0.7]], np.full((3, 3), 1 / 3))
    chain = bm.MarkovChain.normalised(rows, reward=np.repeat([0.0, 1.0, 5.0], 3), start=0)
    exact = np.repeat([0, 1, 2], 3)
    found = better_clusters(Objective(chain, 0.9), Clusters(chain, 3, 0.9), exact, 40, lambda _: None)
    assert np.array_equal(found, exact)


def test_a_descent_is_never_worse_than_its_begin():
    """Whatever the length of its steps; all but the shortest get closer."""
    objective, told = Objective(RANDOM, 0.9), []
    small = Clusters(RANDOM, 3, 0.9).small_chain(POOR)
    begin = at = Reached(objective.distance(small), small)
    for stage in STAGES:
        after = descend(objective, at, stage, 20, told.append)
        assert after.distance <= at.distance
        at = after
    assert at.distance < 0.95 * begin.distance
    assert objective.distance(at.small) == pytest.approx(objective.best, rel=SEARCH_TOL)  # from another solve's trees
    assert len(told) == 60


def test_polish():
    """Specks go, and rewards become medians, where that is closer."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    objective = Objective(chain, 0.9)
    near = SmallChain(np.array([[0.5, 0.5], [1e-6, 1 - 1e-6], [1 - 1e-6, 1e-6]]), np.array([0.01, 0.98]))
    polish(objective, np.array([0.0, 1.0]), near, lambda _: None)
    assert objective.best < 1e-9
    assert objective.closest.reward.tolist() == [0, 1]

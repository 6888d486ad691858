"""Orders and trees by likeness."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.views.clustering import cluster_tree, rows_by_similarity, similar_first

LINE = np.array([0.0, 9.0, 0.2, 9.1, 0.1])


def test_mergers_are_at_the_largest_distance_inside():
    """At any scale."""
    for scale in (1e-300, 1.0, 1e300):
        distances = np.abs(np.subtract.outer(LINE, LINE)) / 10 * scale
        assert cluster_tree(distances)[-1, 2] / scale == pytest.approx(0.91)


def test_similar_things_become_neighbours():
    """Things of one list by their distances, rows of a matrix by their entries."""
    order = similar_first(np.abs(np.subtract.outer(LINE, LINE))).tolist()
    assert order in ([0, 4, 2, 1, 3], [3, 1, 2, 4, 0])
    rows = rows_by_similarity(np.column_stack([LINE, LINE]))
    assert {frozenset(rows[:3].tolist()), frozenset(rows[:2].tolist())} & {frozenset({0, 2, 4}), frozenset({1, 3})}
    assert similar_first(np.zeros((1, 1))).tolist() == [0]

"""Orders in which similar things are neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.views.clustering import cluster_tree, rows_by_similarity, similar_first
from tests.views.pictures import distances_of


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_points_on_a_line(scale):
    """Their order is that of the line, one way or the other, at any scale."""
    points = np.random.default_rng(0).permutation(12)[:, None].astype(float)
    order = similar_first(distances_of(points) * scale)
    along = points[order, 0]
    assert along.tolist() in (sorted(along), sorted(along, reverse=True))


def test_heights_are_largest_distances():
    """Complete linkage, as in `aggregate`."""
    tree = cluster_tree(distances_of(np.array([[0.0], [1.0], [5.0]])))
    assert tree[:, 2].tolist() == [1.0, 5.0]


def test_rows_of_any_matrix():
    """Equal rows become neighbours; NaN counts as large; one row is in order."""
    matrix = np.array([[0, 9, 0], [9, 0, 9], [0, 9, 0], [9, np.nan, 9]])
    order = rows_by_similarity(matrix).tolist()
    assert abs(order.index(0) - order.index(2)) == 1
    assert sorted(order) == [0, 1, 2, 3]
    assert rows_by_similarity(matrix[:1]).tolist() == [0]
    assert similar_first(np.zeros((1, 1))).tolist() == [0]

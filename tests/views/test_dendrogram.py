"""Distances as a tree."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.overlaps import overlapping, ticks
from tests.views.pictures import cloud, distances_of


def leaves(figure):
    """The names of the leaves."""
    return [label.get_text() for label in ticks(figure, figure.axes[0].yaxis)]


def test_where_branches_meet():
    """At the largest distance inside; the names stand beside their leaves."""
    figure = bm.plot.dendrogram([[0, 1, 5], [1, 0, 4], [5, 4, 0]], names=["a", "b", "$c$"])
    (lines,) = figure.axes[0].collections
    assert sorted(float(segment[:, 0].max()) for segment in lines.get_segments()) == [1.0, 5.0]
    assert sorted(leaves(figure)) == ["$c$", "a", "b"]
    assert leaves(figure).index("a") != 1 or leaves(figure)[0] == "b" or leaves(figure)[2] == "b"
    ends = {tuple(point) for segment in lines.get_segments() for point in segment if point[0] == 0.0}
    assert ends == {(0.0, 0.0), (0.0, 1.0), (0.0, 2.0)}


@pytest.mark.parametrize("count", [2, 40, 200])
def test_many_leaves(count):
    """The last clusters are drawn, which say how many they stand for; names do not collide."""
    matrix = distances_of(cloud(count, 3))
    figure = bm.plot.dendrogram(matrix, names=[f"thing {k}" for k in range(count)])
    names = leaves(figure)
    assert sum(1 + int(name.partition("+")[2] or 0) for name in names) == count
    assert not overlapping(figure, ticks(figure, figure.axes[0].yaxis))


def test_states_of_a_chain():
    """A self-metric has its title and unit; one state is a tree too."""
    figure = bm.plot.dendrogram(bm.bisimulation_metric("grid-3x3", discount=0.9))
    assert "grid-3x3" in figure.axes[0].get_title("left")
    assert "reward per step" in figure.axes[0].get_xlabel()
    assert leaves(bm.plot.dendrogram([[0]], names=["only"])) == ["only"]
    assert leaves(bm.plot.dendrogram(np.zeros((3, 3)))) != []
    with pytest.raises(InvalidOption, match="not symmetric"):
        bm.plot.dendrogram([[0, 1], [3, 0]])

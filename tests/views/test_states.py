"""The states of one model at their distances."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.overlaps import overlapping
from tests.views.pictures import legend


def test_a_grid():
    """Cells and points have the colours of one embedding."""
    solution = bm.bisimulation_metric("small-four-rooms:a", discount=0.9)
    figure = bm.plot.states(solution)
    plain, cells, points = figure.axes
    first = bm.plot.embed(solution, dimensions=2).points[:, 0]
    assert np.sort(cells.images[0].get_array().compressed()) == pytest.approx(np.sort(first))
    assert np.asarray(points.collections[0].get_offsets())[:, 0] == pytest.approx(first)
    assert "small-four-rooms:a" in figure.get_suptitle()
    assert "rewards" in plain.get_xlabel()
    assert not overlapping(figure, points.texts)


def test_given_axes():
    """Of a grid the cells are drawn, of others the points."""
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert bm.plot.states(bm.bisimulation_metric("grid-3x3", discount=0.5), ax=left) is figure
    assert bm.plot.states(bm.bisimulation_metric("random:5", discount=0.5), ax=right) is figure
    assert left.images
    assert not right.images
    assert {text.get_text() for text in right.texts} <= set("01234")


def test_decision_processes():
    """The map has the arrows of an optimal policy; a wide one stands above its colours."""
    figure = bm.bisimulation_metric(bm.as_mdp("gym:CliffWalking-v1"), discount=0.9).plot()
    plain, cells, _ = figure.axes
    assert "arrows: policy" in plain.get_xlabel()
    figure.canvas.draw()
    assert plain.get_position().y0 > cells.get_position().y1


def test_groups():
    """Colours and a legend."""
    figure = bm.plot.states(bm.bisimulation_metric("random:6", discount=0.5), groups=["odd", "even"] * 3)
    assert legend(figure.axes[0]) == ["odd", "even"]


def test_one_state():
    """A chain of one state is a point."""
    one = bm.MarkovChain([[1]], reward=[1], names=["only"])
    assert "only" in {
        text.get_text() for text in bm.plot.states(bm.bisimulation_metric(one, discount=0.5)).axes[0].texts
    }


def test_two_models():
    """Are refused."""
    with pytest.raises(InvalidOption, match="itself"):
        bm.plot.states(bm.distance("grid-3x3", "open-grid:2", discount=0.5))

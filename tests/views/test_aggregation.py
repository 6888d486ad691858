"""Which states were merged."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.overlaps import overlapping


def test_a_grid():
    """A colour for each cluster, white for states that are alone, and the numbers of the clusters."""
    found = bm.aggregate(bm.as_chain("four-rooms:side=4"), n_states=6, discount=0.9)
    figure = found.plot()
    (axes,) = figure.axes
    assert (axes.images[0].get_array().compressed() >= 0).all()
    assert [int(text.get_text()) for text in axes.texts] == found.map.tolist()
    assert "four-rooms:side=4: 20 states merged into 6" in axes.get_title("left")
    shown = axes.images[0].cmap(axes.images[0].norm(found.map))
    lone = np.bincount(found.map)[found.map] == 1
    assert ((shown[:, :3] == 1.0).all(axis=1) == lone).all()


def test_a_decision_process():
    """Is drawn like a chain."""
    found = bm.aggregate(bm.environments.four_rooms_mdp(side=2), n_states=3, discount=0.5)
    figure = Figure()
    axes = figure.subplots()
    assert found.plot(ax=axes) is figure
    assert axes.images


def test_other_models():
    """A circle for each cluster, larger where more states were merged, with names that do not collide."""
    found = bm.aggregate("random:12", n_states=5, discount=0.9)
    figure = found.plot()
    (axes,) = figure.axes
    (circles,) = axes.collections
    sizes = np.bincount(found.map)
    assert np.argmax(circles.get_sizes()) == np.argmax(sizes)
    assert len(circles.get_offsets()) == 5
    assert not overlapping(figure, axes.texts)
    apart = bm.bisimulation_metric("random:12", discount=0.9).value
    first = [int(np.flatnonzero(found.map == k)[0]) for k in range(5)]
    assert found.distances == pytest.approx(apart[np.ix_(first, first)], abs=1e-6)


def test_what_is_no_aggregation():
    """The error says what makes one."""
    with pytest.raises(InvalidOption, match="aggregation is a str"):
        bm.plot.aggregation("x")

"""The most likely way to part."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.overlaps import overlapping
from tests.views.pictures import texts


def test_steps_and_maps():
    """Every moment with its states; on both maps the way, with a ring where the two part."""
    path = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).explain().path
    figure = path.plot()
    source, target, steps = figure.axes
    assert {moment.source for moment in path.moments} <= set(texts(figure))
    assert f"{path.moments[1].probability:.3g}" in texts(figure)
    assert "four-rooms:p1 and four-rooms:p0" in figure.get_suptitle()
    assert "they part after" in figure.get_suptitle()
    for axes, side in ((source, 0), (target, 1)):
        ring = next(line for line in axes.lines if line.get_fillstyle() == "none")
        name = (path.moments[path.parting].source, path.moments[path.parting].target)[side]
        assert f"({ring.get_ydata()[0]:.0f},{ring.get_xdata()[0]:.0f})" == name
    assert not overlapping(figure, steps.texts)


def far_apart(count):
    """Two halls that end in different rooms."""
    walk = np.eye(count, k=1)
    walk[-1, -1] = 1.0
    names = [f"room $x^2$ {k}" for k in range(count)]
    ends = (np.eye(count)[-1], np.zeros(count))
    one, other = (bm.MarkovChain(walk, reward=reward, start=0, names=names) for reward in ends)
    return bm.distance(one, other, discount=0.95).explain().path


def test_long_ways():
    """The middle is left out; names are literal; axes may be given."""
    path = far_apart(60)
    figure = path.plot()
    assert "…" in texts(figure)
    assert {"0", "59"} <= set(texts(figure))
    assert not overlapping(figure, figure.axes[0].texts)
    assert not any(text.get_parse_math() for text in figure.axes[0].texts)
    given = Figure()
    axes = given.subplots()
    assert path.plot(ax=axes) is given


def test_two_that_never_part():
    """Are drawn without a ring."""
    path = bm.distance("grid-3x3", "grid-3x3", discount=0.5).explain().path
    figure = path.plot()
    assert "never part" in figure.get_suptitle()
    assert not any(line.get_fillstyle() == "none" for line in figure.axes[0].lines)
    with pytest.raises(InvalidOption, match="path is a str"):
        bm.plot.path("x")

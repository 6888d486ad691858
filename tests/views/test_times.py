"""Times against sizes, and those that were not reached."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.pictures import legend, pixels, texts

SIZES = [2, 5, 10]
SECONDS = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 9.0], [8.0, 10.0, 20.0]])


def band(axes, k):
    """The lower and upper edge of the k-th band at every size."""
    corners = axes.collections[k].get_paths()[0].vertices
    return [(corners[corners[:, 0] == size, 1].min(), corners[corners[:, 0] == size, 1].max()) for size in SIZES]


def test_median_and_band():
    """The line is the median over seeds, the band goes from the least to the most; both axes are logarithmic."""
    figure = bm.plot.times({"ours": (SIZES[::-1], SECONDS[::-1]), "theirs": (SIZES, 3 * SECONDS)})
    (axes,) = figure.axes
    assert axes.lines[0].get_xdata().tolist() == SIZES
    assert axes.lines[0].get_ydata().tolist() == [2, 4, 10]
    assert band(axes, 0) == [(1, 3), (2, 9), (8, 20)]
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    assert legend(axes) == ["ours", "theirs"]
    assert {"states", "CPU seconds"} <= set(texts(figure))
    assert not any("not reached" in text for text in texts(figure))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["2", "5", "10"]


def test_not_reached():
    """Sizes whose median is not reached are open markers above all times, and no tick is beside them."""
    slow = SECONDS * 2
    slow[2] = np.nan
    figure = bm.plot.times({"ours": (SIZES, SECONDS), "slow": (SIZES, slow)})
    (axes,) = figure.axes
    (lost,) = [line for line in axes.lines if line.get_fillstyle() == "none"]
    assert lost.get_xdata().tolist() == [10]
    assert lost.get_color() == axes.lines[1].get_color()
    height = axes.transData.inverted().transform(lost.get_transform().transform((10, lost.get_ydata()[0])))[1]
    assert height > 20
    assert height < axes.get_ylim()[1]
    assert axes.get_yticks().max() < height
    assert np.isnan(axes.lines[1].get_ydata()[2])
    assert any("not reached" in text for text in texts(figure))
    assert pixels(figure).std() > 0


def test_some_seeds_not_reached():
    """NaN counts as longer than anything: the median stays, the band ends above all times."""
    some = SECONDS.copy()
    some[2, 1] = np.nan
    (axes,) = bm.plot.times({"some": (SIZES, some)}).axes
    assert axes.lines[0].get_ydata().tolist() == [2, 4, 20]
    assert band(axes, 0)[2][1] > 20
    some[2, 2] = np.nan
    figure = bm.plot.times({"some": (SIZES, some)})
    assert np.isnan(figure.axes[0].lines[0].get_ydata()[2])
    assert any("not reached" in text for text in texts(figure))


def test_nothing_reached():
    """A series of nothing but NaN is drawn too."""
    figure = bm.plot.times({"none": (SIZES, np.full((3, 2), np.nan))})
    assert legend(figure.axes[0]) == ["none"]
    assert pixels(figure).std() > 0


@pytest.mark.parametrize("count", [1, 30])
def test_extremes_that_are_not_reached(count):
    """The largest and smallest times, and a strip for many series, leave the axes in order."""
    seconds = [1e-100, 1e100, np.nan]
    figure = bm.plot.times({str(k): (SIZES, seconds) for k in range(count)})
    (axes,) = figure.axes
    low, high = axes.get_ylim()
    assert 0 < low < 1e-100 < 1e100 < high < np.inf
    heights = [line.get_ydata()[0] for line in axes.lines if line.get_fillstyle() == "none"]
    assert len(heights) == count
    assert 0.5 < min(heights) <= max(heights) < 1
    assert pixels(figure).std() > 0


def test_one_seed():
    """Seconds without a second dimension are those of one seed."""
    (axes,) = bm.plot.times({"one": (SIZES, [1.0, 2.0, 3.0])}).axes
    assert axes.lines[0].get_ydata().tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "pair",
    [
        (SIZES, [1.0, 0.0, 2.0]),
        ([0, 1, 2], SECONDS),
        (SIZES, SECONDS[:2]),
        (SIZES, np.empty((3, 0))),
        (SIZES, [1.0, 1e308, np.nan]),
        (SIZES, [1.0, 1e-308, np.nan]),
    ],
)
def test_bad_input(pair):
    """Sizes and times are positive and belong together."""
    with pytest.raises(InvalidOption, match=r"series\['a'\]"):
        bm.plot.times({"a": pair})

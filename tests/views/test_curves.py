"""Curves by round, and times by size with those that were not reached."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.pictures import legend, pixels, texts

SIZES = [2, 5, 10]
SECONDS = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 9.0], [8.0, 10.0, 20.0]])


def test_curves_and_exact_value():
    """The numbers given are those drawn, and the legend names them in order."""
    rounds = np.arange(1, 6)
    figure = bm.plot.curves({"m = 1": (rounds, 2.0 / rounds), "m = 2": (rounds, 1.0 / rounds)}, exact=0.25)
    (axes,) = figure.axes
    first, second, exact = axes.lines
    assert first.get_ydata().tolist() == (2.0 / rounds).tolist()
    assert second.get_xdata().tolist() == rounds.tolist()
    assert set(exact.get_ydata()) == {0.25}
    assert legend(axes) == ["m = 1", "m = 2", "exact"]
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    assert {"rounds", "estimated distance"} <= set(texts(figure))


def test_curves_differ_without_colour():
    """No two of 120 curves share colour, marker and dashes; neighbours share neither colour nor marker."""
    figure = bm.plot.curves({str(k): ([1, 2], [k, k]) for k in range(120)})
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in figure.axes[0].lines]
    assert len(set(looks)) == 120
    assert all(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(looks))


@pytest.mark.parametrize("log", [(False, True), (True, False), (True, True)])
def test_logarithmic_axes(log):
    """Each axis by itself; what it cannot show is left out, and drawing works."""
    figure = bm.plot.curves({"SVI": ([0, 1, 2], [1.0, 0.1, 0.0])}, log=log, xlabel="k", ylabel="error", title="t")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == tuple("log" if one else "linear" for one in log)
    assert {"k", "error", "t"} <= set(texts(figure))
    assert len(np.unique(pixels(figure).reshape(-1, 4), axis=0)) > 2


def test_the_legend_hides_nothing():
    """The legend lies beside the axes and inside of the figure."""
    figure = bm.plot.curves({"a long name of a curve": ([1, 2], [1, 2])})
    figure.draw_without_rendering()
    (axes,) = figure.axes
    box = axes.get_legend().get_window_extent()
    assert axes.get_window_extent().x1 < box.x0 < box.x1 <= figure.bbox.x1


def test_long_runs_are_quick():
    """Twenty thousand rounds are drawn with few markers."""
    rounds = np.arange(1, 20_001)
    figure = bm.plot.curves({f"η = {k}": (rounds, k / rounds) for k in range(1, 9)}, log=(True, True))
    assert pixels(figure).std() > 0


@pytest.mark.parametrize(
    ("curves", "exact", "words"),
    [
        ({}, None, "non-empty mapping"),
        ([1, 2], None, "non-empty mapping"),
        ({"a": [1, 2, 3]}, None, "two arrays"),
        ({"a": ([1, 2], ["x", "y"])}, None, "two arrays"),
        ({"a": ([1, 2], [1, 2, 3])}, None, r"shapes \(2,\) and \(3,\)"),
        ({"a": ([], [])}, None, "equal length"),
        ({"a": ([1, 2], [0, -1])}, None, "no point to draw"),
        ({"a": ([1, 2], [1, 2])}, 0.0, "exact is 0.0"),
        ({"a": ([1, 2], [1, 2])}, float("nan"), "exact is nan"),
        ({"a": ([1, 2], [1, 2])}, "x", "exact is 'x'"),
        ({"a": ([1, 2], [1, 2])}, True, "exact is True"),
        ({"a": ([1, 2], [1, 2])}, 10**400, "of size at most"),
        ({"a": ([1, 2], [1, 10**400])}, None, "two arrays"),
        ({"a": ([1, 2], [1, 1e308])}, None, "a number of size 1e[+]308"),
        ({1: ([1, 2], [1, 2]), "1": ([1, 2], [2, 3])}, None, "two names that read '1'"),
    ],
)
def test_bad_curves(curves, exact, words):
    """Curves without anything to draw are refused."""
    with pytest.raises(InvalidOption, match=words):
        bm.plot.curves(curves, exact=exact, log=(False, True))


@pytest.mark.parametrize("log", [True, None, (True,), "xy", (0, 1)])
def test_bad_log(log):
    """`log` must be two bools."""
    with pytest.raises(InvalidOption, match="two of True and False"):
        bm.plot.curves({"a": ([1, 2], [1, 2])}, log=log)


def test_the_largest_numbers_are_drawn():
    """The largest accepted numbers are drawn without overflow."""
    curve = {"a": ([1, 1e100], [1e-300, 1e100])}
    for log in [(False, False), (True, True)]:
        assert pixels(bm.plot.curves(curve, log=log, exact=1e100)).std() > 0


def test_zero_on_a_logarithmic_axis_leaves_a_gap():
    """A curve that touches zero has no line down to the edge of the picture."""
    (drawn,) = bm.plot.curves({"touches": ([1, 10, 100], [0.0, 2.5, 1.1])}, log=(True, True)).axes
    assert (drawn.xaxis.get_transform()._clip, drawn.yaxis.get_transform()._clip) == (False, False)


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
def test_bad_times(pair):
    """Sizes and times are positive and belong together."""
    with pytest.raises(InvalidOption, match=r"series\['a'\]"):
        bm.plot.times({"a": pair})

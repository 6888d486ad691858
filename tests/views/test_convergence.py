"""Curves against rounds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.pictures import legend, pixels, texts


def test_curves_and_exact_value():
    """The numbers given are those drawn, and the legend names them in order."""
    rounds = np.arange(1, 6)
    figure = bm.plot.convergence({"m = 1": (rounds, 2.0 / rounds), "m = 2": (rounds, 1.0 / rounds)}, exact=0.25)
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
    figure = bm.plot.convergence({str(k): ([1, 2], [k, k]) for k in range(120)})
    looks = [(line.get_color(), line.get_marker(), line.get_linestyle()) for line in figure.axes[0].lines]
    assert len(set(looks)) == 120
    assert all(a[0] != b[0] and a[1] != b[1] for a, b in pairwise(looks))


@pytest.mark.parametrize("log", [(False, True), (True, False), (True, True)])
def test_logarithmic_axes(log):
    """Each axis by itself; what it cannot show is left out, and drawing works."""
    figure = bm.plot.convergence({"SVI": ([0, 1, 2], [1.0, 0.1, 0.0])}, log=log, xlabel="k", ylabel="error", title="t")
    (axes,) = figure.axes
    assert (axes.get_xscale(), axes.get_yscale()) == tuple("log" if one else "linear" for one in log)
    assert {"k", "error", "t"} <= set(texts(figure))
    assert len(np.unique(pixels(figure).reshape(-1, 4), axis=0)) > 2


def test_the_legend_hides_nothing():
    """It lies beside the axes, and inside of the figure."""
    figure = bm.plot.convergence({"a long name of a curve": ([1, 2], [1, 2])})
    figure.draw_without_rendering()
    (axes,) = figure.axes
    box = axes.get_legend().get_window_extent()
    assert axes.get_window_extent().x1 < box.x0 < box.x1 <= figure.bbox.x1


def test_long_runs_are_quick():
    """Twenty thousand rounds are drawn with few markers."""
    rounds = np.arange(1, 20_001)
    figure = bm.plot.convergence({f"η = {k}": (rounds, k / rounds) for k in range(1, 9)}, log=(True, True))
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
        ({"a": ([1, 2], [1, 2])}, 10**400, "expected a number of size at most"),
        ({"a": ([1, 2], [1, 10**400])}, None, "two arrays"),
        ({"a": ([1, 2], [1, 1e308])}, None, "a number of size 1e[+]308"),
        ({1: ([1, 2], [1, 2]), "1": ([1, 2], [2, 3])}, None, "two names that read '1'"),
    ],
)
def test_bad_input(curves, exact, words):
    """Nothing is drawn that would say nothing."""
    with pytest.raises(InvalidOption, match=words):
        bm.plot.convergence(curves, exact=exact, log=(False, True))


@pytest.mark.parametrize("log", [True, None, (True,), "xy", (0, 1)])
def test_bad_log(log):
    """It says for both axes whether they are logarithmic."""
    with pytest.raises(InvalidOption, match=r"log is .*, expected two of True and False"):
        bm.plot.convergence({"a": ([1, 2], [1, 2])}, log=log)


def test_the_largest_numbers_are_drawn():
    """What is accepted needs no number that overflows."""
    curve = {"a": ([1, 1e100], [1e-300, 1e100])}
    for log in [(False, False), (True, True)]:
        assert pixels(bm.plot.convergence(curve, log=log, exact=1e100)).std() > 0


def test_zero_on_a_logarithmic_axis_leaves_a_gap():
    """A curve that touches zero has no line down to the edge of the picture."""
    (drawn,) = bm.plot.convergence({"touches": ([1, 10, 100], [0.0, 2.5, 1.1])}, log=(True, True)).axes
    assert (drawn.xaxis.get_transform()._clip, drawn.yaxis.get_transform()._clip) == (False, False)

"""Names beside points."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from bisimetric.errors import MissingExtra
from bisimetric.views.figures import new_figure
from bisimetric.views.labels import write_names
from tests.views.overlaps import overlapping, shown_boxes


def map_of(points):
    """Axes with points."""
    axes = new_figure((5.0, 4.0)).add_subplot()
    axes.scatter(points[:, 0], points[:, 1])
    axes.margins(0.1)
    return axes


@pytest.mark.parametrize("count", [1, 10, 60, 300])
def test_no_name_covers_another(count):
    """Those that have no room are left out, and counted; nothing leaves the axes."""
    points = np.random.default_rng(0).random((count, 2))
    axes = map_of(points)
    missing = write_names(axes, points, [f"a long name {k}" for k in range(count)], 36.0)
    figure = axes.figure
    assert not overlapping(figure, axes.texts)
    assert len(axes.texts) + missing == count
    assert len(axes.texts) >= min(count, 8)
    boxes = [box for _, box in shown_boxes(figure, axes.texts)]
    pixels = axes.transData.transform(points)
    assert not any(box.contains(*pixel) for box in boxes for pixel in pixels)
    frame = axes.get_window_extent().padded(2.0)
    assert all(frame.contains(*corner) for box in boxes for corner in box.corners())


def test_one_place_has_one_text():
    """It names as many as fit, and says how many others there are; empty names count for nothing."""
    points = np.array([[0.0, 0.0]] * 9 + [[1.0, 1.0]] * 2)
    axes = map_of(points)
    assert write_names(axes, points, [f"number {k}" for k in range(9)] + ["$b$", ""], 36.0) == 0
    assert sorted(text.get_text() for text in axes.texts) == ["$b$", "number 0, number 1, number 2 +6"]
    assert not any(text.get_parse_math() for text in axes.texts)


def test_long_names_that_differ_in_the_middle():
    """Each point has another text."""
    points = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    axes = map_of(points)
    names = [f"gym:FrozenLake-v1,success_rate=0.{k},policy=optimal,discount=0.9" for k in (2, 5, 7)]
    assert write_names(axes, points, names, 36.0) == 0
    assert len({text.get_text() for text in axes.texts}) == 3


def test_a_name_without_room(capsys):
    """Is left out without a word."""
    points = np.array([[0.0, 0.0]])
    axes = map_of(points)
    axes.set_position((0.5, 0.5, 0.01, 0.01))
    axes.figure.set_layout_engine("none")
    assert write_names(axes, points, ["much longer than that"], 36.0) == 1
    assert capsys.readouterr().out == ""
    assert write_names(axes, points, [""], 36.0) == 0


def test_without_textalloc(monkeypatch):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "textalloc", None)
    with pytest.raises(MissingExtra, match=r"bisimetric\[plot\]"):
        write_names(map_of(np.zeros((1, 2))), np.zeros((1, 2)), ["a"], 36.0)

"""Names along an axis: fewer where they do not fit, never smaller, never on top of one another."""

from __future__ import annotations

import pytest

from bisimetric.views.figures import new_figure
from bisimetric.views.ticks import TICK_SIZE, name_ticks
from tests.views.overlaps import overlapping, ticks


def named_axes(count, size, name="state number {}"):
    """Axes with this many names along both sides."""
    figure = new_figure(size)
    axes = figure.add_subplot()
    axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5))
    for axis in (axes.xaxis, axes.yaxis):
        name_ticks(axis, [name.format(k) for k in range(count)])
    return figure, axes


@pytest.mark.parametrize(
    ("count", "name"), [(1, "{}"), (5, "{}"), (400, "{}"), (5, "state {}"), (77, "state number {}")]
)
def test_names_do_not_collide(count, name):
    """In a figure of any size, also one that is resized later."""
    figure, axes = named_axes(count, (5.0, 4.0), name)
    for size in ((5.0, 4.0), (2.4, 2.4)):
        figure.set_size_inches(size)
        for axis in (axes.xaxis, axes.yaxis):
            labels = ticks(figure, axis)
            assert labels[0].get_text() == name.format(0)
            assert not overlapping(figure, labels)
            assert {label.get_fontsize() for label in labels} == {TICK_SIZE}


def test_long_names_that_differ_in_the_middle():
    """Each is another text."""
    figure, axes = named_axes(5, (5.0, 4.0), "a name with {} in the middle and the same words at its end")
    assert len({label.get_text() for label in ticks(figure, axes.yaxis)}) == 5


def test_all_names_are_there_if_they_fit():
    """And a zoom shows those that did not."""
    figure, axes = named_axes(20, (5.0, 5.0))
    assert len(ticks(figure, axes.yaxis)) == 20
    figure, axes = named_axes(400, (5.0, 5.0))
    assert len(ticks(figure, axes.yaxis)) < 60
    axes.set_ylim(109.5, 99.5)
    assert [label.get_text() for label in ticks(figure, axes.yaxis)] == [f"state number {k}" for k in range(100, 110)]


def test_long_names_keep_both_ends():
    """Because names often differ at their end; nothing in them is mathematics."""
    figure, axes = named_axes(3, (5.0, 5.0), "$x^2$ " * 20 + "{}")
    labels = ticks(figure, axes.yaxis)
    assert [label.get_text()[-1] for label in labels] == ["0", "1", "2"]
    assert all(label.get_text().startswith("$x^2$") and not label.get_parse_math() for label in labels)

"""Whether texts in a figure cover one another."""

from __future__ import annotations

from itertools import combinations


def shown_boxes(figure, texts):
    """The boxes of texts that are drawn, in pixels, by their text."""
    figure.canvas.draw()
    return [(text.get_text(), text.get_window_extent()) for text in texts if text.get_text() and text.get_visible()]


def overlapping(figure, texts):
    """Pairs of texts that cover one another."""
    pairs = combinations(shown_boxes(figure, texts), 2)
    return [(one, other) for (one, box), (other, second) in pairs if box.overlaps(second)]


def ticks(figure, axis):
    """The labels of ticks inside of an axis."""
    figure.canvas.draw()
    low, high = sorted(axis.get_view_interval())
    at = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
    return [label for place, label in at if low <= place <= high]

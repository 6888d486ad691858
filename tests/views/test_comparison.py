"""The picture of a comparison."""

from __future__ import annotations

import bisimetric as bm
from tests.estimation.logs import comparison, logs


def texts(figure):
    """All texts of a figure."""
    found = [text.get_text() for axes in figure.axes for text in [axes.title, *axes.get_yticklabels()]]
    found += [axes.get_title(loc="left") for axes in figure.axes]
    return found + [text.get_text() for legend in figure.legends for text in legend.get_texts()]


def test_it_shows_the_null_the_distance_and_what_changed(tmp_path):
    """With the p-value, both intervals, and the transitions by name."""
    figure = comparison("changed").plot()
    shown = texts(figure)
    assert "product → cart" in shown
    assert any("40 random splits" in text for text in shown)
    assert any("guarantee" in text for text in shown)
    assert any("p = 0.024" in text for text in shown)
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 40
    bm.plot.save(figure, tmp_path / "change.svg")


def test_without_a_change_it_says_so():
    """And shows the largest differences."""
    shown = texts(comparison().plot())
    assert any("No transition differs" in text for text in shown)
    assert any("unreliable" in text for text in shown)


def test_names_are_inert():
    """Mathematics and control characters in names are shown as they are."""
    rename = {"product": "$x^2$", "cart": "a\x1b[31m"}
    strange = [[[rename.get(page, page) for page in visit] for visit in log] for log in logs("changed")]
    figure = bm.compare(*strange, discount=0.8, resamples=2).plot()
    assert any("$x^2$" in text for text in texts(figure))
    assert not any("\x1b" in text for text in texts(figure))

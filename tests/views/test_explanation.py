"""What contributes to a distance, as bars."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.overlaps import ticks


def test_bars_add_up_to_the_distance():
    """One per pair, one for the others, each with its share."""
    explanation = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).explain(4)
    figure = explanation.plot()
    (axes,) = figure.axes
    widths = [bar.get_width() for bar in axes.patches]
    assert sum(widths) == pytest.approx(explanation.distance)
    names = [label.get_text() for label in ticks(figure, axes.yaxis)]
    assert names[0] == f"{explanation.parts[0].source} ~ {explanation.parts[0].target}"
    assert "other pairs" in names[-1]
    assert axes.texts[0].get_text().strip() == f"{explanation.parts[0].share:.1%}"


def test_actions_and_axes():
    """Between decision processes the pairs have actions; axes may be given."""
    lake, dry = bm.as_mdp("gym:FrozenLake-v1"), bm.as_mdp("gym:FrozenLake-v1,is_slippery=false")
    explanation = bm.bisimulation_metric(lake, dry, discount=0.9).explain()
    figure = Figure()
    axes = figure.subplots()
    assert explanation.plot(ax=axes) is figure
    assert explanation.parts[0].actions[0] in ticks(figure, axes.yaxis)[0].get_text()


def test_nothing_to_draw():
    """A distance of 0 has no parts, and the error says so."""
    explanation = bm.distance("grid-3x3", "grid-3x3", discount=0.5).explain()
    with pytest.raises(InvalidOption, match="distance is 0"):
        explanation.plot()
    with pytest.raises(InvalidOption, match="explanation is a str"):
        bm.plot.explanation("x")

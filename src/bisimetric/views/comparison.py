"""The picture of a comparison: what chance alone makes, where the logs are, and which transitions differ."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric._support.text import discount_text
from bisimetric.estimation.changed import Transition
from bisimetric.estimation.comparison import Comparison
from bisimetric.views.figures import (
    GRID,
    LINE_COLOURS,
    LITERAL,
    REFERENCE,
    WALL_GREY,
    figure_of,
    inert,
    new_figure,
    set_texts,
)

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COMPARISON_SIZE = (10.5, 4.2)  # inches
MOST_NULL_BINS, FEWEST_NULL_BINS = 40, 8
MOST_DRAWN = 10  # transitions
LONGEST_MOVE = 34  # characters of the two names of a transition


def comparison(answer: Comparison) -> Figure:
    """Draw the null with the distance and the intervals, beside the transitions that changed."""
    figure = new_figure(COMPARISON_SIZE)
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1.0))
    _draw_null(left, answer)
    _draw_changes(right, answer)
    return figure


def null_bins(resamples: int) -> int:
    """How many bins a histogram of so many resamples has."""
    return int(np.clip(resamples // 6, FEWEST_NULL_BINS, MOST_NULL_BINS))


def _draw_null(axes: Axes, answer: Comparison) -> None:
    null, (low, high) = answer.null, answer.interval
    blue, red, green = LINE_COLOURS[:3]
    handles: list[Artist] = []
    names: list[str] = []
    top = 1.0
    if len(null):
        heights, edges = np.histogram(null, null_bins(len(null)))
        bars = axes.bar(edges[:-1], heights, np.diff(edges), align="edge", color=WALL_GREY)
        top = float(heights.max())
        handles.append(bars[0])
        names.append(f"no change: {len(null)} random splits")
    handles.append(axes.axvline(answer.distance, color=red, linewidth=2.0))
    names.append(f"the two logs: {answer.distance:.3g}")
    if len(answer.bootstrap):
        handles += axes.plot([low, high], [1.06 * top] * 2, color=blue, linewidth=3.0, solid_capstyle="butt")
        names.append(f"bootstrap, {answer.confidence:.0%}" + (" (unreliable near 0)" if answer.near_zero else ""))
    bounds = answer.guarantee
    handles += axes.plot(bounds, [1.14 * top] * 2, color=green, linewidth=3.0, solid_capstyle="butt", clip_on=True)
    names.append(f"guarantee, {answer.confidence:.0%}: [{bounds[0]:.3g}, {bounds[1]:.3g}]")
    reach = max(answer.distance, float(null.max()) if len(null) else 0.0, high if len(answer.bootstrap) else 0.0)
    axes.set_xlim(0.0, 1.12 * reach if reach > 0.0 else 1.0)
    axes.set_ylim(0.0, 1.22 * top)
    axes.spines[["top", "right"]].set_visible(False)
    unit = answer.solution.problem.cost_text
    set_texts(
        axes,
        title=f"Is it noise? {answer.a.n_sequences} and {answer.b.n_sequences} sequences, p = {answer.p_value:.2g}",
        xlabel=f"distance at discount {discount_text(answer.discount)}" + (f", cost: {unit}" if unit else ""),
        ylabel="random splits",
    )
    look: dict[str, Any] = {"ncols": len(names), "frameon": False, "fontsize": "small"}
    figure_of(axes).legend(handles, names, loc="outside lower center", **look)


def _draw_changes(axes: Axes, answer: Comparison) -> None:
    chosen = answer.changed.significant()[:MOST_DRAWN]
    title = f"What changed: {len(answer.changed.significant())} of {answer.changed.n_tested} transitions (Holm)"
    if not chosen:
        chosen = tuple(c for c in answer.changed.transitions if not np.isnan(c.difference))[:MOST_DRAWN]
        title = "No transition differs beyond chance"
    places = np.arange(len(chosen))[::-1]
    difference = np.array([100.0 * change.difference for change in chosen])
    spans = np.array([[100.0 * end for end in change.interval] for change in chosen]).reshape(-1, 2)
    errors = np.abs(spans.T - difference)
    colour = LINE_COLOURS[0]
    axes.errorbar(difference, places, xerr=errors, fmt="o", color=colour, ecolor=colour, capsize=3.0, markersize=4.5)
    axes.axvline(0.0, color=REFERENCE, linewidth=0.8)
    axes.set_yticks(places, labels=[_move(change) for change in chosen], **LITERAL)
    axes.set_ylim(-0.7, max(len(chosen) - 0.3, 0.7))
    axes.grid(axis="x", color=GRID)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    set_texts(axes, title=title, xlabel="share in b minus share in a, percentage points", ylabel="")


def _move(change: Transition) -> str:
    half = LONGEST_MOVE // 2
    return f"{inert(change.source, half)} → {inert(change.target, half)}"

"""Where a distance comes from, as bars: what the pairs of states contribute."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.couplings.explanation import Explanation, Part
from bisimetric.errors import InvalidOption
from bisimetric.views.figures import (
    GRID,
    LINE_COLOURS,
    LITERAL,
    axes_or_new,
    figure_of,
    in_range,
    require_matplotlib,
    set_texts,
    shortened,
)
from bisimetric.views.ticks import name_ticks
from bisimetric.views.titles import joined, names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPLANATION_WIDTH, BAR_HEIGHT = 6.8, 0.27  # inches
LONGEST_PART = 16  # characters of a state's or an action's name
REST_COLOUR = "0.72"
SHARE_SIZE = 8.0  # points


def explanation(explanation: Explanation, *, title: str | None = None, ax: Axes | None = None) -> Figure:
    """Draw what the pairs of states contribute to a distance: one bar per pair, and one for all others.

    The bars add up to the distance; each says its share. `Explanation.plot` calls this function.

    Parameters
    ----------
    explanation : Explanation
        What `solution.explain()` returned.
    title : str, optional
        The title; by default the models, the distance and what the bars mean.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `explanation` is something else, or explains nothing because the distance is 0.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> figure = bm.plot.explanation(solution.explain(5))
    """
    check_kind(explanation, "explanation", Explanation, "what solution.explain() returns")
    require_matplotlib()
    others = explanation.n_pairs - len(explanation.parts)
    names = [_pair_text(part) for part in explanation.parts]
    amounts = [part.amount for part in explanation.parts]
    if others > 0:
        names.append(f"{others} other pair{'s' if others > 1 else ''}")
        amounts.append(explanation.rest)
    if not names:
        raise InvalidOption("the explanation has no parts, because the distance is 0; there is nothing to draw")
    drawn = axes_or_new(ax, (EXPLANATION_WIDTH, BAR_HEIGHT * len(names) + 1.5))
    lengths, label = in_range(np.array(amounts), "part of the distance")
    colours = [*[LINE_COLOURS[0]] * len(explanation.parts), REST_COLOUR][: len(names)]
    drawn.barh(range(len(names)), lengths, color=colours, height=0.78)
    total = explanation.distance
    for k, (length, amount) in enumerate(zip(lengths, amounts, strict=True)):
        share = f" {amount / total:.1%}" if total else ""
        drawn.text(length, k, share, va="center", ha="left", fontsize=SHARE_SIZE, **LITERAL)
    drawn.set(ylim=(len(names) - 0.5, -0.5), xlim=(0.0, 1.15 * float(lengths.max())))
    name_ticks(drawn.yaxis, names, longest=max(map(len, names)))
    drawn.grid(axis="x", color=GRID, linewidth=0.6)
    drawn.set_axisbelow(True)
    drawn.spines[["top", "right"]].set_visible(False)
    models = "" if explanation.models is None else f"{joined(names_of(explanation.models))}\n"
    said = f"{models}distance {total:.6g} = sum of the bars\n{explanation.formula}"
    set_texts(drawn, title=said if title is None else title, xlabel=label, ylabel="pair of states: source ~ target")
    return figure_of(drawn)


def _pair_text(part: Part) -> str:
    """The two states, with their decisive actions if there are any."""
    actions = part.actions or ("", "")
    mine, theirs = (
        shortened(state, LONGEST_PART) + (f" {shortened(action, LONGEST_PART)}" if action else "")
        for state, action in zip((part.source, part.target), actions, strict=True)
    )
    return f"{mine} ~ {theirs}"

"""The most likely way on which two coupled models part: step by step, and on their maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.couplings.parting import JointPath, Moment
from bisimetric.models.rows import Ints
from bisimetric.views.figures import (
    LINE_COLOURS,
    LITERAL,
    axes_or_new,
    figure_of,
    new_figure,
    require_matplotlib,
    shortened,
    wrapped,
)
from bisimetric.views.grid_cells import GridCells, cells_of
from bisimetric.views.maps import draw_map
from bisimetric.views.titles import joined, names_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

TOGETHER, APART = LINE_COLOURS[0], LINE_COLOURS[1]  # colours of pairs that cost nothing, and of those that do
STEP_HEIGHT, STEPS_WIDTH, PATH_MAP = 0.36, 5.6, 3.4  # inches of a step, of the list of steps, of a map
MOST_DRAWN_STEPS = 20  # of a longer way the middle is left out
LONGEST_ON_WAY = 24  # characters of a state's name, with its action
STEP_TEXT = 8.0  # points
SOURCE_AT, TARGET_AT = 0.42, 0.60  # where the two models stand in the list of steps, as a share of its width


def path(path: JointPath, *, ax: Axes | None = None) -> Figure:
    """Draw the most likely way on which two coupled models part, step by step, and on their maps if both have one.

    Every line is a moment: the states of source and target, orange from where they cost something. Between two lines
    stands the probability of the move. On the maps the way is a line; a ring is where the two part. `JointPath.plot`
    calls this function.

    Parameters
    ----------
    path : JointPath
        What `solution.explain().path` is.
    ax : matplotlib.axes.Axes, optional
        Axes to draw the steps into instead of a new figure, without maps.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `path` is something else.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> figure = bm.plot.path(solution.explain().path)
    """
    check_kind(path, "path", JointPath, "what solution.explain().path is")
    require_matplotlib()
    names = names_of(path.models)
    source, target = (cells_of(model.names) for model in path.models)
    steps = _shown_steps(len(path.moments))
    height = STEP_HEIGHT * (len(steps) + 1)
    if ax is not None or source is None or target is None:
        drawn = axes_or_new(ax, (STEPS_WIDTH, height + 1.0))
    else:
        size = STEPS_WIDTH + 2 * PATH_MAP, max(height, PATH_MAP) + 1.2
        ratios = (PATH_MAP, PATH_MAP, STEPS_WIDTH)
        left, middle, drawn = new_figure(size).subplots(1, 3, width_ratios=ratios)
        for axes, side, cells in ((left, 0, source), (middle, 1, target)):
            draw_map(axes, path.models[side], cells, shortened(f"{('source', 'target')[side]}: {names[side]}", 40))
            _draw_way(axes, cells, np.array([moment.states[side] for moment in path.moments]), path.parting)
    _draw_steps(drawn, path, steps)
    figure = figure_of(drawn)
    said = f"{joined(names)}: the most likely way to part\n{path.summary()}"
    if ax is None:
        figure.suptitle(wrapped(said, figure.get_figwidth()), fontsize="medium", **LITERAL)
    return figure


def _shown_steps(count: int) -> list[int]:
    """The steps that are drawn; -1 stands for those that are left out."""
    if count <= MOST_DRAWN_STEPS:
        return list(range(count))
    half = MOST_DRAWN_STEPS // 2
    return [*range(half), -1, *range(count - half, count)]


def _draw_steps(axes: Axes, path: JointPath, steps: list[int]) -> None:
    """Write the moments one below the other, with the probabilities of the moves between them."""
    axes.set(xlim=(0, 1), ylim=(len(steps) - 0.4, -1.2), xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    style = {"fontsize": STEP_TEXT, "va": "center", **LITERAL}
    for x, text, side in (
        (0.0, "step", "left"),
        (SOURCE_AT - 0.02, "source", "right"),
        (TARGET_AT + 0.02, "target", "left"),
    ):
        axes.text(x, -0.85, text, ha=side, color="0.4", **style)
    axes.text((SOURCE_AT + TARGET_AT) / 2, -0.85, "chance", ha="center", color="0.4", **style)
    for row, step in enumerate(steps):
        if step < 0:
            axes.text((SOURCE_AT + TARGET_AT) / 2, row, "…", ha="center", **style)
            continue
        moment = path.moments[step]
        colour = APART if path.parting is not None and step >= path.parting and moment.cost > 0 else TOGETHER
        if row and steps[row - 1] >= 0:
            for x in (SOURCE_AT, TARGET_AT):
                axes.plot([x, x], [row - 1, row], color="0.75", linewidth=1.2, zorder=1)
            axes.text(
                (SOURCE_AT + TARGET_AT) / 2, row - 0.5, f"{moment.probability:.3g}", ha="center", color="0.4", **style
            )
        axes.plot([SOURCE_AT, TARGET_AT], [row, row], color=colour, linewidth=1.6, zorder=2)
        axes.plot([SOURCE_AT, TARGET_AT], [row, row], "o", color=colour, markersize=5, zorder=3)
        axes.text(0.0, row, str(step), ha="left", **style)
        axes.text(SOURCE_AT - 0.02, row, _place(moment, 0), ha="right", **style)
        cost = f"   cost {moment.cost:.4g}" if moment.cost > 0 else ""
        axes.text(TARGET_AT + 0.02, row, f"{_place(moment, 1)}{cost}", ha="left", color="black", **style)


def _place(moment: Moment, side: int) -> str:
    """The state of one model, with its decisive action if it has one."""
    state = (moment.source, moment.target)[side]
    return shortened(state if moment.actions is None else f"{state} {moment.actions[side]}", LONGEST_ON_WAY)


def _draw_way(axes: Axes, cells: GridCells, states: Ints, parting: int | None) -> None:
    """Draw the way over the cells: solid up to the parting, dashed after it, with a ring around where that is."""
    x, y = cells.column[states].astype(np.float64), cells.row[states].astype(np.float64)
    end = len(states) - 1 if parting is None else parting
    axes.plot(x[: end + 1], y[: end + 1], "-", color=TOGETHER, linewidth=2.2, zorder=2.6, solid_capstyle="round")
    axes.plot(x[end:], y[end:], ":", color=APART, linewidth=2.2, zorder=2.6)
    axes.plot(x[0], y[0], "o", color=TOGETHER, markersize=6, zorder=2.7, alpha=0.5)
    if parting is not None:
        axes.plot(x[end], y[end], "o", markersize=12, fillstyle="none", color=APART, markeredgewidth=2.0, zorder=5)

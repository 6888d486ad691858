"""What `solution.plot()` shows.

For two grids with starts: both maps, and the distance from the source's start to every cell of the target. For any
other two models: the matrix of distances; a large one is averaged over blocks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.models.chain import State
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats
from bisimetric.solving.solution import Answer
from bisimetric.views.figures import (
    LITERAL,
    add_colour_bar,
    axes_or_new,
    colour_image,
    figure_of,
    in_range,
    inert,
    lines,
    new_figure,
    set_texts,
)
from bisimetric.views.grid_cells import cells_of, checked_cells
from bisimetric.views.heat_map import heat_map
from bisimetric.views.maps import draw_map, start_marks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAPS_SIZE, MATRIX_WIDTH = (9.6, 3.7), 7.2  # inches
NUMBERED_SIZE, NUMBERED_WIDTH = (12.0, 5.0), 1.9  # inches; width of a panel with numbers, in maps
NAMED = 40  # an axis shows names up to this many states, numbers beyond
LONGEST_TICK = 18  # characters
MAP_TITLE = 36  # characters that fit over a map
RESOLUTION = 1000  # rows or columns of a matrix that are drawn; a larger matrix is averaged over blocks


def distances(solution: Answer, *, names: tuple[str, str] | None = None, axes: Axes | None = None) -> Figure:
    """Draw the distances of a solution: over the cells if both models are grids with starts, else as a matrix.

    Two grids give three panels: both maps, and the distance from the source's start to every cell of the target.
    `Solution.plot` calls this function.

    Parameters
    ----------
    solution : Solution or MDPSolution
        What `bisimetric.solve`, `distance` or `bisimulation_metric` returned.
    names : (str, str), optional
        The names of the two models, for titles and labels.
    axes : matplotlib.axes.Axes, optional
        Axes to draw the heat map or the matrix into, without the maps, instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `solution` is not a solution.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> figure = bm.plot.distances(solution, names=("p1", "p0"))
    """
    check_kind(solution, "solution", Answer, "what bisimetric.solve or bisimetric.distance returns")
    source, target = solution.models
    cells = cells_of(source.names), cells_of(target.names)
    if cells[0] is None or cells[1] is None or source.start is None or target.start is None:
        return _matrix(solution, names, axes)
    starts = source.start > 0.0
    to_cells = source.start[starts] @ solution.value[starts]  # a distribution and a single state have only one coupling
    if axes is not None:
        return heat_map(target, to_cells, title=_summary(solution).replace(", distance", "\ndistance"), axes=axes)
    return on_grids(source, target, to_cells, _summary(solution), names)


def on_grids(
    source: Model,
    target: Model,
    to_cells: Floats,
    title: str,
    names: tuple[str, str] | None = None,
    *,
    numbers: bool = False,
) -> Figure:
    """Draw both maps, and the distance from the source's start to every cell of the target, as `numbers` too."""
    figure = new_figure(NUMBERED_SIZE if numbers else MAPS_SIZE)
    left, middle, right = figure.subplots(1, 3, width_ratios=(1, 1, NUMBERED_WIDTH if numbers else 1))
    draw_map(left, source, checked_cells(source.names), _over_map("source", names, 0))
    draw_map(middle, target, checked_cells(target.names), _over_map("target", names, 1))
    starts = start_marks(target.start)
    written = {k: f"{value:.2f}" for k, value in enumerate(to_cells.tolist())} if numbers else starts
    marks: dict[State, str] = {state: text for state, text in written.items()}  # noqa: C416 - keys are invariant
    heat_map(target, to_cells, title="distance from the source's start", marks=marks, axes=right)
    right.set(xticks=[], yticks=[], xlabel="to each cell of the target", ylabel="")
    figure.suptitle(lines(title), fontsize="medium", **LITERAL)
    return figure


def _summary(solution: Answer) -> str:
    """Discount, certified gap and, if there are starts, the distance between them, in one line."""
    parts = [f"γ = {solution.discounting}", f"certified gap {solution.gap:.1e}"]
    if all(model.start is not None for model in solution.models):
        parts.append(f"distance between the starts {solution.distance:.6g}")
    return ", ".join(parts)


def _titled(role: str, names: tuple[str, str] | None, k: int) -> str:
    return role if names is None else f"{role}: {names[k]}"


def _over_map(role: str, names: tuple[str, str] | None, k: int) -> str:
    """The title of a map, which is a third of the picture: a long name has a line of its own, and keeps both ends."""
    title = _titled(role, names, k)
    if names is None or len(title) <= MAP_TITLE:
        return title
    name = names[k]
    cut = name if len(name) <= MAP_TITLE else f"{name[: MAP_TITLE // 2 - 1]}…{name[-MAP_TITLE // 2 :]}"
    return f"{role}:\n{inert(cut, MAP_TITLE)}"


def _matrix(solution: Answer, names: tuple[str, str] | None, axes: Axes | None) -> Figure:
    """Draw the matrix of distances, averaged over blocks if it is large."""
    n, m = solution.value.shape
    step = max(1, -(-max(n, m) // RESOLUTION))
    shown, label = in_range(solution.value, "distance" if step == 1 else f"distance, mean over {step} × {step} pairs")
    long = max(n, m) > 3 * min(n, m)  # square cells would make the picture too thin
    drawn = axes_or_new(axes, (MATRIX_WIDTH, 1.3 + 4.6 * (1.0 if long else min(n / m, 1.2))))
    image = colour_image(drawn, block_means(shown, step), (-0.5, m - 0.5, n - 0.5, -0.5))
    drawn.set_aspect("auto" if long else "equal")
    add_colour_bar(drawn, image, label)
    source, target = solution.models
    _name_ticks(drawn, target, source)
    set_texts(
        drawn,
        title=_summary(solution).replace(", distance", "\ndistance"),
        xlabel=_titled("state of the target", names, 1),
        ylabel=_titled("state of the source", names, 0),
    )
    return figure_of(drawn)


def block_means(matrix: Floats, step: int) -> Floats:
    """The means over blocks of step × step entries, NaN left out; blocks at the far edges may be smaller."""
    if step == 1:
        return matrix
    rows, columns = (np.arange(0, size, step) for size in matrix.shape)
    known = ~np.isnan(matrix)
    sums, counts = (
        np.add.reduceat(np.add.reduceat(part, rows, axis=0), columns, axis=1)
        for part in (np.where(known, matrix, 0.0), known.astype(np.float64))
    )
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


def _name_ticks(axes: Axes, across: Model, down: Model) -> None:
    """Label both axes with the names of the states if they are few, else with their numbers."""
    from matplotlib.ticker import MaxNLocator

    for axis, model, rotation in ((axes.xaxis, across, 90), (axes.yaxis, down, 0)):
        names = model.names if model.names is not None else [str(k) for k in range(model.n_states)]
        if len(names) <= NAMED:
            ticks = [inert(name, LONGEST_TICK) for name in names]
            size = 9.0 if max(across.n_states, down.n_states) <= 20 else 7.0
            axis.set_ticks(range(len(names)), ticks, rotation=rotation, fontsize=size, **LITERAL)
        else:
            axis.set_major_locator(MaxNLocator(integer=True))

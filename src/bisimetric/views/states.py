"""The states of one model at their distances from one another.

Multidimensional scaling puts states that behave alike side by side. A grid is drawn three times: its map; the same
cells in the colour of their first coordinate; and the states as points at their distances, in the same colours. So
cells of one colour behave about alike, and the points say how nearly.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import State
from bisimetric.models.mdp import Model
from bisimetric.solving.solution import Answer
from bisimetric.views.arrows import best_policy
from bisimetric.views.embedding import Embedding, embed
from bisimetric.views.figures import LITERAL, figure_of, new_figure, require_matplotlib, wrapped
from bisimetric.views.grid_cells import GridCells, cells_of
from bisimetric.views.heat_map import heat_map
from bisimetric.views.labels import write_names
from bisimetric.views.maps import WIDE, draw_map, start_marks
from bisimetric.views.mds import finish_map, mds, point_area
from bisimetric.views.tables import as_table
from bisimetric.views.titles import distance_unit, facts, headline

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STATES_SIZE, WIDE_STATES = (13.2, 4.4), (12.4, 5.2)  # inches


def states(
    solution: Answer,
    *,
    groups: Sequence[object] | None = None,
    names: Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the states of one model at their distances from one another, and on their map if there is one.

    The map has walls, holes, rewards and, of a decision process, the arrows of an optimal policy. Beside it the cells
    have colours, those of the points: states of one colour behave about alike.

    `solution.plot()` shows this for a model that is compared with itself.

    Parameters
    ----------
    solution : Solution or MDPSolution
        The distances of a model with itself, as `bisimetric.bisimulation_metric(model)` returns them.
    groups : sequence of n labels, optional
        The group of every state, shown by colour and marker instead of the map's colours.
    names : (str, str), optional
        The name of the model, twice, for the title.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure: the map of a grid, else the points.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `solution` is not one of a model with itself, or its distances are not symmetric.
    MissingExtra
        If matplotlib, scikit-learn or textalloc is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> figure = bm.plot.states(bm.bisimulation_metric("four-rooms:p1", discount=0.9))
    """
    check_kind(solution, "solution", Answer, "what bisimetric.bisimulation_metric returns")
    require_matplotlib()
    model, other = solution.models
    if model.n_states != other.n_states:
        raise InvalidOption("the solution is about two models, expected one of a model with itself")
    title = f"{headline(solution, names)}\n{facts(solution)}"
    cells = cells_of(model.names)
    if cells is None or groups is not None:
        return mds(solution, groups=groups, title=title, ax=ax)
    embedding = embed(solution, dimensions=2)
    if ax is not None:
        _draw_cells(ax, model, embedding, solution, title)
        return figure_of(ax)
    plain, coloured, points = _panels(cells)
    draw_map(plain, model, cells, "the model", best_policy(solution, model))
    _draw_cells(coloured, model, embedding, solution, "states of one colour behave alike")
    figure = figure_of(points)
    figure.suptitle(wrapped(title, figure.get_figwidth()), fontsize="medium", **LITERAL)
    _draw_points(points, embedding, solution)  # the last, because names find their places in the finished layout
    return figure


def _panels(cells: GridCells) -> tuple[Axes, Axes, Axes]:
    """Axes for the map, for the same in colours, and for the points; wide maps stand one above the other."""
    rows, columns = cells.shape
    if columns <= WIDE * rows:
        plain, coloured, points = new_figure(STATES_SIZE).subplots(1, 3, width_ratios=(1, 1, 1.35))
        return plain, coloured, points
    figure = new_figure(WIDE_STATES)
    panels = figure.add_gridspec(2, 2, width_ratios=(1.15, 1))
    plain, coloured = figure.add_subplot(panels[0, 0]), figure.add_subplot(panels[1, 0])
    return plain, coloured, figure.add_subplot(panels[:, 1])


def _draw_cells(axes: Axes, model: Model, embedding: Embedding, solution: Answer, title: str) -> None:
    """Draw the cells in the colour of their first coordinate."""
    unit = distance_unit(solution)
    label = f"first coordinate ({unit})" if unit else "first coordinate"
    starts = start_marks(model.start)
    marks: dict[State, str] = {state: text for state, text in starts.items()}  # noqa: C416 - keys are invariant
    heat_map(model, embedding.points[:, 0], label=label, title=title, marks=marks, ax=axes)


def _draw_points(axes: Axes, embedding: Embedding, solution: Answer) -> None:
    """Draw the states as points, in the colours of the map."""
    table, points = as_table(solution), embedding.points
    axes.scatter(
        points[:, 0], points[:, 1], c=points[:, 0], cmap="viridis", s=point_area(len(points)), edgecolors="black",
        linewidths=0.6, zorder=4,
    )  # fmt: skip
    finish_map(axes, points, f"stress {embedding.stress:.3f}", table.label, "the same states at their distances")
    write_names(axes, points, table.rows, point_area(len(points)))

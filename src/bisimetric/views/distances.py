"""What `solution.plot()` shows: the picture that fits the models.

For two grids with starts: both maps, and the distance from the source's start to every cell of the target. For a model
with itself: its states at their distances (`states`). For any other two models: the matrix of distances. For a table of
distances between chains: the chains at their distances (`mds`), or the matrix where the two lists differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.many.table import Distances
from bisimetric.models.chain import State
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats
from bisimetric.solving.solution import Answer
from bisimetric.views.arrows import best_policy
from bisimetric.views.figures import LITERAL, all_shortened, figure_of, new_figure, require_matplotlib, wrapped
from bisimetric.views.grid_cells import cells_of, checked_cells
from bisimetric.views.heat_map import heat_map
from bisimetric.views.maps import WIDE, draw_map, start_marks
from bisimetric.views.matrix import matrix
from bisimetric.views.mds import mds
from bisimetric.views.states import states
from bisimetric.views.tables import as_table, symmetric
from bisimetric.views.titles import distance_label, facts, headline, is_with_itself, model_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAPS_SIZE, WIDE_SIZE = (10.4, 4.0), (7.6, 8.4)  # inches
NUMBERED_SIZE, NUMBERED_WIDTH = (12.0, 5.0), 1.9  # inches; width of a panel with numbers, in maps
MAP_TITLE = 34  # characters that fit over a map
MOST_POINTS = 2000  # of a model whose states are drawn as points
FEWEST_POINTS = 3  # fewer chains are a matrix, not points


def distances(solution: Answer, *, names: Sequence[str] | None = None, ax: Axes | None = None) -> Figure:
    """Draw the distances of a solution, as fits the models; `solution.plot()` calls this function.

    Two grids with starts: both maps, with the arrows of optimal policies if they are decision processes, and the
    distance from the source's start to every cell of the target. A model with itself: its states at their distances
    from one another (`states`). Any other two models: the matrix of distances (`matrix`).

    Parameters
    ----------
    solution : Solution or MDPSolution
        What `bisimetric.solve`, `distance` or `bisimulation_metric` returned.
    names : (str, str), optional
        The names of the two models, for titles; by default where they come from.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure; of several panels the one with the distances.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `solution` is not a solution.
    MissingExtra
        If matplotlib is missing; for a model with itself also if scikit-learn or textalloc is.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> figure = bm.plot.distances(solution, names=("p1", "p0"))
    """
    check_kind(solution, "solution", Answer, "what bisimetric.solve or bisimetric.distance returns")
    require_matplotlib()
    title = f"{headline(solution, names)}\n{facts(solution)}"
    if is_with_itself(solution) and solution.models[0].n_states <= MOST_POINTS and _is_symmetric(solution):
        return states(solution, names=names, ax=ax)
    source, target = solution.models
    on_map = cells_of(source.names) is not None and cells_of(target.names) is not None
    if not on_map or source.start is None or target.start is None:
        return matrix(solution, title=title, ax=ax)
    starts = source.start > 0.0
    to_cells = source.start[starts] @ solution.value[starts]  # a distribution and a single state have only one coupling
    if ax is not None:
        return heat_map(target, to_cells, label=distance_label(solution), title=title, ax=ax)
    policies = [best_policy(solution, model) for model in (source, target)]
    label = distance_label(solution)
    return on_grids(source, target, to_cells, title, model_names(solution, names), label=label, policies=policies)


def table(distances: Distances, *, names: Iterable[object] | None = None, ax: Axes | None = None) -> Figure:
    """Draw a table of distances between chains: the chains as points, or the matrix of two different lists."""
    check_kind(distances, "distances", Distances, "what bisimetric.pairwise returns")
    if len(distances.value) >= FEWEST_POINTS and _is_symmetric(distances):
        return mds(distances, names=names, ax=ax)
    return matrix(distances, names=names, ax=ax)


def _is_symmetric(distances: Answer | Distances) -> bool:
    """Whether these are distances between the things of one list."""
    try:
        symmetric(as_table(distances))
    except InvalidOption:
        return False
    return True


def on_grids(
    source: Model,
    target: Model,
    to_cells: Floats,
    title: str,
    names: Sequence[str] | None = None,
    *,
    numbers: bool = False,
    label: str = "distance",
    policies: Sequence[Floats | None] = (None, None),
) -> Figure:
    """Draw both maps, and the distance from the source's start to every cell of the target, as `numbers` too."""
    rows, columns = np.max([checked_cells(model.names).shape for model in (source, target)], axis=0)
    if columns > WIDE * rows and not numbers:  # wide maps stand one above the other
        left, middle, right = new_figure(WIDE_SIZE).subplots(3, 1)
    else:
        widths = (1, 1, NUMBERED_WIDTH if numbers else 1)
        left, middle, right = new_figure(NUMBERED_SIZE if numbers else MAPS_SIZE).subplots(1, 3, width_ratios=widths)
    draw_map(left, source, checked_cells(source.names), _over_map("source", names, 0), policies[0])
    draw_map(middle, target, checked_cells(target.names), _over_map("target", names, 1), policies[1])
    starts = start_marks(target.start)
    written = {k: f"{value:.2f}" for k, value in enumerate(to_cells.tolist())} if numbers else starts
    marks: dict[State, str] = {state: text for state, text in written.items()}  # noqa: C416 - keys are invariant
    heat_map(target, to_cells, label=label, title="from the source's start", marks=marks, ax=right)
    right.set(xticks=[], yticks=[], xlabel="to each cell of the target", ylabel="")
    figure = figure_of(left)
    figure.suptitle(wrapped(title, figure.get_figwidth()), fontsize="medium", **LITERAL)
    return figure


def _over_map(role: str, names: Sequence[str] | None, k: int) -> str:
    """The title of a map, which is a third of the picture: a long name has a line of its own, and keeps both ends."""
    if names is None:
        return role
    name = all_shortened(names, MAP_TITLE)[k]
    return f"{role}: {name}" if len(role) + len(name) + 2 <= MAP_TITLE else f"{role}:\n{name}"

"""Which states were merged, as a coloured map.

On a grid every cell has the colour of its cluster, with lines between clusters. Of other models every cluster is a
circle, the larger the more states it has, at the distances between the clusters' first states.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.bisimulation.aggregation import Aggregation
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import embed
from bisimetric.views.figures import (
    BRIGHT,
    LINE_COLOURS,
    LITERAL,
    LUMINANCE,
    WALL_GREY,
    axes_or_new,
    figure_of,
    require_matplotlib,
    set_title,
)
from bisimetric.views.grid_cells import GridCells, cells_of, draw_beside
from bisimetric.views.heat_map import can_be_read, draw_marks
from bisimetric.views.labels import write_names
from bisimetric.views.mds import finish_map
from bisimetric.views.titles import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

AGGREGATION_SIZE = (6.4, 5.2)  # inches
LONE_COLOUR = "white"  # of states that are merged with no other
CLUSTER_AREA = 900.0  # points², of the largest circle
TINT = 0.55  # how much of a colour is left in a cell
BORDER = "0.25"  # colour of the lines between clusters


def aggregation(aggregation: Aggregation[Any], *, title: str | None = None, ax: Axes | None = None) -> Figure:
    """Draw which states were merged: the cells of a grid by cluster, the clusters of another model as circles.

    White cells are alone in their cluster. Colours repeat; neighbours of one cluster have no line between them, and
    numbers are the states of the small model, where there is room. `Aggregation.plot` calls this function.

    Parameters
    ----------
    aggregation : Aggregation or MDPAggregation
        What `bisimetric.aggregate` returned.
    title : str, optional
        The title; by default the model, how many states it has and had, and the certified bounds.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `aggregation` is something else.
    MissingExtra
        If matplotlib, scikit-learn or textalloc is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> found = bm.aggregate(bm.environments.four_rooms(side=8), epsilon=0.01, discount=0.9)
    >>> figure = bm.plot.aggregation(found)
    """
    check_kind(aggregation, "aggregation", Aggregation, "what bisimetric.aggregate returns")
    require_matplotlib()
    drawn = axes_or_new(ax, AGGREGATION_SIZE)
    said = _title(aggregation) if title is None else title
    cells = cells_of(aggregation.original.names)
    if cells is None:
        _draw_circles(drawn, aggregation, said)
    else:
        _draw_cells(drawn, aggregation, cells)
        set_title(drawn, said)
    return figure_of(drawn)


def _title(found: Aggregation[Any]) -> str:
    name = found.original.title or described(found.original)
    merged = f"{name}: {found.original.n_states} states merged into {found.model.n_states}"
    return f"{merged}\ndistance at most {found.distance_bound:.3g}, values within {found.value_bound:.3g}"


def cluster_colours(found: Aggregation[Any]) -> Floats:
    """[clusters, 3], the colours of the clusters, in turn; white for single states."""
    from matplotlib.colors import to_rgb

    sizes = np.bincount(found.map, minlength=found.model.n_states)
    colours = np.tile(np.array(to_rgb(LONE_COLOUR)), (len(sizes), 1))
    several = np.flatnonzero(sizes > 1)
    tints = np.array([to_rgb(colour) for colour in LINE_COLOURS])
    rounds = np.arange(len(several)) // len(tints)
    strength = TINT * (1.0 - 0.4 * (rounds % 2))[:, None]
    colours[several] = 1.0 - strength * (1.0 - tints[np.arange(len(several)) % len(tints)])
    return colours


def _draw_cells(axes: Axes, found: Aggregation[Any], cells: GridCells) -> None:
    """Draw the cells in the colours of their clusters, with lines where a cluster ends."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import ListedColormap

    colours = cluster_colours(found)
    picture = cells.picture(found.map)
    cmap = ListedColormap(colours.tolist()).with_extremes(bad=WALL_GREY)
    axes.imshow(picture, cmap=cmap, vmin=-0.5, vmax=len(colours) - 0.5, extent=cells.extent, interpolation="nearest")
    draw_beside(axes, cells, colours[found.map])
    axes.add_collection(LineCollection(_borders(picture, cells), colors=BORDER, linewidths=0.9, zorder=3))
    numbers = {k: str(cluster) for k, cluster in enumerate(found.map.tolist())}
    if can_be_read(axes, cells, numbers):
        draw_marks(axes, cells, numbers, np.full(len(numbers), 1.0) * (BRIGHT + colours[found.map] @ LUMINANCE))
    axes.set(xticks=[], yticks=[])
    axes.set_xlabel("numbers: states of the small model; white: not merged", **LITERAL)


def _borders(picture: Any, cells: GridCells) -> list[Any]:
    """Lines between neighbouring cells of different clusters."""
    left, _, _, top = cells.extent
    cluster = np.ma.filled(picture, -1)
    across, down = cluster[:, 1:] != cluster[:, :-1], cluster[1:] != cluster[:-1]
    upright = [[(left + c + 1, top + r), (left + c + 1, top + r + 1)] for r, c in np.argwhere(across)]
    level = [[(left + c, top + r + 1), (left + c + 1, top + r + 1)] for r, c in np.argwhere(down)]
    return upright + level


def _draw_circles(axes: Axes, found: Aggregation[Any], title: str) -> None:
    """Draw the clusters as circles at the distances between their first states."""
    sizes = np.bincount(found.map, minlength=found.model.n_states)
    embedding = embed(found.distances, dimensions=2)
    area = CLUSTER_AREA * sizes / max(sizes.max(), 8)
    colours = [LINE_COLOURS[0] if size > 1 else LONE_COLOUR for size in sizes]
    x, y = embedding.points.T
    axes.scatter(x, y, s=area, c=colours, edgecolors="black", linewidths=0.6, zorder=4)
    finish_map(axes, embedding.points, f"stress {embedding.stress:.3f}; area: merged states", "distance", title)
    names = [found.model.name_of(k) + (f" +{size - 1}" if size > 1 else "") for k, size in enumerate(sizes)]
    write_names(axes, embedding.points, names, area)

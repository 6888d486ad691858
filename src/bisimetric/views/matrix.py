"""A matrix of distances as colours, with names along both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.views.clustering import rows_by_similarity, similar_first
from bisimetric.views.figures import (
    add_colour_bar,
    axes_or_new,
    colour_image,
    figure_of,
    in_range,
    require_matplotlib,
    set_texts,
)
from bisimetric.views.tables import DistanceTable, HasValue, Names, as_table, symmetric
from bisimetric.views.ticks import name_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW_HEIGHT = 0.15  # inches, enough for a name
SMALLEST_SIDE, LARGEST_SIDE = 3.4, 6.4  # inches of the matrix
AROUND = (2.6, 1.7)  # inches beside and below the matrix for names, title and colour bar
RESOLUTION = 1000  # rows or columns of a matrix that are drawn; a larger matrix is averaged over blocks
THIN = 3  # a matrix with so many times more rows than columns, or the reverse, does not have square cells
ORDERS = ("given", "clustering")

Order = Literal["given", "clustering"]


def matrix(
    distances: npt.ArrayLike | HasValue,
    *,
    names: Names | None = None,
    order: Order = "given",
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a matrix of distances as colours, with the names of rows and columns.

    As many names are written as fit. A matrix of more than 1000 rows or columns is averaged over blocks, and the colour
    bar says so.

    Parameters
    ----------
    distances : Solution, MDPSolution, Distances or array [N, M]
        What a solve or `bisimetric.pairwise` returned, or any matrix; NaN leaves its cell blank.
    names : iterable of N names, or (N names, M names), optional
        The names of rows and columns; one list where both are the same things. By default those of the states.
    order : "given" or "clustering"
        "clustering" puts similar rows side by side, and similar columns: the order of the leaves of `dendrogram` where
        the distances are symmetric, else one by the Euclidean distances between rows, and between columns.
    title : str, optional
        The title; by default the names of the models and the certified gap.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `distances` is no matrix, `names` lacks an entry, or the order is unknown.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.bisimulation_metric("small-four-rooms:a", discount=0.9)
    >>> figure = bm.plot.matrix(solution, order="clustering")
    """
    if order not in ORDERS:
        raise InvalidOption(f"order is {order!r}, expected 'given' or 'clustering'")
    require_matplotlib()
    table = as_table(distances, names)
    if order == "clustering":
        table = by_similarity(table)
    n, m = table.values.shape
    step = max(1, -(-max(n, m) // RESOLUTION))
    long = max(n, m) > THIN * min(n, m)
    drawn = axes_or_new(ax, _size(n, m, long=long))
    label = table.label if step == 1 else f"{table.label}, mean over {step} × {step} pairs"
    shown, label = in_range(table.values, label)
    image = colour_image(drawn, block_means(shown, step), (-0.5, m - 0.5, n - 0.5, -0.5))
    drawn.set_aspect("auto" if long else "equal")
    add_colour_bar(drawn, image, label)
    name_ticks(drawn.xaxis, table.columns)
    name_ticks(drawn.yaxis, table.rows)
    rows, columns = table.axes
    set_texts(drawn, title=table.title if title is None else title, xlabel=columns, ylabel=rows)
    return figure_of(drawn)


def _size(n: int, m: int, *, long: bool) -> tuple[float, float]:
    """Inches of a figure that has room for the names."""
    height, width = (min(max(ROW_HEIGHT * size, SMALLEST_SIDE), LARGEST_SIDE) for size in (n, m))
    if not long:  # cells are square
        height, width = (max(height, width) * size / max(n, m) for size in (n, m))
    return max(width, SMALLEST_SIDE) + AROUND[0], max(height, 1.0) + AROUND[1]


def by_similarity(table: DistanceTable) -> DistanceTable:
    """The table with similar rows side by side, and similar columns."""
    try:
        rows = columns = similar_first(symmetric(table).values)
    except InvalidOption:  # not the distances of one list of things
        rows, columns = rows_by_similarity(table.values), rows_by_similarity(table.values.T)
    return table._replace(
        values=table.values[np.ix_(rows, columns)],
        rows=[table.rows[k] for k in rows],
        columns=[table.columns[k] for k in columns],
    )


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

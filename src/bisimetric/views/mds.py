"""A matrix of distances as a picture: points whose distances in the picture are close to the given ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import Embedding, HasValue, embed
from bisimetric.views.figures import (
    GRID,
    LITERAL,
    MARKERS,
    add_colour_bar,
    add_legend,
    axes_or_new,
    figure_of,
    inert,
    set_texts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MDS_SIZE = (6.4, 4.6)  # inches
LEAST_DEPTH = 0.25  # smallest range of the colours, relative to that of the positions
NAME_SIZE, LONGEST_POINT_NAME = 8.0, 24  # points, characters
POINTS_MARGIN = 0.08  # around the points, as a share of their width

Given = TypeVar("Given")


def mds(
    distances: npt.ArrayLike | HasValue | Embedding,
    *,
    groups: Iterable[object] | None = None,
    names: Iterable[object] | None = None,
    title: str | None = None,
    seed: int = 0,
    axes: Axes | None = None,
) -> Figure:
    """Draw N objects as points whose distances are close to the given ones (metric MDS to three dimensions).

    The first two dimensions are the position, the third is the colour.

    Parameters
    ----------
    distances : array [N, N], or Distances, Solution or Embedding
        A symmetric matrix of distances, what `bisimetric.pairwise` returns, the solution of a chain with itself, or
        what `embed` made of one of them.
    groups : iterable of N labels, optional
        The group of every point, shown by the shape of its marker; at most ten different labels.
    names : iterable of N names, optional
        Names to write beside the points; None or an empty name leaves its point without one.
    title : str, optional
        The title.
    seed : int
        The seed of the random starts of the MDS.
    axes : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes. The label of the x axis gives the stress of the embedding.

    Raises
    ------
    InvalidOption
        If `distances` is not a symmetric matrix of finite numbers ≥ 0, or `groups` or `names` lacks an entry.
    MissingExtra
        If matplotlib or scikit-learn is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = ["four-rooms:p0", "four-rooms:p1", "four-rooms:p8"]
    >>> figure = bm.plot.mds(bm.pairwise(rooms, discount=0.9), names=rooms)
    """
    embedding = distances if isinstance(distances, Embedding) else embed(distances, dimensions=3, seed=seed)
    points = embedding.points
    if points.shape[1] != 3:
        raise InvalidOption(f"the embedding has {points.shape[1]} dimensions, expected 3")
    labels = _checked_groups(groups, len(points))
    drawn = axes_or_new(axes, MDS_SIZE)
    colours = _draw_points(drawn, points, labels)
    drawn.set(**_limits(points), aspect="equal")
    if names is not None:
        written = _one_per_point(names, "names", "a name", len(points))
        _write_names(drawn, points, ["" if name is None else inert(name, LONGEST_POINT_NAME) for name in written])
    drawn.grid(color=GRID, linewidth=0.6)
    drawn.set_axisbelow(True)
    add_colour_bar(drawn, colours, "third coordinate")
    set_texts(
        drawn,
        title=title,
        xlabel=f"first coordinate (stress {embedding.stress:.3f})",
        ylabel="second coordinate",
    )
    return figure_of(drawn)


def _draw_points(axes: Axes, points: Floats, labels: list[str] | None) -> Any:
    """Draw the points, one scatter per group; returns the colours of the third coordinate, for a colour bar."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    # A third coordinate that hardly varies gets one colour: the range of colours has a minimum.
    least = LEAST_DEPTH * float(np.ptp(points[:, :2], axis=0).max())
    low, high = float(points[:, 2].min()), float(points[:, 2].max())
    more = max(0.0, least - (high - low)) / 2
    colours = ScalarMappable(Normalize(low - more, high + more), matplotlib.colormaps["viridis"])
    of = np.array([""] * len(points) if labels is None else labels)
    names = list(dict.fromkeys(of.tolist()))
    handles = []
    for name, marker in zip(names, MARKERS, strict=False):
        mine = of == name
        axes.scatter(
            points[mine, 0], points[mine, 1], c=colours.to_rgba(points[mine, 2]), marker=marker, s=52,
            edgecolors="black", linewidths=0.7, zorder=4,
        )  # fmt: skip
        handles.append(Line2D([], [], color="0.45", marker=marker, linestyle="", markeredgecolor="black"))
    if labels is not None:
        add_legend(axes, handles, names, below=True)
    return colours


def _write_names(axes: Axes, points: Floats, names: list[str]) -> None:
    """Write names beside their points, on the side of the middle; names of points in one place stand in a column."""
    middle = np.mean(axes.get_xlim())
    near = NAME_SIZE * figure_of(axes).dpi / 72  # pixels
    written: list[Floats] = []  # pixels
    for (x, y), name in zip(points[:, :2], names, strict=True):
        if not name:
            continue
        pixel = axes.transData.transform((x, y))
        down = sum(bool(np.abs(pixel - other).max() < near) for other in written)
        written.append(pixel)
        left = x < middle
        axes.annotate(
            name, (x, y), (7 if left else -7, -4 - 1.2 * NAME_SIZE * down), textcoords="offset points",
            ha="left" if left else "right", fontsize=NAME_SIZE, zorder=5, **LITERAL,
        )  # fmt: skip


def _limits(points: Floats) -> dict[str, tuple[float, float]]:
    """The range of both axes: the points and a margin, neither range less than two thirds of the other."""
    (left, bottom), (right, top) = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    width = max(right - left, top - bottom) or 1.0
    height = max(top - bottom, width * 2 / 3)
    width = max(right - left, width * 2 / 3)
    across, up = width * (0.5 + POINTS_MARGIN), height / 2 + width * POINTS_MARGIN
    x, y = (left + right) / 2, (bottom + top) / 2
    return {"xlim": (x - across, x + across), "ylim": (y - up, y + up)}


def _checked_groups(groups: Iterable[object] | None, count: int) -> list[str] | None:
    if groups is None:
        return None
    labels = [str(label) for label in _one_per_point(groups, "groups", "a label", count)]
    if len(set(labels)) > len(MARKERS):
        raise InvalidOption(
            f"groups has {len(set(labels))} different labels, expected at most {len(MARKERS)}; merge some"
        )
    return labels


def _one_per_point(given: Iterable[Given], what: str, entry: str, count: int) -> list[Given]:
    """The entries as a list; raises unless there is one per point."""
    try:  # mappings and sets have no order that could mean points
        entries = None if isinstance(given, (Mapping, Set)) else list(given)
    except TypeError:
        entries = None
    if entries is None:
        raise InvalidOption(f"{what} is a {type(given).__name__}, expected a list with {entry} per point")
    if len(entries) != count:
        raise InvalidOption(f"{what} has {len(entries)} entries, expected {entry} per point: {count}")
    return entries

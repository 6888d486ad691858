"""A matrix of distances as a picture: points whose distances in the picture are close to the given ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import Embedding, embed
from bisimetric.views.figures import (
    GRID,
    add_colour_bar,
    add_legend,
    axes_or_new,
    figure_of,
    look,
    require_matplotlib,
    set_texts,
)
from bisimetric.views.labels import write_names
from bisimetric.views.tables import HasValue, as_table, one_each

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MDS_SIZE = (6.8, 4.8)  # inches
LEAST_DEPTH = 0.25  # smallest range of the colours, relative to that of the positions
LARGEST_POINT, SMALLEST_POINT, POINTS_AREA = 52.0, 9.0, 2600.0  # points² of a marker, and of all together about
POINTS_MARGIN = 0.08  # around the points, as a share of their width
MOST_GROUPS = 30  # groups that differ in colour or marker


def mds(
    distances: npt.ArrayLike | HasValue | Embedding,
    *,
    groups: Iterable[object] | None = None,
    names: Iterable[object] | None = None,
    title: str | None = None,
    seed: int = 0,
    ax: Axes | None = None,
) -> Figure:
    """Draw N objects as points whose distances in the picture are close to the given ones (metric MDS).

    Names that have no room beside their points are left out. The stress, which is said below the picture, is the part
    of the distances that the picture gets wrong: 0.1 is fair, 0.2 poor.

    Parameters
    ----------
    distances : Distances, Solution, MDPSolution, array [N, N] or Embedding
        What `bisimetric.pairwise` returned, the solution of a model with itself, any symmetric matrix of distances, or
        what `embed` made of one of them.
    groups : iterable of N labels, optional
        The group of every point, shown by its colour and marker, with a legend. Without groups, and for an `Embedding`
        of three dimensions, the colour is the third coordinate.
    names : iterable of N names, optional
        Names to write beside the points; None or an empty name leaves its point without one. By default the names of
        the states.
    title : str, optional
        The title; by default the name of the model and the certified gap.
    seed : int
        The seed of the random starts of the MDS.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `distances` is not a symmetric matrix of finite numbers ≥ 0, or `groups` or `names` lacks an entry.
    MissingExtra
        If matplotlib, scikit-learn or textalloc is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = ["four-rooms:p0", "four-rooms:p1", "four-rooms:p8"]
    >>> figure = bm.plot.mds(bm.pairwise(rooms, discount=0.9), names=rooms, groups=["p0", "p1", "p0"])
    """
    require_matplotlib()
    given, unit = names, "distance"
    if isinstance(distances, Embedding):
        embedding = distances
    else:
        table = as_table(distances)
        embedding = embed(distances, dimensions=3 if groups is None else 2, seed=seed)
        given = table.rows if names is None and table.named else names
        title, unit = table.title if title is None else title, table.label
    points = embedding.points
    if points.shape[1] not in (2, 3):
        raise InvalidOption(f"the embedding has {points.shape[1]} dimensions, expected 2 or 3")
    labels = _checked_groups(groups, len(points))
    texts = None if given is None else one_each(given, "names", "a name", len(points))
    drawn = axes_or_new(ax, MDS_SIZE)
    colours = _draw_points(drawn, points, labels)
    finish_map(drawn, points, f"stress {embedding.stress:.3f}", unit, title)
    if colours is not None:
        add_colour_bar(drawn, colours, "third coordinate")
    if texts is not None:
        written = ["" if name is None else str(name) for name in texts]
        write_names(drawn, points[:, :2], written, point_area(len(points)))
    return figure_of(drawn)


def finish_map(axes: Axes, points: Floats, quality: str, unit: str, title: str | None) -> None:
    """Set the limits of a map of points, its grid and its labels; the axes have one scale."""
    axes.set(**_limits(points), aspect="equal")
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.locator_params(nbins=6)
    xlabel = f"first coordinate, as {unit}\n{quality}"
    set_texts(axes, title=title, xlabel=xlabel, ylabel="second coordinate")


def point_area(count: int) -> float:
    """The area of a marker among so many, in points²."""
    return min(LARGEST_POINT, max(SMALLEST_POINT, POINTS_AREA / count))


def _draw_points(axes: Axes, points: Floats, labels: list[str] | None) -> Any:
    """Draw the points, one scatter per group; returns the colours of the third coordinate, if they show it."""
    from matplotlib.lines import Line2D

    colours = _depth(points) if points.shape[1] == 3 else None
    of = np.array([""] * len(points) if labels is None else labels)
    names = list(dict.fromkeys(of.tolist()))
    handles = []
    for k, name in enumerate(names):
        mine, style = of == name, look(k)
        axes.scatter(
            points[mine, 0], points[mine, 1], marker=style.marker, s=point_area(len(points)), edgecolors="black",
            c=[style.colour] if colours is None else colours.to_rgba(points[mine, 2]), linewidths=0.6, zorder=4,
        )  # fmt: skip
        shade = style.colour if colours is None else "0.45"
        handles.append(Line2D([], [], color=shade, marker=style.marker, linestyle="", markeredgecolor="black"))
    if labels is not None:
        add_legend(axes, handles, names, below=colours is not None)
    return colours


def _depth(points: Floats) -> Any:
    """Colours of the third coordinate; if it hardly varies they do neither: their range has a minimum."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    least = LEAST_DEPTH * float(np.ptp(points[:, :2], axis=0).max())
    low, high = float(points[:, 2].min()), float(points[:, 2].max())
    more = max(0.0, least - (high - low)) / 2
    return ScalarMappable(Normalize(low - more, high + more), matplotlib.colormaps["viridis"])


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
    labels = [str(label) for label in one_each(groups, "groups", "a label", count)]
    if len(set(labels)) > MOST_GROUPS:
        raise InvalidOption(
            f"groups has {len(set(labels))} different labels, expected at most {MOST_GROUPS}; merge some"
        )
    return labels

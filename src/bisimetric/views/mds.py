"""A matrix of distances as a picture: points whose distances on paper are close to the given ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import Embedding, HasValue, embed
from bisimetric.views.look import (
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
from bisimetric.views.thumbnails import Frame, checked_thumbnails, draw_thumbnails, one_per_point

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE, SIZE_WITH_THUMBNAILS = (6.4, 4.6), (10.0, 7.4)  # inches
LEAST_DEPTH = 0.25  # range of the colours, at least, relative to that of the positions
NAME_SIZE, LONGEST_NAME = 8.0, 24  # points, characters
MARGIN, MARGIN_WITH_THUMBNAILS = 0.08, 0.18  # around the points, as a share of their width


def mds(
    distances: npt.ArrayLike | HasValue | Embedding,
    *,
    groups: Iterable[object] | None = None,
    thumbnails: Iterable[npt.ArrayLike | None] | None = None,
    names: Iterable[object] | None = None,
    title: str | None = None,
    seed: int = 0,
    axes: Axes | None = None,
) -> Figure:
    """Draw N objects with the distances [N, N] between them as points, by metric MDS to three dimensions.

    Two dimensions are the position, the third is the colour. `groups` are labels, one per point, shown by the shape of
    the marker. `thumbnails` are small images [h, w, 3], one per point or None, drawn in free places near their points;
    `names`, one per point, are written beside them. Instead of distances, what `embed` made of them may be given.
    """
    embedding = distances if isinstance(distances, Embedding) else embed(distances, dimensions=3, seed=seed)
    if embedding.points.shape[1] != 3:
        raise InvalidOption(f"the embedding has {embedding.points.shape[1]} dimensions, expected 3")
    labels = _checked_groups(groups, len(embedding.points))
    images = checked_thumbnails(thumbnails, len(embedding.points))
    drawn = axes_or_new(axes, SIZE_WITH_THUMBNAILS if images else SIZE)
    frame = _frame(embedding.points, MARGIN_WITH_THUMBNAILS if images else MARGIN)
    if images:
        draw_thumbnails(drawn, embedding.points[:, :2], images, frame)
    points = _draw_points(drawn, embedding.points, labels)
    drawn.set(xlim=(frame.left, frame.right), ylim=(frame.bottom, frame.top), aspect="equal")
    if names is not None:
        written = one_per_point(names, "names", "a name", len(embedding.points))
        _write_names(drawn, embedding.points, [inert(name, LONGEST_NAME) for name in written])
    drawn.grid(color=GRID, linewidth=0.6)
    drawn.set_axisbelow(True)
    add_colour_bar(drawn, points, "third coordinate")
    set_texts(
        drawn,
        title=title,
        xlabel=f"first coordinate (stress {embedding.stress:.3f})",
        ylabel="second coordinate",
    )
    return figure_of(drawn)


def _draw_points(axes: Axes, points: Floats, labels: list[str] | None) -> Any:
    """One scatter for each group, all with the same colours; returns one that a colour bar can be made of."""
    import matplotlib
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.lines import Line2D

    # A third coordinate that hardly varies must not look as if it did.
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
    """Beside the points, towards the middle; those of points in one place one below the other."""
    shown, middle = axes.transData, np.mean(axes.get_xlim())
    near = NAME_SIZE * figure_of(axes).dpi / 72
    taken: list[Floats] = []
    for (x, y), point, name in zip(points[:, :2], shown.transform(points[:, :2]), names, strict=True):
        down = sum(bool(np.abs(point - other).max() < near) for other in taken)
        taken.append(point)
        left = x < middle
        axes.annotate(
            name, (x, y), (7 if left else -7, -4 - 1.2 * NAME_SIZE * down), textcoords="offset points",
            ha="left" if left else "right", fontsize=NAME_SIZE, zorder=5, **LITERAL,
        )  # fmt: skip


def _frame(points: Floats, margin: float) -> Frame:
    """What of the plane is shown: the points and a margin, at least two thirds as high as wide."""
    (left, bottom), (right, top) = points[:, :2].min(axis=0), points[:, :2].max(axis=0)
    width = max(right - left, top - bottom) or 1.0
    height = max(top - bottom, width * 2 / 3)
    width = max(right - left, width * 2 / 3)
    middle, centre = (left + right) / 2, (bottom + top) / 2
    across, up = width * (0.5 + margin), height / 2 + width * margin
    return Frame(middle - across, middle + across, centre - up, centre + up)


def _checked_groups(groups: Iterable[object] | None, count: int) -> list[str] | None:
    if groups is None:
        return None
    labels = [str(label) for label in one_per_point(groups, "groups", "a label", count)]
    if len(set(labels)) > len(MARKERS):
        raise InvalidOption(
            f"groups has {len(set(labels))} different labels, expected at most {len(MARKERS)}; merge some"
        )
    return labels

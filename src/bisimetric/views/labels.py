"""Names beside points, without one covering another or a point: fewer names, never smaller ones.

textalloc finds a free place near each point, or none; a name without a place is left out. Names of points that are far
apart come first, so those that are written are spread over the picture. Points in one place share a text.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from bisimetric.errors import MissingExtra
from bisimetric.models.rows import Floats
from bisimetric.views.figures import LITERAL, all_shortened

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAME_SIZE, LONGEST_POINT_NAME = 8.0, 28  # points, characters
MOST_NAMES = 60  # names that are tried
ONE_PLACE = 3.0  # pixels; points closer than this are in one place
NEAREST_NAME, FARTHEST_NAME = 0.012, 0.2  # from a point to its name, as a share of the axes
LEADER = "0.6"  # colour of the line between a point and its name


def write_names(axes: Axes, points: Floats, names: Sequence[str], areas: Floats | float) -> int:
    """Write names beside points [N, 2], where there is room; returns how many points have no name then.

    An empty name is not written. Call this when the limits of the axes and all else are in place. `areas` are those of
    the markers, in points².
    """
    try:
        from textalloc import allocate
    except ImportError:
        raise MissingExtra("names of points need textalloc, which is missing: pip install 'bisimetric[plot]'") from None

    named = np.flatnonzero([bool(name) for name in names])
    if not len(named):
        return 0
    axes.get_figure().draw_without_rendering()  # type: ignore[union-attr]  # so that places in pixels are final
    pixels = axes.transData.transform(points)
    places = _places(pixels[named])
    first = np.array([named[place[0]] for place in places])
    short = all_shortened([names[int(k)] for k in named], LONGEST_POINT_NAME)
    texts = [_shared([short[k] for k in place]) for place in places]
    order = _spread_out(pixels[first])[:MOST_NAMES]
    x, y = points[first[order]].T
    markers = axes.scatter(points[:, 0], points[:, 1], s=areas)  # what names have to keep clear of
    with contextlib.redirect_stdout(io.StringIO()):  # it prints a line where no name has a place
        _, _, written, _ = allocate(
            axes, x, y, [texts[k] for k in order], x_scatter=points[:, 0], y_scatter=points[:, 1],
            textsize=NAME_SIZE, margin=NEAREST_NAME / 2, min_distance=NEAREST_NAME, max_distance=FARTHEST_NAME,
            draw_all=False, avoid_label_lines_overlap=True, scatter_plot=markers, linecolor=LEADER, linewidth=0.6,
            zorder=5, **LITERAL,
        )  # fmt: skip
    markers.remove()
    shown = [k for k, text in zip(order, written, strict=True) if text is not None]
    return len(named) - sum(len(places[k]) for k in shown)


def _places(pixels: Floats) -> list[list[int]]:
    """The points by place: points closer than a few pixels to the first of a place belong to it."""
    found: list[list[int]] = []
    firsts = np.empty((0, 2))
    for k, pixel in enumerate(pixels):
        near = np.flatnonzero(np.abs(firsts - pixel).max(axis=1, initial=0.0) < ONE_PLACE)
        if len(near):
            found[int(near[0])].append(k)
        else:
            found.append([k])
            firsts = np.vstack([firsts, pixel])
    return found


def _shared(names: Sequence[str]) -> str:
    """The names of the points in one place: as many as fit into a line, and how many others there are."""
    line = names[0]
    for k, name in enumerate(names[1:], 1):
        longer = f"{line}, {name}"
        if len(longer) > LONGEST_POINT_NAME:
            return f"{line} +{len(names) - k}"
        line = longer
    return line


def _spread_out(pixels: Floats) -> npt.NDArray[np.int64]:
    """An order of the points in which each is as far as possible from all before; the first is far from the middle."""
    count = min(len(pixels), MOST_NAMES)
    apart = np.linalg.norm(pixels - pixels.mean(axis=0), axis=1)
    order = np.empty(count, np.int64)
    for k in range(count):
        order[k] = int(apart.argmax())
        reach = np.linalg.norm(pixels - pixels[order[k]], axis=1)
        apart = np.minimum(apart, reach) if k else reach
        apart[order[: k + 1]] = -1.0
    return order

"""Small images beside points, with lines that lead to them.

The plane is cut into places as large as an image, and those with a point in or near them are taken out: no image hides
another or a point. The points are assigned to the rest such that the lines are as short as possible together. Then
points move to other free places, or two of them change places, as long as that lowers the sum of the lengths and of
penalties for lines that run under other images, through other points, or across one another. If there are too few
places, or lines are left that run under images, smaller images are tried. All this ends when every point has had its
turns, or a fixed amount of work is done, so that a crowded picture is ready in seconds too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 0.075  # width of an image, as a share of the frame's
GAP = 0.14  # between images, as a share of their width
CLEAR = 0.72  # distance of an image's middle from any point, in pitches along an axis: none is hidden
SHRINK, TRIES = 0.92, 5
UNDER, CROSSING = 10.0, 4.0  # penalties for a line under an image, across a line or point, in pitches
MARKER = 0.3  # side of a point's marker, in pitches
SWEEPS, NEIGHBOURS = 3, 2
WORK = 60_000  # turns of a point to move or change, in all, times the points that each looks at
CANDIDATES = 150  # free places that a point looks at, the nearest ones
FINER = 3  # steps of a move in a pitch
ROOM = 3  # places there are at least for one image: with fewer, lines get long
ROUNDING = 1e-9


class Frame(NamedTuple):
    """The part of the plane that is drawn."""

    left: float
    right: float
    bottom: float
    top: float


T = TypeVar("T")
Image = npt.NDArray[np.float64]


def checked_thumbnails(images: Iterable[npt.ArrayLike | None] | None, count: int) -> dict[int, Image]:
    """The images by point, as numbers from 0 to 1."""
    if images is None:
        return {}
    given = one_per_point(images, "thumbnails", "an image or None", count)
    return {k: _checked_image(image, k) for k, image in enumerate(given) if image is not None}


def one_per_point(given: Iterable[T], what: str, entry: str, count: int) -> list[T]:
    """What was given as a list, which must have an entry per point."""
    try:
        entries = None if isinstance(given, (Mapping, Set)) else list(given)  # those have no order that means a point
    except TypeError:
        entries = None
    if entries is None:
        raise InvalidOption(f"{what} is a {type(given).__name__}, expected a list with {entry} per point")
    if len(entries) != count:
        raise InvalidOption(f"{what} has {len(entries)} entries, expected {entry} per point: {count}")
    return entries


def _checked_image(image: npt.ArrayLike, k: int) -> Image:
    array = np.asarray(image)
    if array.ndim != 3 or array.shape[2] != 3 or not array.size or array.dtype.kind not in "biuf":
        raise InvalidOption(
            f"thumbnails[{k}] has shape {array.shape} and dtype {array.dtype}, expected numbers [h, w, 3]"
        )
    array = array / 255.0 if array.dtype.kind in "iu" else array.astype(np.float64)
    if not (array.min() >= 0.0 and array.max() <= 1.0):
        raise InvalidOption(f"thumbnails[{k}] has colours out of range, expected 0 to 1, or whole numbers 0 to 255")
    return array


def draw_thumbnails(axes: Axes, points: Floats, images: dict[int, Image], frame: Frame) -> None:
    """Draw every image in a free place near its point."""
    aspect = max(image.shape[0] / image.shape[1] for image in images.values())
    owners = np.array(list(images))
    middles, width = places(points, owners, aspect, frame)
    for (x, y), owner in zip(middles, owners, strict=True):
        image = images[int(owner)]
        high = width * image.shape[0] / image.shape[1]
        corners = (x - width / 2, x + width / 2, y - high / 2, y + high / 2)
        axes.plot([points[owner, 0], x], [points[owner, 1], y], color="0.55", linewidth=0.8, zorder=2)
        drawn = axes.imshow(image, extent=corners, interpolation="nearest", zorder=3)
        drawn.set_gid(f"thumbnail-{owner}")
        left, right, bottom, top = corners
        axes.plot([left, right, right, left, left], [bottom, bottom, top, top, bottom], color="0.3", linewidth=0.6,
                  zorder=3.1)  # fmt: skip


def places(
    points: Floats, owners: npt.NDArray[np.int64], aspect: float, frame: Frame
) -> tuple[Floats, float]:  # [owners, 2], the middle of each owner's image; the width of all
    """Free places for the images of the owners, `aspect` being height by width."""
    found: list[tuple[int, Floats, float]] = []  # lines under images, middles, width
    width = LARGEST * (frame.right - frame.left)
    turns = WORK // len(owners)
    while not found or (len(found) < TRIES and turns > 0):
        pitch = width * np.array([1 + GAP, aspect + GAP])
        free = _free(points, pitch, frame, 1)
        if len(free) >= ROOM * len(owners):
            mine = points[owners] / pitch
            chosen = free[linear_sum_assignment(cdist(points[owners], free))[1]] / pitch
            turns -= _disentangle(mine, _free(points, pitch, frame, FINER) / pitch, chosen, turns)
            under = int(_meets(mine, chosen, chosen, 1.0).sum()) - len(owners)  # every line ends in its own image
            found.append((under, chosen * pitch, width))
            if under == 0:
                break
        width *= SHRINK
    best = min(found, key=lambda one: one[0])
    return best[1], best[2]


def _disentangle(points: Floats, free: Floats, chosen: Floats, turns: int) -> int:
    """Let owners of `points` change their chosen places while that helps; lengths in pitches. Returns the turns taken.

    What is chosen is as good after any number of turns as before, or better.
    """
    for taken in range(min(turns, SWEEPS * len(points))):
        k = taken % len(points)
        if k == 0:
            before = chosen.copy()
        _take_turn(points, free, chosen, k)
        if k == len(points) - 1 and (before == chosen).all():
            return taken + 1
    return min(turns, SWEEPS * len(points))


def _take_turn(points: Floats, free: Floats, chosen: Floats, k: int) -> None:
    """Move one owner to another free place, and if its line still meets something let it change with others nearby."""
    others = np.delete(np.arange(len(points)), k)
    near = free[np.argsort(np.linalg.norm(free - points[k], axis=1), kind="stable")[:CANDIDATES]]
    beside = (np.abs(near[:, None, :] - chosen[others]).max(axis=2) > 1 - ROUNDING).all(axis=1)
    candidates = np.vstack([near[beside], chosen[k]])
    costs = _costs(points, k, candidates, others, chosen[others])
    best = int(np.argmin(costs))
    if costs[best] < costs[-1] - ROUNDING:
        chosen[k] = candidates[best]
    if costs[best] <= np.linalg.norm(chosen[k] - points[k]) + ROUNDING:
        return
    for other in others[np.argsort(np.linalg.norm(chosen[others] - chosen[k], axis=1))[:NEIGHBOURS]]:
        _exchange(points, chosen, (k, int(other)))


def _exchange(points: Floats, chosen: Floats, pair: tuple[int, int]) -> None:
    """Let two owners change places if that helps."""
    first, second = pair
    rest = np.delete(np.arange(len(points)), pair)

    def cost(places: Floats) -> float:
        others = np.append(rest, second)
        mine = _costs(points, first, places[[first]], others, places[others])
        return float((mine + _costs(points, second, places[[second]], rest, places[rest]))[0])

    changed = chosen.copy()
    changed[[first, second]] = chosen[[second, first]]
    if cost(changed) < cost(chosen) - ROUNDING:
        chosen[:] = changed


def _costs(points: Floats, owner: int, ends: Floats, others: npt.NDArray[np.int64], taken: Floats) -> Floats:
    """What an owner's line to each of `ends`, and an image there, cost beside the others with their places taken."""
    starts = np.broadcast_to(points[owner], ends.shape)
    costs = np.linalg.norm(ends - starts, axis=1)
    costs += UNDER * _meets(starts, ends, taken, 1.0).sum(axis=1)
    costs += UNDER * _meets(points[others], taken, ends, 1.0).sum(axis=0)
    costs += CROSSING * _meets(starts, ends, points[others], MARKER).sum(axis=1)
    costs += CROSSING * _meets(points[others], taken, points[[owner]], MARKER).sum()
    costs += CROSSING * _crosses(starts, ends, points[others], taken).sum(axis=1)
    return np.asarray(costs)


def _meets(starts: Floats, ends: Floats, middles: Floats, side: float) -> npt.NDArray[np.bool_]:
    """[lines, squares], whether a line touches a square of that side: the slab method."""
    steps = ends - starts
    steps = np.where(np.abs(steps) < ROUNDING, ROUNDING, steps)[:, None, :]
    low = (middles - side / 2 - starts[:, None, :]) / steps
    high = (middles + side / 2 - starts[:, None, :]) / steps
    entry, leave = np.minimum(low, high).max(axis=2), np.maximum(low, high).min(axis=2)
    return np.asarray((entry <= leave) & (leave >= 0.0) & (entry <= 1.0))


def _crosses(starts: Floats, ends: Floats, other_starts: Floats, other_ends: Floats) -> npt.NDArray[np.bool_]:
    """[lines, others], whether two lines cross: each has the ends of the other on different sides."""

    def side(origin: Floats, along: Floats, point: Floats) -> Floats:
        to = point - origin
        return np.asarray(along[..., 0] * to[..., 1] - along[..., 1] * to[..., 0])

    a, b = starts[:, None, :], ends[:, None, :]
    apart = side(a, b - a, other_starts) * side(a, b - a, other_ends) < 0
    return np.asarray(
        apart
        & (side(other_starts, other_ends - other_starts, a) * side(other_starts, other_ends - other_starts, b) < 0)
    )


def _free(points: Floats, pitch: Floats, frame: Frame, finer: int) -> Floats:
    """The middles of places of that pitch, or on a lattice so many times finer, that are clear of all points."""
    corner, extent = (
        np.array([frame.left, frame.bottom]),
        np.array([frame.right - frame.left, frame.top - frame.bottom]),
    )
    counts = (extent / pitch).astype(int)  # columns and rows
    first = corner + (extent - counts * pitch) / 2 + pitch / 2
    xs, ys = (first[k] + pitch[k] / finer * np.arange((counts[k] - 1) * finer + 1) for k in range(2))
    middles = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    away, _ = KDTree(points / pitch).query(middles / pitch, p=np.inf)
    return np.asarray(middles[away > CLEAR])

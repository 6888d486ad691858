"""Small images beside points, with lines that lead to them.

The plane is cut into places as large as an image, those with a point in or near them are taken out, and the points
are assigned to the rest such that the lines are as short as possible together. So no image hides another or a point,
and no two lines cross (crossed ones could be exchanged for shorter ones). If there are too few places, the images
are made smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from bisimetric._errors import InvalidOption
from bisimetric._stochastic import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LARGEST = 0.085  # width of an image, as a share of the frame's
GAP = 0.14  # between images, as a share of their width
CLEAR = 0.72  # distance of an image's middle from any point, in pitches along an axis: none is hidden
SHRINK = 0.93


class Frame(NamedTuple):
    """The part of the plane that is drawn."""

    left: float
    right: float
    bottom: float
    top: float


Image = npt.NDArray[np.float64]


def checked_thumbnails(images: Sequence[npt.ArrayLike | None] | None, count: int) -> dict[int, Image]:
    """The images by point, as numbers from 0 to 1."""
    if images is None:
        return {}
    if len(images) != count:
        raise InvalidOption(f"thumbnails has {len(images)} entries, expected one per point, image or None: {count}")
    return {k: _checked_image(image, k) for k, image in enumerate(images) if image is not None}


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
    width = LARGEST * (frame.right - frame.left)
    while True:
        free = _free(points, width * (1 + GAP), width * (aspect + GAP), frame)
        if len(free) >= len(owners):
            break
        width *= SHRINK
    mine, chosen = linear_sum_assignment(cdist(points[owners], free))
    middles = np.empty((len(owners), 2))
    middles[mine] = free[chosen]
    return middles, width


def _free(points: Floats, across: float, up: float, frame: Frame) -> Floats:
    """The middles of places of that pitch that are clear of all points."""
    columns = int((frame.right - frame.left) / across)
    rows = int((frame.top - frame.bottom) / up)
    xs = (frame.left + frame.right) / 2 + across * (np.arange(columns) - (columns - 1) / 2)
    ys = (frame.bottom + frame.top) / 2 + up * (np.arange(rows) - (rows - 1) / 2)
    middles = np.stack(np.meshgrid(xs, ys), axis=-1).reshape(-1, 2)
    away = np.abs(middles[:, None, :] - points[None, :, :]) / (across, up)  # [places, N, 2], in pitches
    return np.asarray(middles[(away.max(axis=2) > CLEAR).all(axis=1)])

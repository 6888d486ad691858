"""Names along an axis: as many as fit, never smaller.

Which names are written is decided when the figure is drawn, from the length of the axis then. So labels do not collide
in a figure of any size, also after it was resized or zoomed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.views.figures import LITERAL, all_shortened

if TYPE_CHECKING:
    from matplotlib.axis import Axis

TICK_SIZE, LONGEST_TICK = 8.0, 28  # points, characters
TICK_LINE = 1.25  # distance between two names, in sizes of their letters
LETTER_WIDTH = 0.68  # of a letter, in its size; a little more than most have
LEVEL = 40  # characters that all names together have at most where they stand level below an axis
MOST_TICKS = 150  # names along one axis


def name_ticks(axis: Axis, names: Sequence[str], *, right: bool = False, longest: int = LONGEST_TICK) -> None:
    """Write the names of 0, 1, 2, … along the axis: all of them if they fit, else every second, third, ….

    Below an axis many or long names stand upright. `right` is for ticks on the right.
    """
    from matplotlib.ticker import FuncFormatter

    shown = all_shortened(names, longest)

    def text(value: float, _: object = None) -> str:
        k = round(value)
        return shown[k] if 0 <= k < len(shown) and k == value else ""

    widest = max(map(len, shown))
    level = axis is axis.axes.xaxis and len(shown) * widest <= LEVEL
    rotation = 90 if axis is axis.axes.xaxis and not level else 0
    axis.set_major_locator(
        _fitting_locator(len(shown), max(TICK_LINE, LETTER_WIDTH * (widest + 1)) if level else TICK_LINE)
    )
    axis.set_major_formatter(FuncFormatter(text))
    axis.set_tick_params(length=0 if len(shown) <= MOST_TICKS else 2, labelsize=TICK_SIZE, labelrotation=rotation)
    for tick in axis.get_major_ticks(min(len(shown), MOST_TICKS)):
        (tick.label2 if right else tick.label1).set(**LITERAL)


def _fitting_locator(count: int, pitch: float) -> Any:
    """Ticks at 0, step, 2·step, … with the smallest step that leaves `pitch` sizes of a letter between two labels."""
    from matplotlib.ticker import Locator

    class FittingLocator(Locator):
        axis: Any

        def __call__(self) -> Any:
            low, high = sorted(self.axis.get_view_interval())
            return self.tick_values(low, high)

        def tick_values(self, vmin: float, vmax: float) -> Any:
            axes = self.axis.axes
            box = axes.get_window_extent()
            length = box.width if self.axis is axes.xaxis else box.height  # pixels
            room = length * 72.0 / axes.figure.dpi / (TICK_SIZE * pitch)  # in names
            step = max(1, int(np.ceil((vmax - vmin) / max(min(room, MOST_TICKS), 1.0))))
            first = max(0, int(np.ceil(vmin / step)) * step)
            return np.arange(first, min(count, vmax + 1), step, dtype=np.float64)

    return FittingLocator()

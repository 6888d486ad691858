"""Curves of several runs against their rounds, with the exact value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bisimetric._support.options import as_float, shown
from bisimetric.errors import InvalidOption
from bisimetric.views.look import GRID, REFERENCE, add_legend, axes_or_new, figure_of, look, set_texts
from bisimetric.views.series import LARGEST, Series, checked_series

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.8, 4.0)  # inches
MARKER_SPACING = 0.12  # of the diagonal of the axes: long runs would be nothing but markers


def convergence(
    curves: Series,
    *,
    exact: float | None = None,
    xlabel: str = "rounds",
    ylabel: str = "estimated distance",
    title: str | None = None,
    log: tuple[bool, bool] = (False, False),
    axes: Axes | None = None,
) -> Figure:
    """Draw curves, given as name -> (xs, ys), and a horizontal line at the exact value.

    `log` says whether the x and the y axis are logarithmic. What such an axis cannot show is left out.
    """
    checked = checked_series(curves, "curves", dimensions=(1,))
    _check_log(log)
    _check_drawable(checked, log)
    if exact is not None:
        _check_exact(exact, logarithmic=log[1])
    drawn = axes_or_new(axes, SIZE)
    if log[0]:
        drawn.set_xscale("log", nonpositive="mask")
    if log[1]:
        drawn.set_yscale("log", nonpositive="mask")
    handles: list[Artist] = []
    for k, (xs, ys) in enumerate(checked.values()):
        style = look(k)
        handles += drawn.plot(
            xs, ys, color=style.colour, marker=style.marker, linestyle=style.dashes, linewidth=1.4, markersize=5,
            markevery=MARKER_SPACING if len(xs) > 1 else None,
        )  # fmt: skip
    if exact is not None:
        handles.append(drawn.axhline(exact, color=REFERENCE, linestyle="--", linewidth=1.2, zorder=1))
    drawn.grid(color=GRID, linewidth=0.6)
    drawn.set_axisbelow(True)
    add_legend(drawn, handles, [*checked, *([] if exact is None else ["exact"])])
    set_texts(drawn, title=title, xlabel=xlabel, ylabel=ylabel)
    return figure_of(drawn)


def _check_drawable(curves: dict[str, tuple[np.ndarray, np.ndarray]], log: tuple[bool, bool]) -> None:
    for name, (xs, ys) in curves.items():
        shown = np.isfinite(xs) & np.isfinite(ys)
        for values, logarithmic in ((xs, log[0]), (ys, log[1])):
            if logarithmic:
                shown &= values > 0
        if not shown.any():
            raise InvalidOption(
                f"curves[{name!r}] has no point to draw: expected finite numbers, positive ones on logarithmic axes"
            )


def _check_exact(exact: object, *, logarithmic: bool) -> None:
    value = as_float(exact)
    if not abs(value) <= LARGEST or (logarithmic and value <= 0):
        raise InvalidOption(
            f"exact is {shown(exact)}, expected a number of size at most {LARGEST:g}, positive on a logarithmic axis"
        )


def _check_log(log: object) -> None:
    pair = isinstance(log, (tuple, list)) and len(log) == 2 and all(isinstance(one, (bool, np.bool_)) for one in log)
    if not pair:
        raise InvalidOption(f"log is {log!r}, expected two of True and False, for x and y: (False, True)")

"""Running times against sizes, with their spread.

A time that is NaN was not reached and counts as longer than any other: a median over such times may be unknown too,
and is then drawn as an open marker in a strip at the top edge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.views.look import GRID, Look, add_legend, axes_or_new, figure_of, look, set_texts
from bisimetric.views.series import LARGEST, Series, checked_series

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIZE = (6.8, 4.4)  # inches
STRIP = 0.045  # height of a series in the strip of what was not reached, as a share of the axes
HIGHEST_STRIP = 0.4  # of all series in it together
SMALLEST = 1 / LARGEST  # size or time that is drawn


class Spread(NamedTuple):
    """Times by size, over seeds; infinite where not reached."""

    sizes: Floats
    least: Floats
    median: Floats
    most: Floats


def times(
    series: Series,
    *,
    xlabel: str = "states",
    ylabel: str = "CPU seconds",
    title: str | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw times, given as name -> (sizes [k], seconds [k, seeds]), on logarithmic axes.

    Lines are medians over seeds, bands go from the least to the most. NaN means not reached, see above.
    """
    checked = {name: _spread(*pair, name) for name, pair in checked_series(series, "series", dimensions=(1, 2)).items()}
    drawn = axes_or_new(axes, SIZE)
    drawn.set(xscale="log", yscale="log")
    handles: list[Artist] = []
    lost = [name for name, spread in checked.items() if np.isinf(spread.median).any()]
    row = min(STRIP, HIGHEST_STRIP / (len(lost) + 1))  # height of a series in the strip
    top = _make_room(drawn, list(checked.values()), row * (len(lost) + 1) if lost else 0.0)
    for k, (name, spread) in enumerate(checked.items()):
        style = look(k)
        handles += drawn.plot(
            spread.sizes, np.where(np.isinf(spread.median), np.nan, spread.median),
            color=style.colour, marker=style.marker, linestyle=style.dashes, markersize=6, linewidth=1.6,
        )  # fmt: skip
        drawn.fill_between(spread.sizes, spread.least, np.minimum(spread.most, top), where=np.isfinite(spread.least),
                           color=style.colour, alpha=0.18, linewidth=0)  # fmt: skip
        if name in lost:
            _draw_lost(drawn, spread, style, 1 - row * (lost.index(name) + 0.6))
    if lost:
        _label_strip(drawn, 1 - row * (len(lost) + 0.35))
        _end_ticks(drawn, top)
    _whole_sizes(drawn, np.unique(np.concatenate([spread.sizes for spread in checked.values()])))
    drawn.grid(color=GRID, linewidth=0.6)
    drawn.set_axisbelow(True)
    add_legend(drawn, handles, list(checked))
    set_texts(drawn, title=title, xlabel=xlabel, ylabel=ylabel)
    return figure_of(drawn)


def _spread(sizes: Floats, seconds: Floats, name: str) -> Spread:
    if not (np.isfinite(sizes) & (sizes >= SMALLEST)).all() or (seconds < SMALLEST).any() or seconds.size == 0:
        raise InvalidOption(
            f"series[{name!r}] has a size or time below {SMALLEST:g}, expected positive ones, NaN for not reached"
        )
    known = np.where(np.isnan(seconds), np.inf, seconds).reshape(len(sizes), -1)  # [k, seeds]
    order = np.argsort(sizes, kind="stable")
    known = known[order]
    return Spread(sizes[order], known.min(axis=1), np.median(known, axis=1), known.max(axis=1))


def _make_room(axes: Axes, spreads: list[Spread], strip: float) -> float:
    """Set the range of the times, below a strip of that share of the height; returns the end of the range proper."""
    every = np.concatenate([part for spread in spreads for part in (spread.least, spread.median, spread.most)])
    finite = every[np.isfinite(every)]
    low, high = (finite.min(), finite.max()) if len(finite) else (1.0, 1.0)
    if axes.has_data():
        low, high = min(low, axes.get_ylim()[0]), max(high, axes.get_ylim()[1])
    low, high = low / 1.6, high * 1.6
    axes.set_ylim(low, high * (high / low) ** (strip / (1 - strip)))
    return float(high)


def _draw_lost(axes: Axes, spread: Spread, style: Look, height: float) -> None:
    lost = spread.sizes[np.isinf(spread.median)]
    axes.plot(
        lost, np.full(len(lost), height), transform=axes.get_xaxis_transform(), color=style.colour, marker=style.marker,
        linestyle="", fillstyle="none", markersize=6,
    )  # fmt: skip


def _label_strip(axes: Axes, edge: float) -> None:
    axes.plot([0, 1], [edge, edge], transform=axes.transAxes, color="0.6", linestyle=":", linewidth=0.9)
    axes.text(0.01, edge + 0.01, "not reached (open markers)", transform=axes.transAxes, fontsize="small", color="0.3")


def _end_ticks(axes: Axes, top: float) -> None:
    """No ticks in the strip, which is no time."""
    low, high = axes.get_ylim()
    for minor in (False, True):
        axes.set_yticks([tick for tick in axes.get_yticks(minor=minor) if low <= tick <= top], minor=minor)
    axes.set_ylim(low, high)


def _whole_sizes(axes: Axes, sizes: Floats) -> None:
    """Ticks at the sizes themselves where there are few."""
    if len(sizes) <= 12:
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axes.set_xticks([], minor=True)

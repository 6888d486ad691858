"""Curves of named series: any numbers over any others, and running times by size.

In `times`, NaN stands for a time that was not reached and counts as longer than any other. So the median over seeds
may be unreached too; it is then drawn as an open marker in a strip along the top edge.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import as_float, shown
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Floats
from bisimetric.views.figures import GRID, REFERENCE, Look, add_legend, axes_or_new, figure_of, look, set_texts

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES_SIZE, TIMES_SIZE = (6.8, 4.0), (6.8, 4.4)  # inches
MARKER_SPACING = 0.12  # distance between markers on a curve, as a share of the diagonal of the axes
LARGEST = 1e100  # largest number that is drawn; beyond it the limits of logarithmic axes could overflow
SMALLEST_DRAWN = 1 / LARGEST  # smallest size or time that is drawn
STRIP = 0.045  # height of a series in the strip of unreached times, as a share of the axes
HIGHEST_STRIP = 0.4  # height of the whole strip at most
FEW_SIZES = 12  # up to this many sizes each gets a tick

Series = Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike]]


def curves(
    series: Series,
    *,
    exact: float | None = None,
    xlabel: str = "rounds",
    ylabel: str = "estimated distance",
    title: str | None = None,
    log: tuple[bool, bool] = (False, False),
    ax: Axes | None = None,
) -> Figure:
    """Draw curves, for example estimates by round, and the exact value as a dashed line.

    Parameters
    ----------
    series : mapping from str to (xs, ys)
        The curves by name; `xs` and `ys` are arrays [k]. NaN leaves a gap.
    exact : float, optional
        The height of a horizontal line named "exact".
    xlabel, ylabel : str
        The labels of the axes.
    title : str, optional
        The title.
    log : (bool, bool)
        Whether the x axis and the y axis are logarithmic. Numbers ≤ 0 leave a gap on a logarithmic axis.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If a curve is not two arrays of equal length, or has no point that can be drawn.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> problem = bm.Problem(bm.as_chain("grid-3x3"), bm.as_chain("open-grid:3"), discount=0.9)
    >>> history = bm.solve(problem, bm.ValueIteration()).history
    >>> gaps = [step.step for step in history], [step.gap for step in history]
    >>> figure = bm.plot.curves({"value iteration": gaps}, ylabel="gap", log=(False, True))
    """
    checked = _checked_series(series, "series", dimensions=(1,))
    _check_log(log)
    _check_drawable(checked, log)
    if exact is not None:
        _check_exact(exact, logarithmic=log[1])
    drawn = axes_or_new(ax, CURVES_SIZE)
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
    _finish(drawn, handles, [*checked, *([] if exact is None else ["exact"])])
    set_texts(drawn, title=title, xlabel=xlabel, ylabel=ylabel)
    return figure_of(drawn)


def times(
    series: Series,
    *,
    xlabel: str = "states",
    ylabel: str = "CPU seconds",
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw running times by size on logarithmic axes: the median over seeds as a line, their range as a band.

    Parameters
    ----------
    series : mapping from str to (sizes, seconds)
        The series by name; `sizes` is an array [k], `seconds` is [k] or [k, seeds]. NaN means that the method did not
        get there. Where the median over seeds is NaN, an open marker stands in a strip at the top.
    xlabel, ylabel : str
        The labels of the axes.
    title : str, optional
        The title.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If a series is not two arrays of equal length, or a size or time is not positive.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> nan = float("nan")
    >>> figure = bm.plot.times({"exact": ([10, 100], [0.01, 0.2]), "slow": ([10, 100], [0.5, nan])})
    """
    checked = {
        name: _spread(*pair, name) for name, pair in _checked_series(series, "series", dimensions=(1, 2)).items()
    }
    drawn = axes_or_new(ax, TIMES_SIZE)
    drawn.set(xscale="log", yscale="log")
    handles: list[Artist] = []
    unreached = [name for name, spread in checked.items() if np.isinf(spread.median).any()]
    row = min(STRIP, HIGHEST_STRIP / (len(unreached) + 1))  # height of a series in the strip
    top = _set_time_range(drawn, list(checked.values()), row * (len(unreached) + 1) if unreached else 0.0)
    for k, (name, spread) in enumerate(checked.items()):
        style = look(k)
        handles += drawn.plot(
            spread.sizes, np.where(np.isinf(spread.median), np.nan, spread.median),
            color=style.colour, marker=style.marker, linestyle=style.dashes, markersize=6, linewidth=1.6,
        )  # fmt: skip
        drawn.fill_between(spread.sizes, spread.least, np.minimum(spread.most, top), where=np.isfinite(spread.least),
                           color=style.colour, alpha=0.18, linewidth=0)  # fmt: skip
        if name in unreached:
            _draw_unreached(drawn, spread, style, 1 - row * (unreached.index(name) + 0.6))
    if unreached:
        _label_strip(drawn, 1 - row * (len(unreached) + 0.35))
        _remove_ticks_above(drawn, top)
    _tick_sizes(drawn, np.unique(np.concatenate([spread.sizes for spread in checked.values()])))
    _finish(drawn, handles, list(checked))
    set_texts(drawn, title=title, xlabel=xlabel, ylabel=ylabel)
    return figure_of(drawn)


def _finish(axes: Axes, handles: list[Artist], names: list[str]) -> None:
    """Add a grid behind the curves, and the legend."""
    axes.grid(color=GRID, linewidth=0.6)
    axes.set_axisbelow(True)
    add_legend(axes, handles, names)


def _checked_series(series: Series, what: str, *, dimensions: tuple[int, ...]) -> dict[str, tuple[Floats, Floats]]:
    """Every series as two float arrays of equal length; the second has one of these numbers of dimensions."""
    if not isinstance(series, Mapping) or not series:
        raise InvalidOption(f"{what} is {_short(series)}, expected a non-empty mapping from names to two arrays")
    names = [str(name) for name in series]
    for k, name in enumerate(names):
        if name in names[:k]:
            raise InvalidOption(f"{what} has two names that read {name!r}, expected different ones; rename one")
    return {str(name): _checked_pair(pair, f"{what}[{name!r}]", dimensions) for name, pair in series.items()}


def _checked_pair(pair: Any, what: str, dimensions: tuple[int, ...]) -> tuple[Floats, Floats]:
    try:
        xs, ys = (np.asarray(part, dtype=np.float64) for part in pair)
    except (TypeError, ValueError, OverflowError):
        raise InvalidOption(f"{what} is {_short(pair)}, expected two arrays of numbers") from None
    if xs.ndim != 1 or ys.ndim not in dimensions or len(xs) != len(ys) or not len(xs):
        raise InvalidOption(
            f"{what} has arrays of shapes {xs.shape} and {ys.shape}, expected two of equal length ≥ 1, "
            f"the second with {' or '.join(map(str, dimensions))} dimension(s)"
        )
    largest = max(float(np.abs(part[np.isfinite(part)]).max(initial=0.0)) for part in (xs, ys))
    if largest > LARGEST:
        raise InvalidOption(f"{what} has a number of size {largest:g}, expected at most {LARGEST:g}; use a larger unit")
    return xs, ys


def _short(given: object) -> str:
    text = repr(given)
    return text if len(text) <= 60 else f"a {type(given).__name__}"


def _check_drawable(series: dict[str, tuple[Floats, Floats]], log: tuple[bool, bool]) -> None:
    for name, (xs, ys) in series.items():
        drawable = np.isfinite(xs) & np.isfinite(ys)
        for values, logarithmic in ((xs, log[0]), (ys, log[1])):
            if logarithmic:
                drawable &= values > 0
        if not drawable.any():
            raise InvalidOption(
                f"series[{name!r}] has no point to draw: expected finite numbers, positive ones on logarithmic axes"
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


class Spread(NamedTuple):
    """The least, median and largest time over seeds, by size; infinite where not reached."""

    sizes: Floats
    least: Floats
    median: Floats
    most: Floats


def _spread(sizes: Floats, seconds: Floats, name: str) -> Spread:
    if (
        not (np.isfinite(sizes) & (sizes >= SMALLEST_DRAWN)).all()
        or (seconds < SMALLEST_DRAWN).any()
        or seconds.size == 0
    ):
        raise InvalidOption(
            f"series[{name!r}] has a size or time below {SMALLEST_DRAWN:g}, expected positive ones, NaN for not reached"
        )
    order = np.argsort(sizes, kind="stable")
    by_seed = np.where(np.isnan(seconds), np.inf, seconds).reshape(len(sizes), -1)[order]  # [k, seeds]
    return Spread(sizes[order], by_seed.min(axis=1), np.median(by_seed, axis=1), by_seed.max(axis=1))


def _set_time_range(axes: Axes, spreads: list[Spread], strip: float) -> float:
    """Fit the y axis to the times, with a strip of this share of the height above them; returns where it begins."""
    every = np.concatenate([part for spread in spreads for part in (spread.least, spread.median, spread.most)])
    finite = every[np.isfinite(every)]
    low, high = (finite.min(), finite.max()) if len(finite) else (1.0, 1.0)
    if axes.has_data():
        low, high = min(low, axes.get_ylim()[0]), max(high, axes.get_ylim()[1])
    low, high = low / 1.6, high * 1.6
    axes.set_ylim(low, high * (high / low) ** (strip / (1 - strip)))
    return float(high)


def _draw_unreached(axes: Axes, spread: Spread, style: Look, height: float) -> None:
    sizes = spread.sizes[np.isinf(spread.median)]
    axes.plot(
        sizes, np.full(len(sizes), height), transform=axes.get_xaxis_transform(), color=style.colour,
        marker=style.marker, linestyle="", fillstyle="none", markersize=6,
    )  # fmt: skip


def _label_strip(axes: Axes, edge: float) -> None:
    axes.plot([0, 1], [edge, edge], transform=axes.transAxes, color="0.6", linestyle=":", linewidth=0.9)
    axes.text(0.01, edge + 0.01, "not reached (open markers)", transform=axes.transAxes, fontsize="small", color="0.3")


def _remove_ticks_above(axes: Axes, top: float) -> None:
    """Keep ticks out of the strip, where heights are not times."""
    low, high = axes.get_ylim()
    for minor in (False, True):
        axes.set_yticks([tick for tick in axes.get_yticks(minor=minor) if low <= tick <= top], minor=minor)
    axes.set_ylim(low, high)


def _tick_sizes(axes: Axes, sizes: Floats) -> None:
    """Put ticks at the sizes themselves where there are few."""
    if len(sizes) <= FEW_SIZES:
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axes.set_xticks([], minor=True)

"""The pictures of the running-time experiment, from its record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from bisimetric.experiments.methods import CRUDE, FINE, METHODS
from bisimetric.experiments.running_time_tables import rows_at, time_to

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure, Record

PANEL = (2.75, 2.5)  # inches
LEGEND_WIDTH = 1.5  # inches
MOST_PANELS = 5  # values of γ that are drawn
CLOSEST = 1.4  # smallest ratio of two sizes that are both written below a panel
FINEST = 1e-6  # smaller errors are drawn as this
LOWEST = 0.5  # a bar of the standard deviation goes down to this share of the mean at most


def draw_paper(record: Record) -> Figure:
    """The settings of the authors' scripts: seconds and errors as means with standard deviations, as in the paper."""
    from bisimetric.views.figures import new_figure

    config = record["config"]
    discounts = few(config["discounts"])
    quantities = (("CPU seconds", "seconds"), (f"error reached\n(or ≤ {FINEST:.0e})", "error"))
    lines = [(kind, label, key) for kind in config["kinds"] for label, key in quantities]
    figure = new_figure((PANEL[0] * len(discounts) + LEGEND_WIDTH, PANEL[1] * len(lines)))
    grid = figure.subplots(len(lines), len(discounts), squeeze=False, sharex=True, sharey="row")
    for panels, (kind, label, key) in zip(grid, lines, strict=True):
        for axes, discount in zip(panels, discounts, strict=True):
            _draw_means(axes, record, kind, discount, key)
            axes.set_title(f"{kind} rows, γ = {discount:g}", loc="left", fontsize="medium")
        panels[0].set_ylabel(label)
    _finish(grid, config["sizes"], (*METHODS, FINE))
    return figure


def _draw_means(axes: Any, record: Record, kind: str, discount: float, key: str) -> None:
    from bisimetric.views.figures import look

    sizes = record["config"]["sizes"]
    for k, method in enumerate((*METHODS, FINE)):
        by_size = [
            [max(row["methods"][method][key], FINEST) for row in rows_at(record["result"]["paper"], kind, discount, n)]
            for n in sizes
        ]
        mean, deviation = (np.array([f(found) for found in by_size]) for f in (np.mean, np.std))
        style = look(k)
        axes.errorbar(
            sizes, mean, yerr=(np.minimum(deviation, (1 - LOWEST) * mean), deviation), color=style.colour,
            marker=style.marker, linestyle=style.dashes, markersize=4.5, linewidth=1.3, capsize=2.0, label=method,
        )  # fmt: skip
    axes.set(xscale="log", yscale="log")


def draw_tuned(record: Record) -> Figure:
    """CPU seconds to the smallest error: medians and ranges over seeds; one row of panels per kind of chain."""
    from bisimetric import plot
    from bisimetric.views.figures import new_figure

    config = record["config"]
    discounts, target = few(config["tuned_discounts"]), min(config["targets"])
    figure = new_figure((PANEL[0] * len(discounts) + LEGEND_WIDTH, (PANEL[1] + 0.3) * len(config["kinds"])))
    grid = figure.subplots(len(config["kinds"]), len(discounts), squeeze=False)
    shown = (*METHODS, CRUDE)
    for panels, kind in zip(grid, config["kinds"], strict=True):
        for axes, discount in zip(panels, discounts, strict=True):
            series = {method: _times(record, kind, discount, method, target) for method in shown}
            label = f"CPU seconds to a true {100 * target:g} %" if axes is panels[0] else ""
            plot.times(series, ylabel=label, xlabel="", title=f"{kind} rows, γ = {discount:g}", ax=axes)
            axes.get_legend().remove()
        ends = [axes.get_ylim() for axes in panels]
        for axes in panels:
            axes.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    _finish(grid, config["tuned_sizes"], shown)
    return figure


def _times(record: Record, kind: str, discount: float, method: str, target: float) -> tuple[Any, Any]:
    """Sizes, and the seconds by size and seed; where seeds are fewer the last one is repeated."""
    sizes = record["config"]["tuned_sizes"]
    tuned = record["result"]["tuned"]
    by_size = [[time_to(row, method, target) for row in rows_at(tuned, kind, discount, n)] for n in sizes]
    most = max(map(len, by_size))
    return sizes, [found + found[-1:] * (most - len(found)) for found in by_size]


def _finish(grid: Any, sizes: Sequence[int], names: Sequence[str]) -> None:
    """Grid lines, sizes below the last panels, and one legend beside the upper right panel."""
    from bisimetric.views.figures import GRID, add_legend

    for axes in grid.ravel():
        axes.grid(color=GRID, linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xticks(sizes, tick_labels(sizes))
        axes.set_xticks([], minor=True)
    for axes in grid[-1]:
        axes.set_xlabel("states n")
    corner = grid[0][-1]
    handles = corner.containers if corner.containers else corner.lines[: len(names)]
    add_legend(corner, list(handles), names)


def few(values: Sequence[float]) -> list[float]:
    """At most MOST_PANELS of these, evenly spread, with the first and the last."""
    places = np.unique(np.round(np.linspace(0, len(values) - 1, min(MOST_PANELS, len(values)))).astype(int))
    return [values[place] for place in places.tolist()]


def tick_labels(sizes: Sequence[int]) -> list[str]:
    """Sizes as text, without those too close to a larger one on a logarithmic axis."""
    labels: list[str] = []
    last = np.inf
    for n in reversed(sizes):
        labels.append(str(n) if last >= CLOSEST * n else "")
        last = n if labels[-1] else last
    return labels[::-1]

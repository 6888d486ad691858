"""Time against error, and time against size."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.comparison import TITLES
from benchmarks.pareto.ladder import smallest_error
from benchmarks.pareto.methods import CERTIFIED, ENOUGH_ERROR, METHODS
from benchmarks.pareto.race import SHOWN
from benchmarks.pareto.tables import Figure, figures
from benchmarks.plots import WIDTH, pyplot
from benchmarks.tables import Row

# Okabe & Ito 2008; a colour may serve twice, with another marker and another kind of line.
LOOKS = {
    "ours": ("#000000", "*", "-"),
    "pi-core-lu": ("#0072B2", "s", "-"),
    "pi-core-bicgstab": ("#56B4E9", "D", "-"),
    "pi-emd-lu": ("#0072B2", "X", ":"),
    "vi-core-macqueen": ("#E69F00", "v", "-"),
    "vi-emd2-macqueen": ("#D55E00", "^", "-"),
    "vi-emd2": ("#D55E00", "<", ":"),
    "highs-ipm": ("#009E73", "P", "-"),
    "pyotc": ("#009E73", "h", ":"),
    "svi-numpy": ("#CC79A7", "o", "-"),
    "spi-numpy": ("#CC79A7", "d", ":"),
    "ot-markov-distances": ("#999999", "p", "-"),
}
Point = tuple[float, float]  # CPU seconds, error
FLOOR = 1e-8  # smaller errors are drawn as this
FAMILIES = {"softmax chains": ("dense",), "4-rooms": ("paper", "classic", "rooms")}


def errors(rows: Sequence[Row], timeout: float) -> Any:
    """CPU seconds by true error, one panel per instance whose ladders were run in full; None if there is none yet."""
    plt = pyplot()
    panels = panels_of(rows)
    if not panels:
        return None
    figure, drawn = plt.subplots(1, len(panels), figsize=(WIDTH, 5.6), layout="constrained", squeeze=False)
    for axes, instance in zip(drawn[0], panels, strict=True):
        mine = [row for row in rows if row["instance"] == instance and row["discount"] == SHOWN and row["seed"] == 0]
        for name in METHODS:
            own = [row for row in mine if row["method"] == name and "cpu" in row]
            both = all("error" in row and "policy_error" in row for row in own)
            _front(axes, name, points_of(own, "policy_error" if both else None))
            if both:
                _front(axes, name, points_of(own, "error"), fill="none")
        axes.axhline(ENOUGH_ERROR, color="0.6", linewidth=0.8, linestyle="--")
        axes.axvline(timeout, color="0.6", linewidth=0.8, linestyle="--")
        axes.set(xscale="log", yscale="log", xlabel="CPU seconds, one thread")
        axes.set_title(f"{TITLES[instance]}, γ = {SHOWN}", loc="left", fontsize=11)
        axes.grid(color="0.9", linewidth=0.6)
    drawn[0][0].set_ylabel(f"true error: max |V − V*| / max V*  (≥ {FLOOR:g})")
    note = (
        f"dashed: {ENOUGH_ERROR:.0%}, and the limit of {timeout:g} CPU seconds; small: another setting is better;"
        " open: by its own distances, not by its couplings"
    )
    _legend(figure, plt, note)
    return figure


def points_of(rows: Sequence[Row], kind: str | None) -> list[Point]:
    """Seconds and error of each setting; the smaller error if no kind is given."""
    by_setting: dict[str, list[Row]] = {}
    for row in rows:
        by_setting.setdefault(str(row["setting"]), []).append(row)
    return [
        (median(row["cpu"] for row in same), max(same[0][kind] if kind else smallest_error(same[0]), FLOOR))
        for same in by_setting.values()
    ]


def _front(axes: Any, name: str, points: Sequence[Point], fill: str = "full") -> None:
    """Draw the Pareto-optimal settings (none is faster and better) as a line, the others as small points."""
    colour, marker, line = LOOKS[name]
    ahead: list[Point] = []
    for point in sorted(points):
        if not ahead or point[1] < ahead[-1][1]:
            ahead.append(point)
    behind = [point for point in points if point not in ahead]
    size = 12 if name == "ours" else 6.5
    look: dict[str, Any] = {"marker": marker, "color": colour, "fillstyle": fill}
    if ahead:
        axes.plot(*zip(*ahead, strict=True), linestyle=line, markersize=size, zorder=3, **look)
    if behind:
        axes.plot(*zip(*behind, strict=True), linestyle="", markersize=3, alpha=0.6, **look)


def panels_of(rows: Sequence[Row]) -> list[str]:
    """The instances on which ours was run with more than one setting."""
    rough = (row for row in rows if row["method"] == "ours" and row["setting"]["tol"] != CERTIFIED)
    return list(dict.fromkeys(str(row["instance"]) for row in rough))


def sizes(rows: Sequence[Row], timeout: float) -> Any:
    """CPU seconds by number of states; unreached targets are open markers at the upper edge."""
    plt = pyplot()
    found = figures(rows)
    states = {row["instance"]: row["states"] for row in rows if "states" in row}
    of_family = {title: [name for name in states if name.split("-")[0] in family] for title, family in FAMILIES.items()}
    panels = {title: instances for title, instances in of_family.items() if instances}
    shape: dict[str, Any] = {"figsize": (WIDTH, 5.6), "layout": "constrained", "sharey": True, "squeeze": False}
    figure, drawn = plt.subplots(1, len(panels), **shape)
    for axes, (title, instances) in zip(drawn[0], panels.items(), strict=True):
        for place, name in enumerate(METHODS):
            line = [(states[one], found[one, SHOWN, name]) for one in instances if (one, SHOWN, name) in found]
            # Side by side, because many end at the same height.
            _line(axes, name, line, timeout * 1.6, shift=1.0 + 0.032 * (place - len(METHODS) / 2))
        axes.axhline(timeout, color="0.6", linewidth=0.8, linestyle="--")
        axes.set(xscale="log", yscale="log", xlabel="states of each chain")
        axes.set_xlim(min(states[one] for one in instances) / 1.4, max(states[one] for one in instances) * 1.4)
        axes.set_xticks([states[one] for one in instances], [str(states[one]) for one in instances])
        axes.minorticks_off()
        axes.set_title(f"{title}, γ = {SHOWN}", loc="left", fontsize=11)
        axes.grid(color="0.9", linewidth=0.6)
    drawn[0][0].set_ylabel(f"CPU seconds to {ENOUGH_ERROR:.0%} (bisimetric: certified {CERTIFIED:g})")
    note = (
        "median over the seeds on which it gets there, with their number if not all;"
        f" open: not within {timeout:g} CPU seconds, or with no setting"
    )
    _legend(figure, plt, note)
    return figure


def _line(axes: Any, name: str, line: Sequence[tuple[int, Figure]], edge: float, shift: float) -> None:
    colour, marker, style = LOOKS[name]
    look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 12 if name == "ours" else 6.5}
    there = [(size, one.cpu) for size, one in line if one.status == "reached"]
    missed = [(shift * size, edge) for size, one in line if one.status != "reached"]
    if there:
        axes.plot(*zip(*there, strict=True), linestyle=style, zorder=3, **look)
    for size, one in line:
        if one.status == "reached" and one.some:
            axes.annotate(one.some, (size, one.cpu), (5, -3), textcoords="offset points", fontsize=7, color=colour)
    if missed:
        axes.plot(*zip(*missed, strict=True), linestyle="", fillstyle="none", **look)


def _legend(figure: Any, plt: Any, note: str) -> None:
    handles = [
        plt.Line2D([], [], color=colour, marker=marker, linestyle=line, markersize=11 if name == "ours" else 6.5)
        for name, (colour, marker, line) in LOOKS.items()
    ]
    figure.legend(
        handles, [METHODS[name].title for name in LOOKS], loc="outside lower center", ncols=3, fontsize=8.5,
        frameon=False, title=note, title_fontsize=8.5,
    )  # fmt: skip

"""Pictures of how often statements about simulated logs are right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.plots import WIDTH, pyplot
from benchmarks.tables import Row

# Okabe & Ito 2008; markers differ as well.
CHANGES = (("#56B4E9", "o"), ("#0072B2", "s"), ("#009E73", "D"), ("#D55E00", "^"))
INTERVALS = {
    "guarantee": ("#000000", "s", "guarantee"),
    "bootstrap": ("#0072B2", "o", "bootstrap, corrected for bias"),
    "percentile": ("#D55E00", "^", "bootstrap, percentiles"),
}
STATES = 10  # of the intervals in the picture
PROMISED, LEVEL = 95, 5  # per cent
DISTANCES = (0.05, 0.1, 0.2, 0.4)  # marked on an axis


def power(rows: Sequence[Row]) -> Any:
    """Left: distances of estimated chains and what chance alone makes. Right: how often a change is found."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 4.4), layout="constrained")
    found = [row for row in rows if row["kind"] == "logs" and not row["guaranteed"]]
    for share, (colour, marker) in zip(sorted({row["share"] for row in found}), CHANGES, strict=False):
        mine = sorted((row for row in found if row["share"] == share), key=lambda row: row["sequences"])
        counts, label = [row["sequences"] for row in mine], f"true distance {mine[0]['truth']:.3f}"
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 6}
        left.plot(counts, [row["distance"] for row in mine], label=label, **look)
        left.axhline(mine[0]["truth"], color=colour, linewidth=0.8, linestyle=":")
        right.plot(counts, [100 * row["rejected"] for row in mine], label=label, **look)
    counts = sorted({row["sequences"] for row in found})
    smallest = min(row["share"] for row in found)
    chance = [next(row["null"] for row in found if (row["sequences"], row["share"]) == (c, smallest)) for c in counts]
    left.plot(counts, chance, color="0.35", linestyle="--", linewidth=2, label="chance alone (the null)")
    left.set(xscale="log", yscale="log", xlabel="sequences in each log", ylabel="distance, units of reward")
    left.set_title("Estimated distances, 10 states", loc="left")
    right.axhline(LEVEL, color="0.35", linestyle="--", linewidth=1)
    right.annotate(
        "level of the test, 5 %", (counts[-1], LEVEL), (0, 4), textcoords="offset points", ha="right", fontsize=9
    )
    right.set(xscale="log", ylim=(0, 103), xlabel="sequences in each log", ylabel="change found, % of logs")
    right.set_title("How often a change is found", loc="left")
    for axes in (left, right):
        axes.grid(color="0.88", linewidth=0.6)
        axes.set_xticks(counts, [str(count) for count in counts])
        axes.minorticks_off()
    left.set_yticks(DISTANCES, [f"{distance:g}" for distance in DISTANCES])
    handles, labels = left.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    return figure


def intervals(rows: Sequence[Row]) -> Any:
    """How often intervals hold the true distance, for the same process twice and for different ones."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 4.0), sharey=True, layout="constrained")
    found = [row for row in rows if row["kind"] == "logs" and row["guaranteed"] and row["states"] == STATES]
    for axis, title, same in zip(axes, ("the same process twice", "different processes"), (True, False), strict=True):
        mine = sorted((row for row in found if (row["share"] == 0) == same), key=lambda row: row["sequences"])
        for name, (colour, marker, label) in INTERVALS.items():
            covered = [100 * row[name] for row in mine]
            axis.plot(range(len(mine)), covered, color=colour, marker=marker, markersize=7, label=label)
        axis.axhline(PROMISED, color="0.35", linestyle="--", linewidth=1)
        axis.set_xticks(range(len(mine)), [str(row["sequences"]) for row in mine])
        truth = mine[0]["truth"]
        axis.set_title(f"{title}, true distance {truth:.2g}", loc="left", fontsize=11)
        axis.set(xlabel="sequences in each log", ylim=(-4, 104))
        axis.grid(axis="y", color="0.88", linewidth=0.6)
    axes[0].set_ylabel("true distance inside, % of logs")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=9, frameon=False)
    return figure

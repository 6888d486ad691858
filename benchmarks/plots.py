"""Plots of stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import comparison, scaling, tuning
from benchmarks.tables import Row

# Okabe & Ito 2008: colour-blind readers tell them apart too; markers differ as well.
LOOKS = {
    "ours": ("#000000", "*", "bisimetric"),
    "pi-emd-lu": ("#F0E442", "X", "policy iteration, POT emd, LU"),
    "pi-core-lu": ("#0072B2", "s", "policy iteration, POT core, LU"),
    "pi-core-bicgstab": ("#56B4E9", "D", "policy iteration, POT core, BiCGSTAB"),
    "vi-core-macqueen": ("#E69F00", "v", "value iteration, POT core"),
    "vi-emd2-macqueen": ("#D55E00", "^", "value iteration, POT emd2"),
    "vi-emd2": ("#CC79A7", "o", "value iteration, POT emd2, textbook stop"),
    "highs": ("#009E73", "P", "HiGHS, fastest method"),
}
WIDTH, DPI = 9.0, 150


def peers(rows: Sequence[Row], timeout: float) -> Any:
    """CPU seconds by instance and method; time-outs are open arrows."""
    plt = pyplot()
    names = [name for family in comparison.FAMILIES for name in family if any(row["instance"] == name for row in rows)]
    figure, axes = plt.subplots(figsize=(WIDTH, 6.2), layout="constrained")
    for k, instance in enumerate(names):
        found = comparison.figures(rows, instance, timeout)
        for j, (method, (colour, marker, label)) in enumerate(LOOKS.items()):
            if method not in found:
                continue
            at = k + (j - len(LOOKS) / 2 + 0.5) * 0.11
            one = found[method]
            if one.status == "solved":
                axes.plot(at, one.cpu, marker, color=colour, markersize=12 if method == "ours" else 8, label=label)
            elif one.status == "time-out":
                axes.plot(at, one.cpu, marker, color=colour, markersize=8, fillstyle="none")
                axes.annotate(
                    "",
                    (at, one.cpu * 2.6),
                    (at, one.cpu * 1.15),
                    arrowprops={"arrowstyle": "->", "color": colour, "linestyle": "-" if one.run else ":"},
                )
            else:
                axes.plot(at, one.cpu, "x", color=colour, markersize=9)
                axes.annotate(one.status, (at, one.cpu), fontsize=7, rotation=90, ha="center", va="bottom")
    for k in range(len(names)):
        if k % 2:
            axes.axvspan(k - 0.5, k + 0.5, color="0.95", zorder=0)
    axes.axhline(timeout, color="0.6", linewidth=0.8, linestyle="--")
    axes.set(yscale="log", ylabel="CPU seconds, one thread", xlim=(-0.5, len(names) - 0.5))
    axes.set_ylim(top=timeout * 4)
    axes.set_xticks(range(len(names)), [comparison.TITLES[name].replace(" ", "\n", 1) for name in names], fontsize=9)
    axes.set_title(f"Time to a relative gap of {comparison.TOL:g}, γ = {comparison.DISCOUNT}", loc="left")
    axes.grid(axis="y", color="0.85", linewidth=0.6)
    handles, labels = axes.get_legend_handles_labels()
    once = dict(zip(labels, handles, strict=True))
    labels = [label for _, _, label in LOOKS.values() if label in once]
    note = plt.Line2D([], [], color="0.3", marker=r"$\uparrow$", linestyle="", label="ended (dotted: not run)")
    figure.legend(
        [*(once[label] for label in labels), note],
        [*labels, "open, arrow: ended at the time limit (dotted: not run, an easier case was ended)"],
        loc="outside lower center",
        ncols=2,
        fontsize=9,
        frameon=False,
    )
    return figure


def by_size(rows: Sequence[Row]) -> Any:
    """Time and memory per pair, by the number of pairs."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH, 4.2), layout="constrained")
    looks = {1: ("#0072B2", "o", "one thread"), 2: ("#D55E00", "s", "two threads")}
    for threads in scaling.THREADS:
        mine = [row for row in rows if row["threads"] == threads]
        pairs = [row["pairs"] for row in mine]
        colour, marker, label = looks[threads]
        look: dict[str, Any] = {"color": colour, "marker": marker, "markersize": 7}
        left.plot(pairs, [1e6 * row["wall"] / row["pairs"] for row in mine], label=f"{label}, wall", **look)
        left.plot(
            pairs, [1e6 * row["cpu"] / row["pairs"] for row in mine], label=f"{label}, CPU",
            **(look | {"linestyle": ":", "fillstyle": "none"}),
        )  # fmt: skip
        large = [row for row in mine if row["pairs"] >= LARGE]
        right.plot([row["pairs"] for row in large], [scaling.bytes_a_pair(row) for row in large], label=label, **look)
    for axes in (left, right):
        axes.set(xscale="log", xlabel="pairs of states")
        axes.set_ylim(bottom=0)
        axes.grid(color="0.85", linewidth=0.6)
        axes.legend(frameon=False, fontsize=9)
    left.set_ylabel("microseconds a pair")
    right.set_ylabel("peak bytes a pair")
    left.set_title(f"4-rooms, γ = {scaling.DISCOUNT}, relative gap {scaling.TOL:g}", loc="left", fontsize=11)
    right.set_title("memory of the solve", loc="left", fontsize=11)
    return figure


STEP_LOOKS = {  # one colour per kind of schedule, one marker per size
    "η = 0.1": ("#56B4E9", "v", "-"),
    "η = 1": ("#0072B2", "o", "-"),
    "η = 10": ("#56B4E9", "^", "-"),
    "η = 100": ("#56B4E9", "s", "-"),
    "η = 1/√k": ("#E69F00", "v", "-"),
    "η = 10/√k": ("#D55E00", "o", "-"),
    "η = 100/√k": ("#E69F00", "s", "-"),
    "plain auto": ("#999999", "D", "-"),
    "default": ("#000000", "*", "-"),
}
OTHER_LOOKS = {
    "η = 1": ("#0072B2", "o", "-"),
    "SPI, η = 1": ("#56B4E9", "o", "--"),
    "plain auto": ("#999999", "D", "-"),
    "plain auto, m = 2": ("#009E73", "v", "-"),
    "plain auto, m = 5": ("#009E73", "^", "-"),
    "SPI, plain auto": ("#E69F00", "D", "--"),
    "default": ("#000000", "*", "-"),
    "SPI, default": ("#CC79A7", "*", "--"),
}


def curves(rows: Sequence[Row]) -> Any:
    """Error by round: step sizes above, the other options below."""
    plt = pyplot()
    names = {"paper-40": "4-rooms p1–p0, 40 states", "dense-20": "dense random chains, 20 states"}
    figure, panels = plt.subplots(2, 2, figsize=(WIDTH, 7.6), layout="constrained", sharex=True, sharey="col")
    for column, instance in enumerate(tuning.INSTANCES):
        found = {row["setting"]: row for row in rows if row["kind"] == "curve" and row["instance"] == instance}
        for line, looks in enumerate((STEP_LOOKS, OTHER_LOOKS)):
            axes = panels[line, column]
            for name, (colour, marker, style) in looks.items():
                if name not in found:
                    continue
                strong = name == tuning.DEFAULT
                axes.plot(
                    found[name]["rounds"], found[name]["error"], label=name, color=colour, marker=marker,
                    linestyle=style, markersize=8 if strong else 5, linewidth=2.2 if strong else 1.2,
                    zorder=3 if strong else 2,
                )  # fmt: skip
            axes.set(xscale="log", yscale="log")
            axes.grid(which="both", color="0.9", linewidth=0.6)
            if line == 0:
                axes.set_title(f"{names[instance]}, γ = {tuning.DISCOUNT}", loc="left", fontsize=11)
            else:
                axes.set_xlabel("rounds of the run")
            if column == 0:
                axes.set_ylabel("error: max(V^π − V*) / max V*")
            else:
                axes.legend(frameon=False, fontsize=8.5, loc="lower left")
    return figure


SMALL_LOOKS = {"aggregate": ("#D55E00", "s", "--"), "reduce": ("#0072B2", "o", "-")}


def reductions(rows: Sequence[Row]) -> Any:
    """The distance of small chains to the original by their number of states, one panel a model."""
    plt = pyplot()
    models = list(dict.fromkeys(row["model"] for row in rows))
    figure, panels = plt.subplots(1, len(models), figsize=(WIDTH, 3.3), layout="constrained", squeeze=False)
    for axes, model in zip(panels[0], models, strict=True):
        mine = [row for row in rows if row["model"] == model]
        for name, (colour, marker, style) in SMALL_LOOKS.items():
            sizes, distances = [row["n_states"] for row in mine], [row[name] for row in mine]
            axes.plot(sizes, distances, color=colour, marker=marker, linestyle=style, label=f"bm.{name}")
        title = {"random": "random chain", "4-rooms": "4-rooms, side 6"}.get(model, model)
        axes.set_title(f"{title}\n{mine[0]['states']} states, γ = {mine[0]['discount']:g}", loc="left", fontsize=10)
        axes.set(ylim=(0, 1.08 * max(row["aggregate"] for row in mine)), xlabel="states of small chain")
        axes.set_xticks(sizes)
        axes.grid(color="0.88", linewidth=0.6)
    panels[0, 0].set_ylabel("distance, units of reward")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=9, frameon=False)
    return figure


def write(figure: Any, path: Path) -> None:
    """Write a figure to a file, and let pyplot forget it."""
    figure.savefig(path, dpi=DPI)
    pyplot().close(figure)


LARGE = 5_000  # with fewer pairs the memory of a solve is too small beside that of the process


def pyplot() -> Any:
    """pyplot, without a display."""
    try:
        import matplotlib
    except ImportError:
        raise SystemExit("plots need matplotlib: pip install 'bisimetric[bench,plot]'") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot

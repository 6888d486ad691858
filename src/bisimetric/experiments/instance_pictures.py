"""The picture of the instances: points by multidimensional scaling, a tree of all, and maps of some.

Points that coincide in the picture carry their number. The tree merges the two clusters that are nearest to each other
in the mean (average linkage), from the exact distances; its leaves are in the colours of their kinds. Maps are shown
where instances have them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster import hierarchy
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from bisimetric.environments.layout import DOOR, GOAL, START, WALL
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import Embedding

if TYPE_CHECKING:
    from bisimetric.experiments.experiment import Figure, Record

SHOWN = 3  # instances of each kind whose maps are drawn
SIZE, WIDTHS = (14.4, 6.0), (6.4, 3.2)  # inches; widths of the points and of the tree, in maps
COINCIDE = 0.025  # points nearer than this share of the picture's width count as one place
WHITE = (255, 255, 255)
COLOURS = {WALL: (154, 154, 154), DOOR: (230, 159, 0), GOAL: (0, 158, 115), START: (0, 114, 178)}  # Okabe & Ito 2008
KIND_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00")


def draw_instances(record: Record, order: Sequence[str]) -> Figure:
    """The picture; `order` has the kinds in the order of legends."""
    from bisimetric import plot
    from bisimetric.views.figures import new_figure

    result = record["result"]
    # Points are drawn in the order of the kinds, so that the legend is in that order too.
    instances = sorted(enumerate(result["instances"]), key=lambda item: order.index(item[1]["kind"]))
    places, shown = [place for place, _ in instances], [instance for _, instance in instances]
    distances = np.array(result["distances"])[np.ix_(places, places)]
    points = np.array(result["mds"]["points"])[places]
    kinds = [instance["kind"] for instance in shown]
    with_maps = all(instance["map"] for instance in shown)
    names = typical(distances, kinds, order)
    figure = new_figure(SIZE if with_maps else (SIZE[0] * 0.75, SIZE[1]))
    rows = len(order) - 1
    panels = figure.add_gridspec(rows, 2 + SHOWN * with_maps, width_ratios=[*WIDTHS, *[1] * (SHOWN * with_maps)])
    left = figure.add_subplot(panels[:, 0])
    draw_tree(figure.add_subplot(panels[:, 1]), distances, kinds, names, order)
    if with_maps:
        draw_maps(figure, panels, shown, names, order)
    plot.mds(  # the last, because names find their places in the finished layout
        Embedding(points, result["mds"]["stress"]),
        groups=kinds,
        names=place_labels(points, names),
        title=f"{len(shown)} instances by MDS, γ = {record['config']['discount']:g}\n×n: n points in one place",
        ax=left,
    )
    return figure


def typical(distances: Floats, kinds: Sequence[str], order: Sequence[str]) -> dict[int, str]:
    """Names of some instances of each kind: the one in its middle, then those farthest from the ones already taken."""
    names: dict[int, str] = {}
    for letter, kind in zip("ABCDE", order, strict=True):
        members = [k for k, found in enumerate(kinds) if found == kind]
        taken: list[int] = []
        while len(taken) < min(SHOWN, len(members)):
            left = [k for k in members if k not in taken]
            taken.append(
                max(left, key=lambda k: float(distances[k, taken].min()))
                if taken
                else min(left, key=lambda k: float(distances[k, members].sum()))
            )
        names |= {place: f"{letter}{k + 1}" for k, place in enumerate(taken)}
    return names


def place_labels(points: Floats, names: Mapping[int, str]) -> list[str]:
    """One label per place: the names of the points there and, if n > 1 points coincide, ×n; at the first of them."""
    near = COINCIDE * float(np.ptp(points[:, 0]) or 1.0)
    apart = np.sqrt(((points[:, None, :2] - points[None, :, :2]) ** 2).sum(axis=2))
    _, place = connected_components(apart <= near)
    labels = [""] * len(points)
    for k in range(place.max() + 1):
        together = np.flatnonzero(place == k).tolist()
        label = ", ".join(sorted(names[member] for member in together if member in names))
        labels[together[0]] = f"{label} ×{len(together)}".strip() if len(together) > 1 else label
    return labels


def draw_tree(
    axes: Any, distances: Floats, kinds: Sequence[str], names: Mapping[int, str], order: Sequence[str]
) -> None:
    """A dendrogram with a leaf for every instance, to the right, in the colour of its kind."""
    merged = hierarchy.linkage(squareform(distances, checks=False), method="average", optimal_ordering=True)
    tree = hierarchy.dendrogram(merged, no_plot=True)
    for heights, places in zip(tree["dcoord"], tree["icoord"], strict=True):
        axes.plot(heights, places, color="0.35", linewidth=1.0, zorder=2)
    reach = float(merged[:, 2].max()) or 1.0
    for k, leaf in enumerate(tree["leaves"]):
        colour = KIND_COLOURS[order.index(kinds[leaf])]
        axes.plot(0.0, 10 * k + 5, marker="s", color=colour, markersize=5, zorder=3, clip_on=False)
        if leaf in names:
            axes.text(-0.03 * reach, 10 * k + 5, names[leaf], ha="left", va="center", fontsize=7, color=colour)
    axes.set(
        xlim=(1.04 * reach, -0.12 * reach), ylim=(0, 10 * len(kinds)), yticks=[], xlabel="distance at which merged"
    )
    axes.set_title("tree by average linkage\nleaves coloured by kind", loc="left", fontsize="medium")
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    present = [kind for kind in order if kind in kinds]
    handles = [axes.plot([], [], "s", color=KIND_COLOURS[order.index(kind)], markersize=5)[0] for kind in present]
    axes.legend(handles, present, loc="upper left", frameon=False, fontsize="small")


def draw_maps(
    figure: Figure, panels: Any, shown: Sequence[Mapping[str, Any]], names: Mapping[int, str], order: Sequence[str]
) -> None:
    """The maps of the named instances, one row per kind."""
    for place, name in names.items():
        row, column = "ABCDE".index(name[0]), int(name[1:]) - 1
        if row >= len(order) - 1:
            continue
        axes = figure.add_subplot(panels[row, 2 + column])
        axes.imshow(map_image(shown[place]["map"]), interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        axes.set_title(name + (f": {order[row]}" if column == 0 else ""), loc="left", fontsize="small")
        if name == f"{'ABCDE'[len(order) - 2]}1":
            axes.set_xlabel("start blue, rewards green, doors orange", fontsize="small", loc="left")


def map_image(lines: Sequence[str]) -> Any:
    """A map as an image [rows, columns, 3]: walls grey, doors orange, rewards green, the start blue."""
    return np.array([[COLOURS.get(mark, WHITE) for mark in line] for line in lines], dtype=np.uint8)

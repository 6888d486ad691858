"""Distances as a tree: which things are merged at which distance."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric.models.rows import Floats
from bisimetric.views.clustering import cluster_tree
from bisimetric.views.figures import GRID, LINE_COLOURS, axes_or_new, figure_of, in_range, require_matplotlib, set_texts
from bisimetric.views.tables import HasValue, as_table, symmetric
from bisimetric.views.ticks import name_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DENDROGRAM_WIDTH = 6.8  # inches
LEAF_HEIGHT, SHORTEST_TREE, TALLEST_TREE = 0.16, 2.6, 8.0  # inches
MOST_LEAVES = 48  # a tree of more leaves is drawn from this many clusters on
PER_LEAF = 10.0  # scipy puts leaves at 5, 15, 25, …


def dendrogram(
    distances: npt.ArrayLike | HasValue,
    *,
    names: Iterable[object] | None = None,
    title: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw the tree of clusters of a symmetric matrix of distances (complete linkage).

    Two branches meet at the largest distance between what they hold, as in `bisimetric.aggregate`: cut the tree at ε
    for the clusters of `aggregate(model, epsilon=ε)`. Of more than 48 leaves the last 48 clusters are drawn; a leaf
    then says how many others it stands for.

    Parameters
    ----------
    distances : Distances, Solution, MDPSolution or array [N, N]
        What `bisimetric.pairwise` returned, the solution of a model with itself, or any symmetric matrix of distances.
    names : iterable of N names, optional
        The names of the leaves; by default those of the states.
    title : str, optional
        The title; by default the name of the model and the certified gap.
    ax : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If `distances` is not a symmetric matrix of finite numbers ≥ 0, or `names` lacks an entry.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> figure = bm.plot.dendrogram(bm.bisimulation_metric("small-four-rooms:a", discount=0.9))
    """
    require_matplotlib()
    table = symmetric(as_table(distances, names))
    shown, label = in_range(table.values, table.label)
    leaves, segments = _drawn_tree(shown, table.rows)
    height = min(max(LEAF_HEIGHT * len(leaves), SHORTEST_TREE), TALLEST_TREE) + 1.2
    drawn = axes_or_new(ax, (DENDROGRAM_WIDTH, height))
    from matplotlib.collections import LineCollection

    drawn.add_collection(LineCollection(segments, colors=LINE_COLOURS[0], linewidths=1.2))
    furthest = float(shown.max()) or 1.0
    drawn.set(xlim=(1.03 * furthest, 0.0), ylim=(len(leaves) - 0.5, -0.5))
    drawn.yaxis.tick_right()
    name_ticks(drawn.yaxis, leaves, right=True)
    drawn.spines[["left", "top", "right"]].set_visible(False)
    drawn.grid(axis="x", color=GRID, linewidth=0.6)
    drawn.set_axisbelow(True)
    set_texts(drawn, title=table.title if title is None else title, xlabel=f"largest {label} in a cluster", ylabel="")
    return figure_of(drawn)


def _drawn_tree(matrix: Floats, names: list[str]) -> tuple[list[str], list[Any]]:
    """The texts of the leaves from top to bottom, and the branches as lines through (distance, leaf)."""
    if len(matrix) == 1:
        return names, [[(0.0, 0.0), (1.0, 0.0)]]
    from scipy.cluster.hierarchy import dendrogram as tree_of

    tree = cluster_tree(matrix)
    cut = "lastp" if len(matrix) > MOST_LEAVES else None
    drawn = tree_of(tree, p=MOST_LEAVES, truncate_mode=cut, no_plot=True)
    sizes = {len(matrix) + k: int(row[3]) for k, row in enumerate(tree)}
    leaves = [_leaf(tree, int(leaf), len(matrix), sizes, names) for leaf in drawn["leaves"]]
    lines = zip(drawn["dcoord"], drawn["icoord"], strict=True)
    return leaves, [np.column_stack([across, np.array(along) / PER_LEAF - 0.5]) for across, along in lines]


def _leaf(tree: Floats, node: int, count: int, sizes: dict[int, int], names: list[str]) -> str:
    """The name of a thing; of a cluster the name of its first thing, and how many others there are."""
    size, first = sizes.get(node, 1), node
    while first >= count:
        first = int(tree[first - count, 0])
    return names[first] if size == 1 else f"{names[first]} +{size - 1}"

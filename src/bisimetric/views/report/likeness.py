"""Things at given distances as a map and as a tree, for pages."""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric.errors import MissingExtra
from bisimetric.models.rows import Floats
from bisimetric.views.embedding import classical, embed, stress_of
from bisimetric.views.report.frame import ChartSection

MOST_ON_TREE = 120  # leaves of a tree that is drawn
LEAF = 18  # pixels for the name of a leaf
MAP_DIGITS = 6  # of places
SHORT_NAME = 7  # characters of names that are shown whole
WORD_ENDS = " :/_"


def likeness_map(distances: Floats) -> dict[str, Any]:
    """Places in the plane whose distances are close to those in the matrix, relative to its largest, and how good."""
    largest = distances.max() or 1.0
    scaled = distances / largest
    try:
        found = embed(scaled, dimensions=2)
        points, stress, how = found.points, found.stress, "multidimensional scaling"
    except MissingExtra:
        points = np.zeros((len(scaled), 2))
        points[:, : len(scaled) - 1] = classical(scaled, min(2, len(scaled) - 1))
        stress = stress_of(scaled, points) if points.any() else 0.0
        how = (
            "classical scaling; with scikit-learn (pip install 'bisimetric[ml]') they would be closer to the distances"
        )
    x, y = np.round(points.T, MAP_DIGITS).tolist()
    hint = f"Every chain is a point, at places found by {how}. Stress {stress:.3f}: 0 is perfect, 0.1 fair, 0.2 poor."
    return {"x": x, "y": y, "hint": f"{hint} Names stand where there is room. Click a point to select it."}


def short_names(names: list[str]) -> list[str]:
    """Names without the words that all begin with, if some are long: they would look alike. As in assets/frame.js."""
    if len(names) < 2 or max(map(len, names)) <= SHORT_NAME:
        return names
    first, last = min(names), max(names)
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    head = 1 + max(first.rfind(mark, 0, same) for mark in WORD_ENDS)
    return [f"…{name[head:]}" for name in names] if head else names


def likeness_tree(tree: Floats, names: list[str], what: str = "chains") -> ChartSection:
    """The tree of clusters: what is joined at which distance. `tree` is what `cluster_tree` returns."""
    hint = (
        f"{what.capitalize()} and groups are joined at the largest distance inside of the new group: further left is "
    )
    hint += "more alike."
    title = f"Tree: which {what} go together"
    if len(names) > MOST_ON_TREE:
        note = f"A tree of {len(names)} leaves is too large to draw readably; bm.plot.dendrogram draws it."
        return ChartSection("tree", title, None, "", note=note)
    from scipy.cluster.hierarchy import dendrogram

    drawn = dendrogram(tree, no_plot=True)
    lines = [
        {"join": k, "step": i, "d": float(d), "place": (place - 5.0) / 10.0, "tip": f"joined at {max(ds):.6g}"}
        for k, (places, ds) in enumerate(zip(drawn["icoord"], drawn["dcoord"], strict=True))
        for i, (place, d) in enumerate(zip(places, ds, strict=True))
    ]
    n, short = len(names), short_names(names)
    y = {
        "field": "place",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [n - 0.5, -0.5], "nice": False, "zero": False},
        "axis": {"values": list(range(n)), "labelExpr": "names[datum.value]", "grid": False, "domain": False,
                 "ticks": False, "labelLimit": 150, "labelOverlap": False},
    }  # fmt: skip
    x = {"field": "d", "type": "quantitative", "title": "distance", "scale": {"zero": True}, "axis": {"tickCount": 5}}
    join = {"detail": {"field": "join", "type": "nominal"}, "order": {"field": "step", "type": "quantitative"}}
    spec = {
        "height": 60 + LEAF * n,
        "params": [{"name": "names", "value": [short[k] for k in drawn["leaves"]]}],
        "data": {"values": lines},
        "encoding": {"x": x, "y": y, **join},
        "layer": [
            {"mark": {"type": "line", "color": "--soft", "strokeWidth": 1.5}},
            {
                "transform": [{"filter": "datum.step === 1"}],
                "mark": {"type": "point", "filled": True, "size": 40, "color": "--accent", "tooltip": True},
                "encoding": {"detail": None, "order": None},
            },
        ],
    }
    return ChartSection("tree", title, spec, label=f"Tree of clusters of {n} {what}", hint=hint)

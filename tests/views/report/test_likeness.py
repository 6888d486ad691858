"""Maps and trees of things at given distances."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.errors import MissingExtra
from bisimetric.views.clustering import cluster_tree
from bisimetric.views.report import likeness as module
from bisimetric.views.report.likeness import likeness_map, likeness_tree, short_names

PLACES = np.array([[0.0, 0], [4, 0], [0, 3], [4, 3]])
DISTANCES = np.linalg.norm(PLACES[:, None] - PLACES[None], axis=2) * 1e-200


@pytest.mark.parametrize("scikit_learn", [True, False])
def test_the_map_keeps_distances(scikit_learn, monkeypatch):
    """In units of the largest, also without scikit-learn, and says how it was made."""
    if not scikit_learn:

        def missing(*_, **__):
            raise MissingExtra("scikit-learn")

        monkeypatch.setattr(module, "embed", missing)
    found = likeness_map(DISTANCES)
    points = np.column_stack([found["x"], found["y"]])
    assert np.linalg.norm(points[:, None] - points[None], axis=2) == pytest.approx(DISTANCES / 5e-200, abs=1e-4)
    assert ("bisimetric[ml]" in found["hint"]) != scikit_learn


def test_two_points_and_points_in_one_place():
    """Places are numbers in every case."""
    for distances in (np.array([[0.0, 2.0], [2.0, 0.0]]), np.zeros((3, 3))):
        found = likeness_map(distances)
        assert np.isfinite(found["x"] + found["y"]).all()
        assert len(found["x"]) == len(distances)


def test_the_tree_joins_at_the_distances_inside():
    """The last join is at the largest distance; leaves have their names."""
    section = likeness_tree(cluster_tree(DISTANCES * 1e200), ["a", "b", "c", "d"])
    joins = [point["d"] for point in section.spec["data"]["values"]]
    assert max(joins) == pytest.approx(5)
    assert sorted(section.spec["params"][0]["value"]) == ["a", "b", "c", "d"]


def test_names_on_the_tree_differ_where_they_are_cut():
    """Words that all begin with are left out, whole words only; short names stay."""
    rates = [f"gym:FrozenLake-v1,success_rate=0.{k},policy=optimal" for k in (1, 2, 3, 4)]
    section = likeness_tree(cluster_tree(DISTANCES * 1e200), rates)
    assert sorted(section.spec["params"][0]["value"])[0] == "…rate=0.1,policy=optimal"
    assert short_names(["room 1", "room 2"]) == ["room 1", "room 2"]
    assert short_names(["different", "names"]) == ["different", "names"]
    assert short_names(["one state", "one state here"]) == ["…state", "…state here"]


def test_a_tree_that_nobody_could_read_is_not_drawn():
    """The page says so."""
    n = module.MOST_ON_TREE + 1
    distances = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
    section = likeness_tree(cluster_tree(distances), [str(k) for k in range(n)])
    assert section.spec is None
    assert "too large" in section.note

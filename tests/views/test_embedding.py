"""Points with given distances."""

from __future__ import annotations

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import bisimetric as bm
from tests.views.pictures import cloud, distances_of, pixels


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_planar_points_are_found(scale):
    """Distances of points in the plane come back, whatever their scale; the third coordinate is zero."""
    wanted = scale * distances_of(cloud(12, 2))
    embedding = bm.plot.embed(wanted, seed=3)
    assert embedding.points.shape == (12, 3)
    assert embedding.stress < 1e-6
    assert distances_of(embedding.points / scale) == pytest.approx(wanted / scale, abs=1e-5)
    assert np.abs(embedding.points[:, 2]).max() < 1e-5 * scale


def test_stress():
    """The stress is Kruskal's: positive with too few dimensions, and smaller with more."""
    wanted = distances_of(cloud(12, 6))
    found = [bm.plot.embed(wanted, dimensions=d) for d in (1, 2, 3)]
    for embedding in found:
        reached = distances_of(embedding.points)
        kruskal = np.sqrt(((reached - wanted) ** 2).sum() / (reached**2).sum())
        assert embedding.stress == pytest.approx(kruskal, rel=1e-9)
    assert found[0].stress > found[1].stress > found[2].stress > 1e-3


def test_the_same_seed_gives_the_same_points():
    """Points are the same bit by bit, and the given matrix is not modified."""
    wanted = distances_of(cloud(10, 6))
    copy = wanted.copy()
    first, second = bm.plot.embed(wanted, seed=1), bm.plot.embed(wanted, seed=1)
    assert (first.points == second.points).all()
    assert first.stress == second.stress
    assert (wanted == copy).all()


def test_points_stand_upright():
    """Coordinates are centred, uncorrelated, and spread less and less."""
    points = bm.plot.embed(distances_of(cloud(15, 5))).points
    assert points.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-12)
    spread = points.T @ points
    assert spread - np.diag(np.diag(spread)) == pytest.approx(np.zeros((3, 3)), abs=1e-9)
    assert list(np.diag(spread)) == sorted(np.diag(spread), reverse=True)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_all_points_together(count):
    """One point, or several at distance zero, are drawn as well."""
    embedding = bm.plot.embed(np.zeros((count, count)))
    assert (embedding.points.tolist(), embedding.stress) == ([[0, 0, 0]] * count, 0)
    assert pixels(bm.plot.mds(np.zeros((count, count)))).std() > 0


def test_more_dimensions_than_points():
    """Coordinates beyond N - 1 are zero and take no memory."""
    wanted = distances_of(cloud(3, 2))
    bm.plot.embed(wanted)  # what is imported now does not count
    tracemalloc.start()
    embedding = bm.plot.embed(wanted, dimensions=10_000)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000  # bytes; axes for all dimensions would take 800 million
    assert embedding.points.shape == (3, 10_000)
    assert not embedding.points[:, 2:].any()
    assert distances_of(embedding.points) == pytest.approx(wanted, abs=1e-5)


def test_a_result_with_value():
    """What `pairwise` returns, or the solution of a chain with itself, is taken as well as an array."""
    wanted = distances_of(cloud(6, 2))
    found = bm.plot.embed(SimpleNamespace(value=wanted))
    assert (found.points == bm.plot.embed(wanted).points).all()

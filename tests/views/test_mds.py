"""Points with given distances, and images beside them."""

from __future__ import annotations

import time
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.thumbnails import Frame, places
from tests.views.pictures import legend, pixels, texts


def distances_of(points):
    """Euclidean distances between points."""
    return np.linalg.norm(points[:, None, :] - points[None, :, :], axis=2)


def cloud(count, dimensions, seed=0):
    """Points that spread less and less along their coordinates."""
    return np.random.default_rng(seed).standard_normal((count, dimensions)) * 0.6 ** np.arange(dimensions)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e150])
def test_planar_points_are_found(scale):
    """Distances of points in the plane come back, whatever their scale; the third coordinate is nothing."""
    wanted = scale * distances_of(cloud(12, 2))
    embedding = bm.plot.embed(wanted, seed=3)
    assert embedding.points.shape == (12, 3)
    assert embedding.stress < 1e-6
    assert distances_of(embedding.points / scale) == pytest.approx(wanted / scale, abs=1e-5)
    assert np.abs(embedding.points[:, 2]).max() < 1e-5 * scale


def test_stress():
    """It is Kruskal's, positive where there are too few dimensions, and smaller with more of them."""
    wanted = distances_of(cloud(12, 6))
    found = [bm.plot.embed(wanted, dimensions=d) for d in (1, 2, 3)]
    for embedding in found:
        reached = distances_of(embedding.points)
        kruskal = np.sqrt(((reached - wanted) ** 2).sum() / (reached**2).sum())
        assert embedding.stress == pytest.approx(kruskal, rel=1e-9)
    assert found[0].stress > found[1].stress > found[2].stress > 1e-3


def test_the_same_seed_gives_the_same_points():
    """Bit by bit; and the matrix given is left alone."""
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
    assert pixels(bm.plot.mds(np.zeros((count, count)), thumbnails=[np.zeros((2, 2, 3))] * count)).std() > 0


def test_more_dimensions_than_points():
    """Those that no point needs are zero, and cost nothing."""
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


def test_any_iterable_of_thumbnails():
    """A generator is as good as a list."""
    image = np.zeros((2, 2, 3))
    figure = bm.plot.mds(distances_of(cloud(3, 2)), thumbnails=(image for _ in range(3)), groups=iter("aba"))
    assert len(figure.axes[0].images) == 3
    assert legend(figure.axes[0]) == ["a", "b"]


def test_a_result_with_value():
    """What `pairwise` returns, or the solution of a chain with itself, is taken as well as an array."""
    wanted = distances_of(cloud(6, 2))
    found = bm.plot.embed(SimpleNamespace(value=wanted))
    assert (found.points == bm.plot.embed(wanted).points).all()


def test_groups_and_third_coordinate():
    """A marker for each group in the legend, and the third coordinate as colour."""
    points = cloud(9, 3)
    figure = bm.plot.mds(distances_of(points), groups=["near", "far", 3] * 3, title="t")
    (axes,) = figure.axes
    assert legend(axes) == ["near", "far", "3"]
    assert [len(group.get_offsets()) for group in axes.collections] == [3, 3, 3]
    assert len({tuple(map(tuple, group.get_paths()[0].vertices)) for group in axes.collections}) == 3
    assert {"third coordinate", "second coordinate", "t"} <= set(texts(figure))
    drawn = np.vstack([np.asarray(group.get_offsets()) for group in axes.collections])
    embedding = bm.plot.embed(distances_of(points))
    assert np.sort(drawn, axis=0) == pytest.approx(np.sort(embedding.points[:, :2], axis=0))
    colours = {tuple(colour) for group in axes.collections for colour in group.get_facecolors()}
    assert len(colours) == 9


def test_thumbnails_are_there_and_apart():
    """Every image given is drawn, joined to its point; none hides another or a point, or leaves the axes."""
    points = cloud(20, 3)
    images = [np.full((7, 7, 3), k / 20) for k in range(20)]
    images[4] = None
    figure = bm.plot.mds(distances_of(points), thumbnails=images)
    (axes,) = figure.axes
    drawn = {image.get_gid(): image for image in axes.images}
    assert set(drawn) == {f"thumbnail-{k}" for k in range(20) if k != 4}
    assert drawn["thumbnail-7"].get_array()[0, 0].tolist() == pytest.approx([7 / 20] * 3, abs=1e-9)
    boxes = np.array([image.get_extent() for image in axes.images])  # left, right, bottom, top
    for k, (left, right, bottom, top) in enumerate(boxes):
        others = np.delete(boxes, k, axis=0)
        overlap = (others[:, 0] < right) & (left < others[:, 1]) & (others[:, 2] < top) & (bottom < others[:, 3])
        assert not overlap.any()
        x, y = axes.collections[0].get_offsets().T
        assert not ((left < x) & (x < right) & (bottom < y) & (y < top)).any()
        assert axes.get_xlim()[0] <= left < right <= axes.get_xlim()[1]
        assert axes.get_ylim()[0] <= bottom < top <= axes.get_ylim()[1]
    assert pixels(figure).std() > 0


def test_a_lone_image_is_beside_its_point():
    """Where there is room, the line is hardly longer than the image."""
    middles, width = places(np.zeros((1, 2)), np.array([0]), 1.0, Frame(-1.0, 1.0, -1.0, 1.0))
    assert 0 < np.abs(middles[0]).max() < 1.5 * width


def test_many_images_shrink():
    """Twenty points in one place of a low frame still get a place each, for smaller images."""
    middles, width = places(np.zeros((20, 2)), np.arange(20), 1.0, Frame(-1.0, 1.0, -0.1, 0.1))
    away = np.abs(middles[:, None, :] - middles).max(axis=2) + np.eye(20)
    assert away.min() > width
    assert 0 < width < 0.15


@pytest.mark.slow
def test_hundreds_of_images_take_seconds():
    """The work is bounded; what it ends with still has every image clear of the others and of all points."""
    points = cloud(200, 2)
    began = time.process_time()
    middles, width = places(points, np.arange(200), 1.0, Frame(-3.0, 3.0, -2.0, 2.0))
    assert time.process_time() - began < 5
    away = np.abs(middles[:, None, :] - middles).max(axis=2) + 6 * np.eye(200)
    assert away.min() > width
    assert np.abs(middles[:, None, :] - points).max(axis=2).min() > width / 2


@pytest.mark.parametrize(
    ("distances", "options", "words"),
    [
        (np.zeros((2, 3)), {}, "square"),
        (np.zeros((0, 0)), {}, "square"),
        ([[0, 1], [2, 0]], {}, "not symmetric"),
        ([[0, -1], [-1, 0]], {}, "negative"),
        ([[0, np.nan], [np.nan, 0]], {}, "nan"),
        ([[0, 1], [1, 0]], {"groups": ["a"]}, "groups has 1 entries"),
        ([[0, 1], [1, 0]], {"groups": 5}, "groups is a int, expected a list with a label per point"),
        ([[0, 1], [1, 0]], {"groups": {"a", "b"}}, "groups is a set"),
        ([[0, 1], [1, 0]], {"thumbnails": [None]}, "thumbnails has 1 entries"),
        ([[0, 1], [1, 0]], {"thumbnails": 5}, "thumbnails is a int, expected a list with an image or None per point"),
        ([[0, 1], [1, 0]], {"thumbnails": {0: None, 1: None}}, "thumbnails is a dict"),
        ([[0, 1], [1, 0]], {"thumbnails": [None, np.zeros((2, 2))]}, r"thumbnails\[1\] has shape \(2, 2\)"),
        ([[0, 1], [1, 0]], {"thumbnails": [None, np.full((2, 2, 3), 2.0)]}, "out of range"),
        (np.zeros((11, 11)), {"groups": range(11)}, "at most 10"),
    ],
)
def test_bad_input(distances, options, words):
    """Every error says what was expected."""
    with pytest.raises(InvalidOption, match=words):
        bm.plot.mds(distances, **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dimensions": 0}, "dimensions is 0"),
        ({"dimensions": 10**12}, "expected a whole number from 1 to 10000"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_options(options, words):
    """The number of dimensions and the seed are checked."""
    with pytest.raises(InvalidOption, match=words):
        bm.plot.embed([[0]], **options)


def test_names_stand_beside_points_and_do_not_hide_one_another():
    """One text a point; points in one place have their names one below the other; `$` is only a sign."""
    matrix = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    figure = bm.plot.mds(matrix, names=["$a$", "b", "c"])
    (drawn,) = figure.axes
    texts = {text.get_text(): text for text in drawn.texts}
    assert set(texts) == {"$a$", "b", "c"}
    figure.canvas.draw()
    boxes = [texts[name].get_window_extent() for name in ("$a$", "b")]
    assert not boxes[0].overlaps(boxes[1])
    with pytest.raises(InvalidOption, match="names has 2 entries"):
        bm.plot.mds(matrix, names=["a", "b"])


def test_a_flat_third_coordinate_has_one_colour():
    """Colours span at least a quarter of the positions' range, so that what hardly varies looks alike."""
    points = np.random.default_rng(0).random((6, 2))
    matrix = np.linalg.norm(points[:, None] - points, axis=2)
    (drawn,) = bm.plot.mds(matrix).axes
    (bar,) = drawn.child_axes
    low, high = bar.get_ylim()
    assert high - low > 0.2 * np.ptp(points[:, 0])

"""Pictures of points: groups, names and the third coordinate."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.pictures import cloud, distances_of, legend, texts


def test_any_iterable_of_groups_and_names():
    """A generator is as good as a list."""
    figure = bm.plot.mds(distances_of(cloud(3, 2)), names=(f"n{k}" for k in range(3)), groups=iter("aba"))
    assert {"n0", "n1", "n2"} <= set(texts(figure))
    assert legend(figure.axes[0]) == ["a", "b"]


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


@pytest.mark.parametrize(
    ("distances", "options", "words"),
    [
        (np.zeros((2, 3)), {}, "square"),
        (np.zeros((0, 0)), {}, "square"),
        ([[0, 1], [2, 0]], {}, "not symmetric"),
        ([[0, -1], [-1, 0]], {}, "negative"),
        ([[0, np.nan], [np.nan, 0]], {}, "nan"),
        ([[0, 1], [1, 0]], {"groups": ["a"]}, "groups has 1 entries"),
        ([[0, 1], [1, 0]], {"groups": 5}, "groups is a int"),
        ([[0, 1], [1, 0]], {"groups": {"a", "b"}}, "groups is a set"),
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
        ({"dimensions": 10**12}, "from 1 to 10000"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_bad_options(options, words):
    """The number of dimensions and the seed are checked."""
    with pytest.raises(InvalidOption, match=words):
        bm.plot.embed([[0]], **options)


def test_names_stand_beside_points_and_do_not_hide_one_another():
    """Every point has its name; names of points in one place stand in a column; `$` is printed as it is."""
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


def test_points_without_a_name():
    """None and an empty name leave a point without a text."""
    (drawn,) = bm.plot.mds(distances_of(cloud(4, 2)), names=["a", None, "", "d"]).axes
    assert [text.get_text() for text in drawn.texts] == ["a", "d"]


def test_a_flat_third_coordinate_has_one_colour():
    """Colours span at least a quarter of the positions' range, so that what hardly varies looks alike."""
    points = np.random.default_rng(0).random((6, 2))
    matrix = np.linalg.norm(points[:, None] - points, axis=2)
    (drawn,) = bm.plot.mds(matrix).axes
    (bar,) = drawn.child_axes
    low, high = bar.get_ylim()
    assert high - low > 0.2 * np.ptp(points[:, 0])

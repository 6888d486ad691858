"""Pictures of points: groups, names and the third coordinate."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.overlaps import overlapping
from tests.views.pictures import cloud, distances_of, legend, texts


def test_any_iterable_of_groups_and_names():
    """A generator is as good as a list."""
    figure = bm.plot.mds(distances_of(cloud(3, 2)), names=(f"n{k}" for k in range(3)), groups=iter("aba"))
    assert {"n0", "n1", "n2"} <= set(texts(figure))
    assert legend(figure.axes[0]) == ["a", "b"]


def test_colour_by_group():
    """Without a third coordinate every group has a colour and a marker, and there is no colour bar."""
    figure = bm.plot.mds(distances_of(cloud(9, 3)), groups=["near", "far", 3] * 3)
    (axes,) = figure.axes
    assert legend(axes) == ["near", "far", "3"]
    assert len({tuple(group.get_facecolor()[0]) for group in axes.collections}) == 3
    assert not axes.child_axes
    assert "third coordinate" not in texts(figure)


def test_groups_and_third_coordinate():
    """Of an embedding of three dimensions groups are markers, and the third coordinate is the colour."""
    points = cloud(9, 3)
    embedded = bm.plot.embed(distances_of(points))
    figure = bm.plot.mds(embedded, groups=["near", "far", 3] * 3, title="t")
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
        (np.zeros((0, 0)), {}, "at least one entry"),
        ([[0, 1], [2, 0]], {}, "not symmetric"),
        ([[0, -1], [-1, 0]], {}, "negative"),
        ([[0, np.nan], [np.nan, 0]], {}, "nan"),
        ([[0, 1], [1, 0]], {"groups": ["a"]}, "groups has 1 entries"),
        ([[0, 1], [1, 0]], {"groups": 5}, "groups is a int"),
        ([[0, 1], [1, 0]], {"groups": {"a", "b"}}, "groups is a set"),
        (np.zeros((31, 31)), {"groups": range(31)}, "at most 30"),
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


@pytest.mark.parametrize("count", [2, 35])
def test_names_do_not_hide_one_another(count):
    """As many as have room are written; `$` is printed as it is; the default names are those of the states."""
    figure = bm.plot.mds(distances_of(cloud(count, 3)), names=[f"$a$ {k}" for k in range(count)])
    (drawn,) = figure.axes
    assert not overlapping(figure, drawn.texts)
    assert all(text.get_text().startswith("$a$") and not text.get_parse_math() for text in drawn.texts)
    assert len(drawn.texts) >= min(count, 10)
    chain = bm.MarkovChain(np.eye(3), reward=[0, 1, 5], names=["low", "mid", "high"])
    (drawn,) = bm.plot.mds(bm.bisimulation_metric(chain, discount=0.5)).axes
    assert {text.get_text() for text in drawn.texts} == {"low", "mid", "high"}
    with pytest.raises(InvalidOption, match="names has 2 entries"):
        bm.plot.mds(np.zeros((3, 3)), names=["a", "b"])


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

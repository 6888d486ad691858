"""Distances as colours."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.matrix import block_means
from tests.views.overlaps import overlapping, ticks
from tests.views.pictures import texts


def test_order_by_clustering():
    """Similar rows become neighbours, with their names; all distances stay."""
    chain = bm.MarkovChain(np.eye(4), reward=[0, 9, 1, 8], names=list("abcd"))
    solution = bm.bisimulation_metric(chain, discount=0.5)
    figure = bm.plot.matrix(solution, order="clustering")
    names = [label.get_text() for label in ticks(figure, figure.axes[0].yaxis)]
    assert {"".join(names[:2]), "".join(names[2:])} in ({"ac", "bd"}, {"ca", "bd"}, {"ac", "db"}, {"ca", "db"})
    places = ["abcd".index(name) for name in names]
    assert (figure.axes[0].images[0].get_array() == solution.value[np.ix_(places, places)]).all()


def test_two_lists():
    """Rows and columns of different things are ordered on their own."""
    values = np.array([[0.0, 5, 0.1], [5, 0, 5], [0, 5, 0.2], [5, 0, 5]])
    figure = bm.plot.matrix(values, names=(list("abcd"), list("xyz")), order="clustering")
    drawn = np.asarray(figure.axes[0].images[0].get_array())
    assert sorted(drawn.ravel()) == sorted(values.ravel())
    assert np.abs(np.diff(drawn, axis=0)).sum() < np.abs(np.diff(values, axis=0)).sum()
    with pytest.raises(InvalidOption, match="order is 'size'"):
        bm.plot.matrix(values, order="size")


@pytest.mark.parametrize("count", [3, 60])
def test_names_do_not_collide(count):
    """However many and long."""
    names = [f"a rather long name of the state number {k}" for k in range(count)]
    figure = bm.plot.matrix(np.ones((count, count)), names=names)
    (axes,) = figure.axes
    for axis in (axes.xaxis, axes.yaxis):
        assert not overlapping(figure, ticks(figure, axis))


def test_texts():
    """The title names the models, the colour bar the unit."""
    figure = bm.plot.matrix(bm.distance("grid-3x3", "open-grid:2", discount=0.5))
    assert "grid-3x3 and open-grid:2" in figure.axes[0].get_title("left")
    assert any("discounted sum" in text for text in texts(figure))
    assert bm.plot.matrix([[0, 1]], title="mine").axes[0].get_title("left") == "mine"


def test_block_means():
    """Blocks at the far edges are smaller; their means are over what they have."""
    matrix = np.arange(35.0).reshape(5, 7)
    means = block_means(matrix, 3)
    assert means.shape == (2, 3)
    assert means[0, 0] == matrix[:3, :3].mean()
    assert means[1, 2] == matrix[3:, 6:].mean()
    assert block_means(matrix, 1) is matrix


def test_large_matrices_are_drawn_small():
    """4 million pairs are drawn as means over blocks, and the label says so."""
    figure = bm.plot.matrix(np.random.default_rng(0).random((2001, 2001)))
    figure.canvas.draw()
    assert figure.axes[0].images[0].get_array().shape == (667, 667)
    assert any("mean over 3 × 3" in text.replace("\n", " ") for text in texts(figure))
    assert figure.axes[0].get_xlim() == (-0.5, 2000.5)

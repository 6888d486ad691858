"""Where states lie: cells, and a few states beside the map."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.grid_cells import cells_of, checked_cells
from tests.views.pictures import texts

CELLS = ["(2,3)", "(2,4)", "(3,3)", "(3,4)"]


def test_states_beside_the_map():
    """To the right of it, one below the other; the map itself is as without them."""
    cells = cells_of(["end", *CELLS, *(f"(4,{k})" for k in range(3, 7)), "lost"])
    assert cells.beside == {0: "end", 9: "lost"}
    assert (cells.row[[0, 9]].tolist(), cells.column[[0, 9]].tolist()) == ([2, 4], [8, 8])
    assert cells.shape == (3, 4)
    assert cells.extent == (2.5, 6.5, 4.5, 1.5)
    assert cells.frame[0] == 2.5
    assert cells.frame[1] > 8.5
    assert cells.picture(np.arange(10)).compressed().tolist() == list(range(1, 9))


@pytest.mark.parametrize("others", [["a", "b"], ["a"] * 5])
def test_too_many_other_states(others):
    """One for four cells at most, and three in all."""
    assert cells_of([*CELLS, *others]) is None
    with pytest.raises(InvalidOption, match="a state is called 'a'"):
        checked_cells([*CELLS, *others])


def test_colours_beside_the_map():
    """The state has the colour of its value, which counts for the scale."""
    chain = bm.MarkovChain(np.eye(5), names=[*CELLS, "end <b>"])
    figure = bm.plot.heat_map(chain, [0, 1, 2, 3, 8], marks={4: "x"})
    (axes,) = figure.axes
    image, patch = axes.images[0], axes.patches[0]
    assert image.get_clim() == (0.0, 8.0)
    assert patch.get_facecolor() == pytest.approx(image.to_rgba(8.0))
    assert patch.get_xy() == (5.5, 1.5)
    assert {"end <b>", "x"} <= set(texts(figure))
    assert [tick for tick in axes.get_xticks() if tick > 4.5] == []
    blank = bm.plot.heat_map(chain, np.array([0, 1, 2, 3, np.nan])).axes[0]
    assert blank.patches[0].get_facecolor() == (1.0, 1.0, 1.0, 1.0)
    assert blank.images[0].get_clim() == (0.0, 3.0)

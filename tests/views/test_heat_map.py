"""Heat maps: the right value at the right cell."""

from __future__ import annotations

import matplotlib.colors
import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.views.grid_cells import cells_of
from tests.views.pictures import pixels, texts

CORNER = """
    S.#
    ..D
    #.G
"""


def test_values_lie_on_their_cells():
    """The image has every state's value at its row and column, and nothing where walls are."""
    chain = bm.environments.grid(CORNER)
    figure = bm.plot.heat_map(chain, np.arange(7.0))
    (axes,) = figure.axes
    (image,) = axes.images
    assert image.get_array().tolist() == [[0, 1, None], [2, 3, 4], [None, 5, 6]]
    assert tuple(image.get_extent()) == (-0.5, 2.5, 2.5, -0.5)
    assert axes.get_ylim() == (2.5, -0.5)  # row 0 is at the top


def test_drawn_colours():
    """The pixels in the middle of cells have the colours of their values, walls are grey."""
    chain = bm.environments.grid(CORNER)
    figure = bm.plot.heat_map(chain, np.arange(7.0))
    drawn = pixels(figure)
    (axes,) = figure.axes
    viridis = matplotlib.colormaps["viridis"]
    for (row, column), colour in {(0, 0): viridis(0.0), (2, 2): viridis(1.0), (2, 0): (0.72, 0.72, 0.72, 1.0)}.items():
        x, y = axes.transData.transform((column, row)) * 60 / figure.dpi
        assert drawn[len(drawn) - round(y), round(x)] == pytest.approx(colour, abs=0.01)


def test_outer_walls_are_left_out():
    """A map whose walls surround it is cut to its cells, with the numbers of rows and columns kept."""
    chain = bm.as_chain("classic-four-rooms")
    (image,) = bm.plot.heat_map(chain, np.zeros(104)).axes[0].images
    assert image.get_array().shape == (11, 11)
    assert tuple(image.get_extent()) == (0.5, 11.5, 11.5, 0.5)
    assert np.count_nonzero(~image.get_array().mask) == 104


def test_label_title_and_marks():
    """All of them are there; marks stand in their cells, by index or by name, readable on any colour."""
    chain = bm.environments.grid(CORNER)
    figure = bm.plot.heat_map(chain, np.arange(7.0), label="cost", title="map", marks={"(0,0)": "S", 6: "+1"})
    assert {"cost", "map", "row", "column", "S", "+1"} <= set(texts(figure))
    at = {text.get_text(): (text.get_position(), text.get_color()) for text in figure.axes[0].texts}
    assert at == {"S": ((0, 0), "white"), "+1": ((2, 2), "black")}


def test_a_given_axes_is_drawn_into():
    """Only the given axes are drawn into, and their figure is returned."""
    figure = Figure()
    left, right = figure.subplots(1, 2)
    assert bm.plot.heat_map(bm.environments.grid_3x3(), np.arange(9.0), ax=right) is figure
    assert (len(left.images), len(right.images)) == (0, 1)
    nested = Figure().subfigures(1, 2)[0]
    assert bm.plot.heat_map(bm.environments.grid_3x3(), np.arange(9.0), ax=nested.subplots()) is nested.figure


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1.0, 1e300])
def test_any_magnitude(scale):
    """Values of any size give the same colours; the label has the unit."""
    chain = bm.environments.grid_3x3()
    figure = bm.plot.heat_map(chain, np.arange(9.0) * scale)
    (image,) = figure.axes[0].images
    shades = image.norm(image.get_array()).compressed()
    assert shades == pytest.approx(np.arange(9) / 8, abs=1e-9)
    assert ("distance" in texts(figure)) == (scale == 1.0)
    assert len(np.unique(pixels(figure).reshape(-1, 4), axis=0)) > 9


def test_many_marks_in_a_large_map_become_dots():
    """Marks that would be too small to read are dots."""
    chain = bm.environments.open_grid(60)
    figure = bm.plot.heat_map(chain, np.zeros(3600), marks=dict.fromkeys(range(50), "x"))
    assert not figure.axes[0].texts
    assert len(figure.axes[0].lines) == 50


def test_few_marks_in_a_large_map_stay_inside_of_it():
    """They are larger than their cells, so those at the edges grow inwards."""
    chain = bm.environments.open_grid(60)
    figure = bm.plot.heat_map(chain, np.zeros(3600), marks={0: "S", 3599: "+1"})
    figure.draw_without_rendering()
    frame = figure.axes[0].get_window_extent()
    for text in figure.axes[0].texts:
        box = text.get_window_extent()
        assert frame.x0 <= box.x0 < box.x1 <= frame.x1
        assert frame.y0 <= box.y0 < box.y1 <= frame.y1


def test_bad_input():
    """One line that says what was expected."""
    chain = bm.environments.grid_3x3()
    with pytest.raises(InvalidOption, match="one per state: 9"):
        bm.plot.heat_map(chain, np.zeros(8))
    with pytest.raises(InvalidOption, match=r"values\[2\] is nan"):
        bm.plot.heat_map(chain, [0, 1, np.nan, *range(6)])
    with pytest.raises(InvalidChain, match="state 'nowhere' is unknown"):
        bm.plot.heat_map(chain, np.zeros(9), marks={"nowhere": "S"})
    with pytest.raises(InvalidOption, match=r"bisimetric\.as_chain"):
        bm.plot.heat_map("grid-3x3", np.zeros(9))
    for marks in (["S"], [], np.zeros(9)):
        with pytest.raises(InvalidOption, match=r"marks is a (list|ndarray)"):
            bm.plot.heat_map(chain, np.zeros(9), marks=marks)
    with pytest.raises(InvalidOption, match="ax is a list"):
        bm.plot.heat_map(chain, np.zeros(9), ax=[])


@pytest.mark.parametrize(
    "names", [None, ["a", "b"], ["(0,0)", "(0, 1)"], ["(0,0)", "(00,0)"], ["(0,0)", "(9999,9999)"]]
)
def test_other_chains_are_refused(names):
    """No names, other names, one cell twice, or cells so far apart that the map would be all wall."""
    chain = bm.MarkovChain(np.eye(2), names=names)
    assert cells_of(names) is None
    with pytest.raises(InvalidOption, match=r"named '\(row,column\)'"):
        bm.plot.heat_map(chain, [0, 1])

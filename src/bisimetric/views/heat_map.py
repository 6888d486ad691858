"""Values of states as colours over the cells of a grid.

A chain is a grid if its states are named "(row,column)", as those of `bisimetric.environments.grid` are. The map is the
smallest rectangle around the cells; a cell without a state is a wall.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain, State, state_index
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats, real_array
from bisimetric.views.figures import (
    LITERAL,
    add_colour_bar,
    axes_or_new,
    colour_image,
    figure_of,
    in_range,
    inert,
    set_texts,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEAT_MAP_SIZE = (5.0, 4.2)  # inches
LARGEST_TEXT, SMALLEST_TEXT = 11.0, 4.5  # points; a mark that would be smaller becomes a dot
FEW, READABLE = 12, 7.0  # up to FEW marks are at least READABLE points high, even if they are larger than their cells
POINTS = 72.0  # per inch
LONGEST_MARK = 8  # characters
LUMINANCE = np.array([0.299, 0.587, 0.114])  # of red, green and blue
BRIGHT = 0.55  # text is black on colours of a larger luminance, white on others
CELL = re.compile(r"\(([0-9]{1,6}),([0-9]{1,6})\)")
CELLS_PER_STATE = 100  # limit on the map's cells: names come from outside and must not cause large allocations


@dataclass(frozen=True, slots=True, eq=False)
class GridCells:
    """The cells of a grid chain, one per state."""

    row: npt.NDArray[np.int64]  # [n]
    column: npt.NDArray[np.int64]  # [n]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the map."""
        return int(np.ptp(self.row)) + 1, int(np.ptp(self.column)) + 1

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top edge of the map; a cell is centred on its column and row."""
        return self.column.min() - 0.5, self.column.max() + 0.5, self.row.max() + 0.5, self.row.min() - 0.5

    def picture(self, values: npt.NDArray[Any]) -> np.ma.MaskedArray[Any, Any]:
        """The values, one per state, as an array [rows, columns]; walls are masked."""
        at = self.row - self.row.min(), self.column - self.column.min()
        picture, empty = np.zeros(self.shape, values.dtype), np.ones(self.shape, np.bool_)
        picture[at], empty[at] = values, False
        return np.ma.MaskedArray(picture, empty)


def cells_of(names: Sequence[str] | None) -> GridCells | None:
    """The cells that the states are named after, or None if the names are not different cells of one map."""
    matches = [CELL.fullmatch(name) for name in names or ()]
    found = [(int(match[1]), int(match[2])) for match in matches if match is not None]
    if not found or len(found) < len(matches) or len(set(found)) < len(found):
        return None
    row, column = np.array(found, dtype=np.int64).T
    cells = GridCells(row, column)
    rows, columns = cells.shape
    return cells if rows * columns <= CELLS_PER_STATE * len(found) else None


def checked_cells(names: Sequence[str] | None) -> GridCells:
    """The cells that the states are named after; raises InvalidOption if there are none."""
    cells = cells_of(names)
    if cells is None:
        came = "the states have no names" if names is None else f"the first state is called {names[0][:40]!r}"
        raise InvalidOption(
            f"the chain is not a grid: expected different states named '(row,column)', but {came}; "
            "bisimetric.environments.grid makes such chains, bisimetric.plot.distances draws any"
        )
    return cells


def heat_map(
    chain: Model,
    values: npt.ArrayLike,
    *,
    label: str = "distance",
    title: str | None = None,
    marks: Mapping[State, str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw one value per state over the cells of a grid chain, with walls in grey.

    Parameters
    ----------
    chain : MarkovChain or MDP
        A model of n states named "(row,column)", as `bisimetric.environments.grid` makes them.
    values : array [n]
        One number per state. NaN leaves its cell blank.
    label : str
        The label of the colour bar.
    title : str, optional
        The title.
    marks : mapping from state to str, optional
        Short texts to write into cells; a state is given by index or name.
    axes : matplotlib.axes.Axes, optional
        Axes to draw into instead of a new figure.

    Returns
    -------
    matplotlib.figure.Figure
        The figure that holds the axes.

    Raises
    ------
    InvalidOption
        If the chain is not a grid, or `values` is not one number per state.
    MissingExtra
        If matplotlib is missing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = bm.environments.matching_four_rooms()
    >>> solution = bm.distance(bm.environments.grid_3x3(), rooms, discount=0.95)
    >>> figure = bm.plot.heat_map(rooms, solution.value[0], marks={"(0,0)": "S"})
    """
    check_kind(
        chain,
        "chain",
        (MarkovChain, MDP),
        "a MarkovChain or MDP; bisimetric.as_chain makes one of a name, file or array",
    )
    marked = {} if marks is None else marks
    check_kind(marked, "marks", Mapping, "a mapping from states to texts")
    cells = checked_cells(chain.names)
    array = _checked_values(values, chain.n_states)
    texts = {state_index(state, chain.n_states, chain.names): text for state, text in marked.items()}
    drawn = axes_or_new(axes, HEAT_MAP_SIZE)
    shown, unit = in_range(array, label)
    image = colour_image(drawn, cells.picture(shown), cells.extent)
    add_colour_bar(drawn, image, unit)
    draw_marks(drawn, cells, texts, image.to_rgba(shown)[:, :3] @ LUMINANCE)
    _whole_ticks(drawn)
    set_texts(drawn, title=title, xlabel="column", ylabel="row")
    return figure_of(drawn)


def draw_marks(axes: Axes, cells: GridCells, texts: Mapping[int, str], brightness: Floats) -> None:
    """Write texts into cells, small enough to fit if there are many; `brightness` [n] is that of the cells' colours."""
    rows, columns = cells.shape
    frame = axes.get_window_extent()
    cell = min(frame.width / columns, frame.height / rows) / figure_of(axes).dpi * POINTS
    for state, text in texts.items():
        line = inert(text, LONGEST_MARK)
        fitting = min(LARGEST_TEXT, 0.6 * cell, 1.5 * cell / max(len(line), 1))
        size = max(fitting, READABLE) if len(texts) <= FEW else fitting
        x, y, across, up = _anchor(cells, state, inside=size == fitting)
        colour = "black" if brightness[state] > BRIGHT else "white"
        if size >= SMALLEST_TEXT:
            axes.text(x, y, line, ha=across, va=up, color=colour, fontsize=size, **LITERAL)
        else:
            axes.plot(x, y, "o", color=colour, markersize=max(cell, 1.5))


def _anchor(cells: GridCells, state: int, *, inside: bool) -> tuple[float, float, Any, Any]:
    """Position and alignment of a text: centred in its cell, or, if too large, beginning at the outer side."""
    x, y = float(cells.column[state]), float(cells.row[state])
    if inside:
        return x, y, "center", "center"
    left, right, bottom, top = cells.extent
    across = (x - 0.4, "left") if x < (left + right) / 2 else (x + 0.4, "right")
    up = (y - 0.4, "top") if y < (bottom + top) / 2 else (y + 0.4, "bottom")
    return across[0], up[0], across[1], up[1]


def _whole_ticks(axes: Axes) -> None:
    """Put ticks at a few whole rows and columns."""
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1))
        axis.set_tick_params(length=0)


def _checked_values(values: npt.ArrayLike, n_states: int) -> Floats:
    """One number per state, finite or NaN."""
    unknown = np.isnan(values) if isinstance(values, np.ndarray) and values.dtype.kind == "f" else np.False_
    array = real_array(np.where(unknown, 0.0, values) if unknown.any() else values, "values", InvalidOption, ndim=1)
    if len(array) != n_states:
        raise InvalidOption(f"values has {len(array)} entries, expected one per state: {n_states}")
    array[unknown] = np.nan
    return array

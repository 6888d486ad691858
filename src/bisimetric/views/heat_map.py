"""Values of states as colours over the cells of a grid."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain, State, state_index
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats, real_array
from bisimetric.views.figures import (
    BLANK,
    BRIGHT,
    LITERAL,
    LUMINANCE,
    add_colour_bar,
    axes_or_new,
    colour_image,
    figure_of,
    in_range,
    inert,
    set_texts,
)
from bisimetric.views.grid_cells import GridCells, checked_cells, draw_beside

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HEAT_MAP_SIZE = (5.0, 4.2)  # inches
LARGEST_TEXT, SMALLEST_TEXT = 11.0, 5.0  # points; a mark that would be smaller becomes a dot
FEW, READABLE = 12, 7.0  # up to FEW marks are at least READABLE points high, even if they are larger than their cells
POINTS = 72.0  # per inch
LARGEST_DOT = 4.0  # points
LONGEST_MARK = 8  # characters
RAISED, RAISED_SIZE = 0.3, 0.55  # of a mark above an arrow: how far from the middle, in cells, and how large


def heat_map(
    chain: Model,
    values: npt.ArrayLike,
    *,
    label: str = "distance",
    title: str | None = None,
    marks: Mapping[State, str] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw one value per state over the cells of a grid chain, with walls in grey.

    Parameters
    ----------
    chain : MarkovChain or MDP
        A model of n states named "(row,column)", as `bisimetric.environments.grid` makes them. A few states of other
        names are drawn beside the map.
    values : array [n]
        One number per state. NaN leaves its cell blank.
    label : str
        The label of the colour bar.
    title : str, optional
        The title.
    marks : mapping from state to str, optional
        Short texts to write into cells; a state is given by index or name.
    ax : matplotlib.axes.Axes, optional
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
    drawn = axes_or_new(ax, HEAT_MAP_SIZE)
    from matplotlib.colors import to_rgb

    shown, unit = in_range(array, label)
    image = colour_image(drawn, cells.picture(shown), cells.extent)
    if not np.isnan(shown).all():
        image.set_clim(np.nanmin(shown), np.nanmax(shown))  # states beside the map count too
    add_colour_bar(drawn, image, unit)
    colours = image.to_rgba(shown)[:, :3]
    colours[np.isnan(shown)] = to_rgb(BLANK)
    _whole_ticks(drawn)
    draw_beside(drawn, cells, colours)
    draw_marks(drawn, cells, texts, colours @ LUMINANCE)
    set_texts(drawn, title=title, xlabel="column", ylabel="row")
    return figure_of(drawn)


def draw_marks(
    axes: Axes, cells: GridCells, texts: Mapping[int, str], brightness: Floats, raised: Set[int] = frozenset()
) -> None:
    """Write texts into cells, small enough to fit if there are many; `brightness` [n] is that of the cells' colours.

    Cells in `raised` have an arrow below the text, which then stands in the upper part.
    """
    cell = _cell_size(axes, cells)
    for state, text in texts.items():
        line = inert(text, LONGEST_MARK)
        fitting = _fitting(line, cell * (RAISED_SIZE if state in raised else 1.0))
        size = max(fitting, READABLE) if len(texts) <= FEW and state not in raised else fitting
        x, y, across, up = _anchor(cells, state, inside=size == fitting)
        y -= RAISED if state in raised else 0.0
        colour = "black" if brightness[state] > BRIGHT else "white"
        if size >= SMALLEST_TEXT:
            axes.text(x, y, line, ha=across, va=up, color=colour, fontsize=size, **LITERAL)
        else:
            axes.plot(x, y, "o", color=colour, markersize=min(max(cell, 1.5), LARGEST_DOT))


def can_be_read(axes: Axes, cells: GridCells, texts: Mapping[int, str], raised: Set[int] = frozenset()) -> bool:
    """Whether all of the texts can be written into their cells, above an arrow in those that are `raised`."""
    cell = _cell_size(axes, cells)
    if len(texts) <= FEW and not raised & set(texts):
        return True
    sizes = (cell * (RAISED_SIZE if state in raised else 1.0) for state in texts)
    return all(_fitting(text, size) >= SMALLEST_TEXT for text, size in zip(texts.values(), sizes, strict=True))


def _cell_size(axes: Axes, cells: GridCells) -> float:
    """The width or height of a cell in points, the smaller of both."""
    left, right, bottom, top = cells.frame
    frame = axes.get_window_extent()
    return min(frame.width / (right - left), frame.height / (bottom - top)) / figure_of(axes).dpi * POINTS


def _fitting(line: str, cell: float) -> float:
    """The size of a text that fits into a cell."""
    return min(LARGEST_TEXT, 0.6 * cell, 1.35 * cell / max(len(line), 1))


def _anchor(cells: GridCells, state: int, *, inside: bool) -> tuple[float, float, Any, Any]:
    """Position and alignment of a text: centred in its cell, or, if too large, beginning at the outer side."""
    x, y = float(cells.column[state]), float(cells.row[state])
    if inside:
        return x, y, "center", "center"
    left, right, bottom, top = cells.frame
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

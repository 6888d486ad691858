"""Values of states as colours over the cells of a grid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import check_kind
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain, State, state_index
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats, real_array
from bisimetric.solving.solution import Model
from bisimetric.views.cells import GridCells, checked_cells
from bisimetric.views.look import (
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

SIZE = (5.0, 4.2)  # inches
LARGEST_TEXT, SMALLEST_TEXT = 11.0, 4.5  # points; a mark that would be smaller becomes a dot
FEW, READABLE = 12, 7.0  # so few marks may be larger than their cells, and so large
POINTS = 72.0  # per inch
LONGEST_MARK = 8  # characters
LUMINANCE = np.array([0.299, 0.587, 0.114])  # of red, green and blue
BRIGHT = 0.55  # luminance above which black text is read better than white


def heat_map(
    chain: Model,
    values: npt.ArrayLike,
    *,
    label: str = "distance",
    title: str | None = None,
    marks: Mapping[State, str] | None = None,
    axes: Axes | None = None,
) -> Figure:
    """Draw one value per state over the cells of a grid chain, walls in grey.

    The states have to be named "(row,column)", as those of `bisimetric.environments.grid` are. `marks` are short
    texts to write into the cells of states, given by index or name. A value of NaN leaves its cell blank.
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
    array = checked_values(values, chain.n_states)
    texts = {state_index(state, chain.n_states, chain.names): text for state, text in marked.items()}
    drawn = axes_or_new(axes, SIZE)
    shown, unit = in_range(array, label)
    image = colour_image(drawn, cells.picture(shown), cells.extent)
    add_colour_bar(drawn, image, unit)
    draw_marks(drawn, cells, texts, image.to_rgba(shown)[:, :3] @ LUMINANCE)
    whole_ticks(drawn)
    set_texts(drawn, title=title, xlabel="column", ylabel="row")
    return figure_of(drawn)


def draw_marks(axes: Axes, cells: GridCells, texts: Mapping[int, str], brightness: Floats) -> None:
    """Write into cells, in letters that fit if there are many; `brightness` [n] is that of the cells' colours."""
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
    """Where a text begins or ends: in the middle of its cell, or if it is too large at the side towards the edge."""
    x, y = float(cells.column[state]), float(cells.row[state])
    if inside:
        return x, y, "center", "center"
    left, right, bottom, top = cells.extent
    across = (x - 0.4, "left") if x < (left + right) / 2 else (x + 0.4, "right")
    up = (y - 0.4, "top") if y < (bottom + top) / 2 else (y + 0.4, "bottom")
    return across[0], up[0], across[1], up[1]


def whole_ticks(axes: Axes) -> None:
    """Ticks at a few rows and columns."""
    from matplotlib.ticker import MaxNLocator

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1))
        axis.set_tick_params(length=0)


def checked_values(values: npt.ArrayLike, n_states: int) -> Floats:
    """One number per state, finite or NaN."""
    unknown = np.isnan(values) if isinstance(values, np.ndarray) and values.dtype.kind == "f" else np.False_
    array = real_array(np.where(unknown, 0.0, values) if unknown.any() else values, "values", InvalidOption, ndim=1)
    if len(array) != n_states:
        raise InvalidOption(f"values has {len(array)} entries, expected one per state: {n_states}")
    array[unknown] = np.nan
    return array

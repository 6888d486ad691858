"""Where the states of a grid lie.

A chain is a grid if its states are named "(row,column)", as those of `bisimetric.environments.grid` are. The map is the
smallest rectangle around the cells; a cell without a state is a wall. A few states of other names, such as "terminal",
stand to the right of the map, with their names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidOption
from bisimetric.views.figures import GRID, LITERAL, inert

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL = re.compile(r"\(([0-9]{1,6}),([0-9]{1,6})\)")
CELLS_PER_STATE = 100  # limit on the map's cells: names come from outside and must not cause large allocations
MOST_BESIDE, CELLS_PER_BESIDE = 3, 4  # states beside the map: at most so many, and so many cells for each
GAP, PITCH = 2, 2  # from the last column to the states beside the map, and between those, in cells
ROOM_FOR_NAMES = 1.4  # cells to the right of the states beside the map
BESIDE_SIZE, LONGEST_BESIDE = 7.0, 14  # points and characters of a name beside the map


@dataclass(frozen=True, slots=True, eq=False)
class GridCells:
    """The cells of a grid chain, one per state, and states beside the map, which have a place like a cell."""

    row: npt.NDArray[np.int64]  # [n]
    column: npt.NDArray[np.int64]  # [n]
    beside: dict[int, str]  # states that are no cells, and their names

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """[n], which states are cells of the map."""
        mask = np.ones(len(self.row), np.bool_)
        mask[list(self.beside)] = False
        return mask

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the map."""
        inside = self.inside
        return int(np.ptp(self.row[inside])) + 1, int(np.ptp(self.column[inside])) + 1

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top edge of the map; a cell is centred on its column and row."""
        row, column = self.row[self.inside], self.column[self.inside]
        return column.min() - 0.5, column.max() + 0.5, row.max() + 0.5, row.min() - 0.5

    @property
    def frame(self) -> tuple[float, float, float, float]:
        """The same edges around the map and what stands beside it."""
        left, right, bottom, top = self.extent
        if self.beside:
            right, bottom = self.column.max() + ROOM_FOR_NAMES, max(bottom, self.row.max() + 0.5)
        return left, right, bottom, top

    def picture(self, values: npt.NDArray[Any]) -> np.ma.MaskedArray[Any, Any]:
        """The values, one per state, as an array [rows, columns]; walls are masked, states beside the map left out."""
        inside = self.inside
        row, column = self.row[inside], self.column[inside]
        at = row - row.min(), column - column.min()
        picture, empty = np.zeros(self.shape, values.dtype), np.ones(self.shape, np.bool_)
        picture[at], empty[at] = values[inside], False
        return np.ma.MaskedArray(picture, empty)


def cells_of(names: Sequence[str] | None) -> GridCells | None:
    """The cells that the states are named after, or None if the names are not different cells of one map."""
    matches = [CELL.fullmatch(name) for name in names or ()]
    found = [(int(match[1]), int(match[2])) for match in matches if match is not None]
    others = len(matches) - len(found)
    if not found or len(set(found)) < len(found) or others > min(MOST_BESIDE, len(found) // CELLS_PER_BESIDE):
        return None
    top, right = min(row for row, _ in found), max(column for _, column in found)
    beside = [k for k, match in enumerate(matches) if match is None]
    places = [(int(match[1]), int(match[2])) if match is not None else None for match in matches]
    extra = {k: (top + PITCH * i, right + GAP) for i, k in enumerate(beside)}
    row, column = np.array([place or extra[k] for k, place in enumerate(places)], dtype=np.int64).T
    cells = GridCells(row, column, {k: (names or ())[k] for k in beside})
    rows, columns = cells.shape
    return cells if rows * columns <= CELLS_PER_STATE * len(found) else None


def checked_cells(names: Sequence[str] | None) -> GridCells:
    """The cells that the states are named after; raises InvalidOption if there are none."""
    cells = cells_of(names)
    if cells is None:
        other = next((name for name in names or () if CELL.fullmatch(name) is None), "")
        came = "the states have no names" if names is None else f"a state is called {(other or names[0])[:40]!r}"
        raise InvalidOption(
            f"the chain is not a grid: expected different states named '(row,column)', but {came}; "
            "bisimetric.environments.grid makes such chains, bisimetric.plot.distances draws any"
        )
    return cells


def draw_beside(axes: Axes, cells: GridCells, colours: npt.NDArray[Any]) -> None:
    """Draw the states beside the map in their colours [n, 3], with their names next to them."""
    if not cells.beside:
        return
    from matplotlib.patches import Rectangle

    for state, name in cells.beside.items():
        x, y = float(cells.column[state]), float(cells.row[state])
        axes.add_patch(Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colours[state], edgecolor=GRID, linewidth=0.6))
        text = inert(name, LONGEST_BESIDE)
        axes.text(x + 0.6, y - 0.5, text, rotation=270, ha="left", va="top", fontsize=BESIDE_SIZE, **LITERAL)
    left, right, bottom, top = cells.extent
    axes.add_patch(
        Rectangle((left, top), right - left, bottom - top, fill=False, linewidth=0.8, zorder=3, clip_on=False)
    )
    for axis, low, high in ((axes.xaxis, left, right), (axes.yaxis, top, bottom)):
        ticks = [tick for tick in axis.get_major_locator().tick_values(low, high) if low < tick < high]
        axis.set_ticks(ticks)
    axes.spines[:].set_visible(False)
    left, right, bottom, top = cells.frame
    axes.set(xlim=(left, right), ylim=(bottom, top))

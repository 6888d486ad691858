"""The cells of a grid chain, read from its states' names "(row,column)"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric.errors import InvalidOption

CELL = re.compile(r"\(([0-9]{1,6}),([0-9]{1,6})\)")
EMPTY_SHARE = 100  # cells of the map per state at most; names come from outside and must not ask for any memory


@dataclass(frozen=True, slots=True, eq=False)
class GridCells:
    """Where the states of a chain lie; the map is the smallest rectangle around them."""

    row: npt.NDArray[np.int64]  # [n]
    column: npt.NDArray[np.int64]  # [n]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the map."""
        return int(np.ptp(self.row)) + 1, int(np.ptp(self.column)) + 1

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top edge of the map, a cell being centred on its column and row."""
        return self.column.min() - 0.5, self.column.max() + 0.5, self.row.max() + 0.5, self.row.min() - 0.5

    def picture(self, values: npt.NDArray[Any]) -> np.ma.MaskedArray[Any, Any]:
        """[rows, columns], one value per cell; what is no state is masked."""
        at = self.row - self.row.min(), self.column - self.column.min()
        picture, empty = np.zeros(self.shape, values.dtype), np.ones(self.shape, np.bool_)
        picture[at], empty[at] = values, False
        return np.ma.MaskedArray(picture, empty)


def cells_of(names: Sequence[str] | None) -> GridCells | None:
    """The cells that the names tell, or None if they are not all cells of a map."""
    matches = [CELL.fullmatch(name) for name in names or ()]
    found = [(int(match[1]), int(match[2])) for match in matches if match is not None]
    if not found or len(found) < len(matches) or len(set(found)) < len(found):
        return None
    row, column = np.array(found, dtype=np.int64).T
    cells = GridCells(row, column)
    rows, columns = cells.shape
    return cells if rows * columns <= EMPTY_SHARE * len(found) else None


def checked_cells(names: Sequence[str] | None) -> GridCells:
    """The cells that the names tell, or an error with the remedy."""
    cells = cells_of(names)
    if cells is None:
        came = "the states have no names" if names is None else f"the first state is called {names[0][:40]!r}"
        raise InvalidOption(
            f"the chain is no grid: expected different states named '(row,column)', but {came}; "
            "bisimetric.environments.grid makes such chains, bisimetric.plot.distances draws any"
        )
    return cells

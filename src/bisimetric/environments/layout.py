"""Grid maps drawn in characters: which cells are free, and which are neighbours.

    #  wall        .  free cell        D  door: a free cell in a wall line
    G  goal: a free cell with reward +1        S  start: a free cell, at most one

The free cells are the states, numbered row by row from the upper left. A cell is (row, column), both from 0 and
counting walls. Outside of the map is wall. Common indentation, and empty lines before and after the map, are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from textwrap import dedent

import numpy as np

from bisimetric._support import memory
from bisimetric._support.options import shown
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import Ints, Mask

WALL, FREE, DOOR, GOAL, START = "#.DGS"
BYTES_PER_MAP_CELL = 400  # memory of a map and its chain together
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))  # up, down, left, right

Cell = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Layout:
    """The free cells of a map, in state order."""

    state: Ints  # [rows, columns], the state of each cell, -1 for walls
    cells: Ints  # [n, 2], row and column of each state
    doors: Mask  # [n]
    goals: Mask  # [n]
    start: int | None

    @property
    def n_states(self) -> int:
        """The number of free cells."""
        return len(self.cells)

    def state_at(self, cell: Cell, what: str) -> int:
        """The state of a free cell; errors call the option that named it `what`."""
        rows, columns = self.state.shape
        if not (isinstance(cell, tuple) and len(cell) == 2 and all(isinstance(k, Integral) for k in cell)):
            raise InvalidOption(f"{what} names {cell!r}, expected a cell (row, column)")
        row, column = cell
        if not (0 <= row < rows and 0 <= column < columns):
            raise InvalidOption(f"{what} names cell {cell}, outside of the map of {rows} rows and {columns} columns")
        state = int(self.state[row, column])
        if state < 0:
            raise InvalidOption(f"{what} names cell {cell}, which is a wall; choose a free cell")
        return state

    def neighbours(self) -> Ints:
        """The state above, below, left and right of each state, -1 for a wall: [4, n]."""
        framed = np.pad(self.state, 1, constant_values=-1)
        row, column = self.cells.T + 1
        return np.stack([framed[row + down, column + right] for down, right in STEPS])


def read_map(ascii_map: str) -> Layout:
    """The layout of a map."""
    lines = _checked_lines(ascii_map)
    drawn = np.array([list(line) for line in lines])  # [rows, columns], one character each
    free = drawn != WALL
    mark = drawn[free]
    starts = np.flatnonzero(mark == START)
    cells = np.argwhere(free)
    if len(cells) == 0:
        raise InvalidOption(f"the map has no free cell among its {drawn.size}; draw free cells as {FREE!r}")
    if len(starts) > 1:
        first, second = (tuple(int(i) for i in cells[k]) for k in starts[:2])
        raise InvalidOption(
            f"the map has {len(starts)} start cells, first {first} and {second}, expected at most one; "
            "pass start=... for a distribution"
        )
    state = np.full(drawn.shape, -1, dtype=np.int64)
    state[free] = np.arange(len(cells))
    return Layout(
        state=state,
        cells=cells,
        doors=mark == DOOR,
        goals=mark == GOAL,
        start=int(starts[0]) if len(starts) else None,
    )


def _checked_lines(ascii_map: object) -> list[str]:
    if not isinstance(ascii_map, str):
        raise InvalidOption(f"the map is a {type(ascii_map).__name__}, expected a string with one line per row")
    text = "\n".join(line.rstrip() for line in ascii_map.splitlines())
    lines = dedent(text).strip("\n").split("\n")
    if lines == [""]:
        raise InvalidOption(f"the map is empty; draw free cells as {FREE!r} and walls as {WALL!r}")
    known = WALL + FREE + DOOR + GOAL + START
    for row, line in enumerate(lines):
        unknown = set(line) - set(known)
        if unknown:
            column = next(k for k, character in enumerate(line) if character in unknown)
            raise InvalidOption(
                f"the map has {line[column]!r} in row {row}, column {column}, expected one of "
                f"{' '.join(known)}; draw free cells as {FREE!r} and walls as {WALL!r}"
            )
        if len(line) != len(lines[0]):
            raise InvalidOption(
                f"row {row} of the map has {len(line)} cells and row 0 has {len(lines[0])}, expected equal "
                f"lengths; fill short rows with {WALL!r}"
            )
    return lines


def require_square(side: int) -> None:
    """Raise NotEnoughMemory if a square of this side does not fit."""
    memory.require_if_large(
        BYTES_PER_MAP_CELL * side * side,
        f"a grid of side {shown(side)}",
        "take a smaller one, or a map with fewer cells",
    )

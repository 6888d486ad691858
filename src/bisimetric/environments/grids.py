"""Walks on grids: any ASCII map, the 3×3 grid of the paper's heat map, and open squares.

States are the free cells, row by row, named "(row,column)". A state is labelled "goal" if its reward is positive, else
"door" or "room".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import one_of, whole
from bisimetric.environments.layout import Cell, Layout, read_map, require_square
from bisimetric.environments.walks import SparseRows, random_walk
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats, real_array

Corner = Literal["north-west", "north-east", "south-west", "south-east"]
CORNERS: dict[str, tuple[int, int]] = {  # 0: first row or column, 1: last
    "north-west": (0, 0),
    "north-east": (0, 1),
    "south-west": (1, 0),
    "south-east": (1, 1),
}


def grid(
    ascii_map: str,
    *,
    reward: Mapping[Cell, float] | npt.ArrayLike | None = None,
    start: Cell | int | str | Floats | None = None,
    walk: Literal["stay", "neighbours"] = "stay",
) -> MarkovChain:
    """The random walk on the free cells of a map drawn in characters.

    Parameters
    ----------
    ascii_map : str
        One line per row: '#' wall, '.' free cell, 'D' door, 'G' free cell with reward +1, 'S' start. Common indentation
        and empty lines around the map are ignored. Outside of the map is wall.
    reward : mapping from (row, column) to float, or array [n], optional
        A mapping changes the rewards of single cells; an array replaces those of all n states.
    start : (row, column), or what `MarkovChain` takes as start, optional
        The start instead of 'S'. Without 'S' and `start` the chain has no start.
    walk : {"stay", "neighbours"}
        "stay": each direction with probability 1/4, and a step into a wall stays. "neighbours": uniform over the free
        cells beside.

    Returns
    -------
    MarkovChain
        The chain of n free cells, row by row, named "(row,column)" and labelled "goal", "door" or "room".

    Raises
    ------
    InvalidOption
        If the map has an unknown character, rows of different lengths, no free cell or two starts; or if a cell or
        reward does not fit the map.

    Examples
    --------
    >>> from bisimetric.environments import grid
    >>> chain = grid('''
    ...     S.#
    ...     ..D
    ...     #.G
    ... ''')
    >>> chain.names
    ('(0,0)', '(0,1)', '(1,0)', '(1,1)', '(1,2)', '(2,1)', '(2,2)')
    """
    layout = read_map(ascii_map)
    begin: object = layout.start
    if start is not None:
        begin = layout.state_at(start, "start") if isinstance(start, tuple) else start
    return chain_on(layout, random_walk(layout, walk), _reward(layout, reward), begin)


def open_grid(k: int, *, corner: Corner = "south-east") -> MarkovChain:
    """The random walk on a k×k square without walls, with +1 in one corner and the start in the opposite one.

    Parameters
    ----------
    k : int
        The side, at least 1.
    corner : {"south-east", "south-west", "north-east", "north-west"}
        The corner with the reward.

    Returns
    -------
    MarkovChain
        The chain of k² states.

    Raises
    ------
    InvalidOption
        If an option is out of range.
    NotEnoughMemory
        If the square does not fit into memory.

    Examples
    --------
    >>> from bisimetric.environments import open_grid
    >>> open_grid(3).n_states
    9
    """
    last = whole(k, "k", at_least=1) - 1
    require_square(last + 1)
    down, right = CORNERS[one_of(corner, "corner", CORNERS)]
    open_map = "\n".join(["." * (last + 1)] * (last + 1))
    goal, start = (down * last, right * last), (last - down * last, last - right * last)
    return grid(open_map, reward={goal: 1.0}, start=start)


def grid_3x3() -> MarkovChain:
    """The 3×3 grid of the paper's heat map: steps go to a random neighbour, start upper left, +1 lower left.

    Returns
    -------
    MarkovChain
        The chain of 9 states.

    Examples
    --------
    >>> from bisimetric.environments import grid_3x3
    >>> grid_3x3().reward
    array([0., 0., 0., 0., 0., 0., 1., 0., 0.])
    """
    return grid(
        """
        S..
        ...
        G..
        """,
        walk="neighbours",
    )


def chain_on(layout: Layout, transitions: SparseRows, reward: Floats, start: object) -> MarkovChain:
    """The chain with these transitions; its states are named and labelled after their cells."""
    return MarkovChain(
        transitions,
        reward=reward,
        start=start,
        names=[f"({row},{column})" for row, column in layout.cells.tolist()],
        labels=np.where(reward > 0, "goal", np.where(layout.doors, "door", "room")).tolist(),
    )


def _reward(layout: Layout, given: Mapping[Cell, float] | npt.ArrayLike | None) -> Floats:
    reward = layout.goals.astype(np.float64)
    if given is None:
        return reward
    if isinstance(given, Mapping):
        states = [layout.state_at(cell, "reward") for cell in given]
        reward[states] = real_array(list(given.values()), "list(reward.values())", InvalidOption, ndim=1)
        return reward
    array = real_array(given, "reward", InvalidOption, ndim=1)
    if len(array) != layout.n_states:
        raise InvalidOption(
            f"reward has {len(array)} entries, expected one per free cell: {layout.n_states}; "
            "a dict from (row, column) sets single cells"
        )
    return array

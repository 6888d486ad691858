"""Four rooms joined by four doors: the paper's instances and a version of any size.

The 40-state layout is a 7×7 square with a wall on row 3 and column 3, and doors at (1,3), (3,1), (3,5) and (5,3). Ten
instances p0 … p9 have the same random walk (1/4 in each direction, a blocked move stays) and differ in rewards and
start. The 20-state layout has 2×2 rooms. The scalable layout of side L has rooms whose sides add up to L, not counting
the wall between them, so L² + 4 states. A door lies in the middle of its wall segment; of two middle cells it takes the
one nearer to the crossing of the walls. Side 6 is the 40-state layout, side 4 the 20-state one. For even L the layout
has all eight symmetries of the square.

Two variants: *door cost* puts −1 on doors that have no +1; *shortest path* with weight w takes the shortest way to the
nearest +1 cell with probability w and a random step otherwise.

References: Sutton, Precup & Singh 1999 (the classic layout); Calo et al. 2024 (the instances).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from bisimetric._support.options import fraction, one_of, whole
from bisimetric.environments.grids import CORNERS, Corner, chain_on, grid
from bisimetric.environments.layout import Layout, read_map, require_square
from bisimetric.environments.walks import directed_walks, random_walk, shortest_walk
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Mask

FOUR_ROOMS = """
    ...#...
    ...D...
    ...#...
    #D###D#
    ...#...
    ...D...
    ...#...
"""

SMALL_FOUR_ROOMS = {
    "a": """
    S.#..
    G.D..
    #D#D#
    ..D..
    ..#..
    """,
    "b": """
    S.#.G
    GGD..
    #D#D#
    ..DGG
    ..#..
    """,
}

# The upper left room is the 3×3 grid itself; a quarter turn of the map moves it to the next room.
MATCHING_FOUR_ROOMS = """
    S..#G..
    ...D...
    G..#...
    #D###D#
    ...#..G
    ...D...
    ..G#...
"""

# The goal lies in the east hallway, as G1 does in the paper.
CLASSIC_FOUR_ROOMS = """
    #############
    #S....#.....#
    #.....#.....#
    #.....D.....#
    #.....#.....#
    #.....#.....#
    ##D####.....#
    #.....###G###
    #.....#.....#
    #.....#.....#
    #.....D.....#
    #.....#.....#
    #############
"""


DIRECTIONS = ("up", "down", "left", "right")


class Instance(NamedTuple):
    """One of the ten: the states with reward +1, and the start."""

    goals: tuple[int, ...]
    start: int


INSTANCES = {
    "p0": Instance((2, 8), 21),
    "p1": Instance((19,), 9),
    "p2": Instance((16, 20, 22, 30), 0),
    "p3": Instance((31, 37), 16),
    "p4": Instance((1, 33, 34, 35), 15),
    "p5": Instance((7, 24, 29, 33), 14),
    "p6": Instance((7, 9, 17, 35, 36), 6),
    "p7": Instance((17, 25, 29, 31, 38), 34),
    "p8": Instance((20, 39), 10),
    "p9": Instance((21, 24), 32),
}


def four_rooms(
    instance: str | None = None,
    *,
    side: int | None = None,
    goal: Corner | Literal["all"] | None = None,
    door_cost: bool = False,
    shortest_path: float = 0.0,
) -> MarkovChain:
    """The random walk through four rooms: one of ten instances with 40 states, or a layout of any size.

    Parameters
    ----------
    instance : str, optional
        One of the 40-state instances "p0" … "p9", which differ in rewards and start; by default "p1".
    side : int, optional
        Instead of an instance, the sum of the sides of two neighbouring rooms, at least 2: side² + 4 states. The start
        is the outer corner of the north-west room.
    goal : str, optional
        With `side`: the room with reward +1 in its outer corner, "north-west", "north-east" (the default),
        "south-west" or "south-east", or "all".
    door_cost : bool
        Whether doors without a reward of +1 have reward −1.
    shortest_path : float
        Probability, from 0 to 1, of a step on the shortest way to the nearest +1 instead of a random step.

    Returns
    -------
    MarkovChain
        The chain, with rewards, start, names "(row,column)" and labels "goal", "door" or "room".

    Raises
    ------
    InvalidOption
        If an option is out of range, or both `instance` and `side` are given.

    Examples
    --------
    >>> from bisimetric.environments import four_rooms
    >>> four_rooms("p0").n_states, four_rooms(side=20, goal="all").n_states
    (40, 404)
    """
    layout, is_goal, start = _chosen(instance, side, goal)
    return _rewarded(layout, is_goal, start, door_cost, fraction(shortest_path, "shortest_path"))


def four_rooms_mdp(
    instance: str | None = None,
    *,
    side: int | None = None,
    goal: Corner | Literal["all"] | None = None,
    slip: float = 0.0,
) -> MDP:
    """Four rooms as a decision process: the actions are the four directions, and a step into a wall stays.

    The reward is that of the cell in which the action is taken. Under the uniform policy the process is the chain
    `four_rooms` of the same instance.

    Parameters
    ----------
    instance, side, goal
        As in `four_rooms`.
    slip : float
        Probability, from 0 to 1, of a step in a random direction instead of the chosen one.

    Returns
    -------
    MDP
        The decision process with the actions "up", "down", "left" and "right".

    Raises
    ------
    InvalidOption
        If an option is out of range, or both `instance` and `side` are given.

    Examples
    --------
    >>> from bisimetric.environments import four_rooms_mdp
    >>> four_rooms_mdp(side=4, slip=0.2).actions
    ('up', 'down', 'left', 'right')
    """
    layout, is_goal, start = _chosen(instance, side, goal)
    chain = _rewarded(layout, is_goal, start, False, 0.0)
    assert chain.reward is not None
    return MDP(
        directed_walks(layout, fraction(slip, "slip")),
        np.tile(chain.reward[:, None], len(DIRECTIONS)),
        start=start,
        names=chain.names,
        actions=DIRECTIONS,
    )


def small_four_rooms(instance: Literal["a", "b"]) -> MarkovChain:
    """The random walk through four 2×2 rooms, 20 states, start (0,0).

    Parameters
    ----------
    instance : {"a", "b"}
        Where the rewards +1 are: "a" has one, at (1,0); "b" has five, at (0,4), (1,0), (1,1), (3,3) and (3,4).

    Returns
    -------
    MarkovChain
        The chain.

    Raises
    ------
    InvalidOption
        If `instance` is something else.

    Examples
    --------
    >>> from bisimetric.environments import small_four_rooms
    >>> float(small_four_rooms("b").reward.sum())
    5.0
    """
    return grid(SMALL_FOUR_ROOMS[one_of(instance, "instance", SMALL_FOUR_ROOMS)])


def matching_four_rooms() -> MarkovChain:
    """Four rooms of which each is the 3×3 grid rotated, 40 states; steps go to a random neighbour, start (0,0).

    The rewards +1 are at (2,0), (0,4), (4,6) and (6,2), so a quarter turn maps the map to itself.

    Returns
    -------
    MarkovChain
        The chain.

    Examples
    --------
    >>> from bisimetric.environments import matching_four_rooms
    >>> matching_four_rooms().n_states
    40
    """
    return grid(MATCHING_FOUR_ROOMS, walk="neighbours")


def classic_four_rooms() -> MarkovChain:
    """The random walk through the 104 cells of Sutton, Precup & Singh 1999: +1 in the east hallway, start (1,1).

    Returns
    -------
    MarkovChain
        The chain; the reward is at (7,9).

    Examples
    --------
    >>> from bisimetric.environments import classic_four_rooms
    >>> classic_four_rooms().n_states
    104
    """
    return grid(CLASSIC_FOUR_ROOMS)


def _chosen(instance: str | None, side: int | None, goal: str | None) -> tuple[Layout, Mask, int]:
    """The layout, goals and start of an instance, or of the layout of a side."""
    if side is None:
        if goal is not None:
            raise InvalidOption(f"goal is {goal!r} without a side; give side=... too, or choose an instance p0 ... p9")
        layout = read_map(FOUR_ROOMS)
        goals, start = INSTANCES["p1" if instance is None else one_of(instance, "instance", INSTANCES)]
    else:
        if instance is not None:
            raise InvalidOption(f"both instance {instance!r} and side {side!r} are given, expected one of them")
        length = whole(side, "side", at_least=2)
        require_square(length)
        layout = read_map(_rooms_map(length))
        start = 0
        goals = _outer_corners(layout, "north-east" if goal is None else goal)
    is_goal = np.zeros(layout.n_states, dtype=np.bool_)
    is_goal[list(goals)] = True
    return layout, is_goal, start


def _rewarded(layout: Layout, goals: Mask, start: int, door_cost: bool, weight: float) -> MarkovChain:
    reward = np.where(layout.doors & door_cost, -1.0, 0.0)
    reward[goals] = 1.0
    transitions = random_walk(layout, "stay")
    if weight > 0:
        transitions = weight * shortest_walk(layout, goals) + (1 - weight) * transitions
    return chain_on(layout, transitions, reward, start)


def _rooms_map(side: int) -> str:
    """The map of the scalable layout: rooms of sides ⌊L/2⌋ and ⌈L/2⌉, one wall each way."""
    first, second = side // 2, side - side // 2
    inner = "." * first + "{}" + "." * second
    doors = first // 2, side - second // 2  # rows or columns of the doors: the middle of their rooms
    rows = [inner.format("D" if k in doors else "#") for k in range(side + 1)]
    rows[first] = "".join("D" if k in doors else "#" for k in range(side + 1))
    return "\n".join(rows)


def _outer_corners(layout: Layout, goal: str) -> tuple[int, ...]:
    corners = CORNERS if one_of(goal, "goal", [*CORNERS, "all"]) == "all" else {goal: CORNERS[goal]}
    last = layout.state.shape[0] - 1
    return tuple(int(layout.state[down * last, right * last]) for down, right in corners.values())

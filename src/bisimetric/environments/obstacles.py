"""Four rooms with random obstacles, under their optimal policy.

The 40-state layout with +1 in the outer corner of every room but the upper left, −0.25 on the doors, and one to seven
blocked cells, so 33 to 39 states. With probability 1/2 an obstacle is a single cell of a room; otherwise it changes the
way to a reward: it blocks a door, or the two cells beside a rewarded corner. So the nearest reward may be in the same
room, behind some doors, or out of reach. The start is drawn from the upper left room with probability 1/2, from all
rooms otherwise.

A step goes in the chosen direction with probability 0.8 and in a random one otherwise; a step into a wall stays. The
chain follows the policy that is optimal for γ = 0.95. Where several actions are optimal it takes each of them equally
often: this keeps the symmetries of the map, and the choice does not depend on rounding.

Reference: Calo et al. 2024, Appendix F (the 35 instances; their obstacles and starts are not known).
"""

from __future__ import annotations

import numpy as np

from bisimetric._support.options import whole
from bisimetric.environments.grids import chain_on
from bisimetric.environments.layout import DOOR, FREE, START, WALL, Cell, read_map
from bisimetric.environments.walks import directed_walks
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats

MAP = """
    ...#..G
    ...D...
    ...#...
    #D###D#
    ...#...
    ...D...
    G..#..G
"""
SHUT_OFF = (((0, 5), (1, 6)), ((5, 0), (6, 1)), ((5, 6), (6, 5)))  # the two cells beside each rewarded corner
FIRST_ROOM = 3  # rows and columns of the upper left room
MOST_OBSTACLES = 7
DOOR_REWARD = -0.25
SLIP = 0.2
DISCOUNT = 0.95
TIE = 1e-9  # actions this close to the best one, relative to the largest value, count as equally good


def four_rooms_obstacles(*, seed: int) -> MarkovChain:
    """The optimal walk through four rooms with random obstacles and a random start, 33 to 39 states.

    Parameters
    ----------
    seed : int
        The seed of the obstacles and the start, at least 0.

    Returns
    -------
    MarkovChain
        The chain under its optimal policy for γ = 0.95: +1 in up to three corners, −0.25 on doors.

    Raises
    ------
    InvalidOption
        If `seed` is not a whole number ≥ 0.

    Examples
    --------
    >>> from bisimetric.environments import four_rooms_obstacles
    >>> four_rooms_obstacles(seed=3).n_states
    38
    """
    return optimal_walk(obstacle_map(seed))


def optimal_walk(ascii_map: str) -> MarkovChain:
    """The chain of the optimal policy on a map with doors, goals and a start, as above."""
    layout = read_map(ascii_map)
    reward = np.where(layout.goals, 1.0, np.where(layout.doors, DOOR_REWARD, 0.0))
    moves = directed_walks(layout, SLIP)
    mdp = MDP(moves, np.tile(reward[:, None], len(moves)), start=layout.start)
    return chain_on(layout, mdp.under(_best_moves(mdp)).transitions, reward, layout.start)


def obstacle_map(seed: int) -> str:
    """The map of a seed: obstacles are walls, S is the start."""
    rng = np.random.default_rng(whole(seed, "seed", at_least=0))
    drawn = [list(line.strip()) for line in MAP.split()]
    rooms = _cells(drawn, FREE)
    near = [cell for cell in rooms if max(cell) < FIRST_ROOM]
    start = _one_of(rng, near if rng.random() < 0.5 else rooms)
    for row, column in _obstacles(rng, rooms, _cells(drawn, DOOR), start):
        drawn[row][column] = WALL
    drawn[start[0]][start[1]] = START
    return "\n".join("".join(line) for line in drawn)


def _obstacles(rng: np.random.Generator, rooms: list[Cell], doors: list[Cell], start: Cell) -> set[Cell]:
    """One to seven cells without the start."""
    blocks: list[tuple[Cell, ...]] = [*((door,) for door in doors), *SHUT_OFF]
    wanted = int(rng.integers(1, MOST_OBSTACLES, endpoint=True))
    chosen: set[Cell] = set()
    while len(chosen) < wanted:
        more = {*blocks[rng.integers(len(blocks))]} if rng.random() < 0.5 else {_one_of(rng, rooms)}
        if start not in more and len(chosen | more) <= wanted:
            chosen |= more
    return chosen


def _best_moves(mdp: MDP) -> Floats:
    """The policy [n, A] that takes every optimal action equally often."""
    value = mdp.optimal_policy(DISCOUNT).value
    earned = np.stack([matrix @ value for matrix in mdp.transitions], axis=1)  # [n, A], up to reward and discount
    best = earned >= earned.max(axis=1, keepdims=True) - TIE * max(1.0, float(np.abs(value).max()))
    weights: Floats = best / best.sum(axis=1, keepdims=True)
    return weights


def _cells(drawn: list[list[str]], mark: str) -> list[Cell]:
    return [(r, c) for r, line in enumerate(drawn) for c, found in enumerate(line) if found == mark]


def _one_of(rng: np.random.Generator, cells: list[Cell]) -> Cell:
    return cells[rng.integers(len(cells))]

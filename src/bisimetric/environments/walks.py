"""Transition matrices on a layout.

    stay           1/4 for each direction; a step into a wall stays where it is
    neighbours     uniform over the free cells beside; a cell without free neighbours stays
    directed       one matrix per direction; a step into a wall stays, and some steps go in a random direction
    shortest path  one step nearer to the nearest goal, the first such of up, down, left, right; stays at a goal
                   and where no goal can be reached

One breadth-first search from all goals together gives the number of steps to the nearest goal.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.options import one_of
from bisimetric.environments.layout import STEPS, Layout
from bisimetric.models.rows import Ints, Mask

WALKS = ("stay", "neighbours")

SparseRows: TypeAlias = "sparse.csr_array"


def random_walk(layout: Layout, walk: str) -> SparseRows:
    """The transitions of the walk "stay" or "neighbours"."""
    beside = layout.neighbours()  # [4, n]
    here = np.arange(layout.n_states)
    if one_of(walk, "walk", WALKS) == "stay":
        return _moves(np.where(beside < 0, here, beside), np.full(beside.shape, 1 / len(STEPS)))
    degree = (beside >= 0).sum(axis=0)
    lonely = degree == 0
    target = np.vstack([np.where(beside < 0, here, beside), here])
    chance = np.vstack([(beside >= 0) / np.maximum(degree, 1), lonely])
    return _moves(target, chance)


def directed_walks(layout: Layout, slip: float) -> list[SparseRows]:
    """The transitions of steps up, down, left and right; with probability `slip` a step has a random direction."""
    beside = layout.neighbours()  # [4, n]
    target = np.where(beside < 0, np.arange(layout.n_states), beside)
    anywhere = random_walk(layout, "stay")
    certain = np.ones((1, layout.n_states))
    return [(1 - slip) * _moves(row[None, :], certain) + slip * anywhere for row in target]


def shortest_walk(layout: Layout, goals: Mask) -> SparseRows:
    """The transitions of the shortest path to the nearest goal."""
    beside = layout.neighbours()
    here = np.arange(layout.n_states)
    steps = _steps_to(goals, beside)
    nearer = (beside >= 0) & (steps[beside] == steps - 1) & (steps > 0)  # [4, n]
    first = nearer.argmax(axis=0)
    target = np.where(nearer.any(axis=0), beside[first, here], here)
    return _moves(target[None, :], np.ones((1, layout.n_states)))


def _steps_to(goals: Mask, beside: Ints) -> Ints:
    """The number of steps from each state to the nearest goal, -1 where no goal can be reached."""
    steps = np.where(goals, 0, -1)
    frontier = np.flatnonzero(goals)
    distance = 0
    while len(frontier):
        distance += 1
        reached = np.unique(beside[:, frontier])
        frontier = reached[(reached >= 0) & (steps[reached] < 0)]
        steps[frontier] = distance
    return steps


def _moves(target: Ints, chance: npt.NDArray[np.float64]) -> SparseRows:
    """The matrix that moves state x to target[k, x] with probability chance[k, x]; equal targets are summed."""
    n_choices, n_states = target.shape
    row = np.tile(np.arange(n_states), n_choices)
    matrix = sparse.csr_array((chance.ravel(), (row, target.ravel())), shape=(n_states, n_states))
    matrix.eliminate_zeros()
    return matrix

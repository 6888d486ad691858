"""The recurrent classes of a chain, their periods and phases, and how long a chain takes to reach one.

A class is recurrent if the chain cannot leave it. In a class of period p every state has a phase, and each step leads
from phase k to phase k + 1 modulo p: p is the greatest common divisor of level(x) + 1 - level(y) over all moves, where
level is the number of steps from one state of the class.

References: Tarjan 1972; Denardo 1977 (periods by levels).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from bisimetric.models.rows import Ints, Mask


@dataclass(frozen=True, slots=True, eq=False)
class Recurrence:
    """The recurrent classes of a chain."""

    class_of: Ints  # [n], -1 where transient
    period: Ints  # [classes]
    phase: Ints  # [n], 0 where transient

    @property
    def states(self) -> Ints:
        """The recurrent states."""
        return np.flatnonzero(self.class_of >= 0)

    @property
    def transient(self) -> Mask:
        """[n], which states are not recurrent."""
        transient: Mask = self.class_of < 0
        return transient


def recurrence(transitions: sparse.csr_array) -> Recurrence:
    """The recurrent classes of a chain with these rows, none of whose entries is zero."""
    from scipy.sparse import csgraph

    count, part = csgraph.connected_components(transitions, directed=True, connection="strong")
    n = transitions.shape[0]
    origin = np.repeat(np.arange(n), np.diff(transitions.indptr))
    leaves = np.zeros(count, np.bool_)
    leaves[part[origin][part[origin] != part[transitions.indices]]] = True
    number = np.full(count, -1, np.int64)
    number[~leaves] = np.arange(int((~leaves).sum()))
    class_of: Ints = number[part]
    classes = int((~leaves).sum())
    level = _levels(transitions, class_of, classes)
    inside = class_of[origin] >= 0
    rise = level[origin[inside]] + 1 - level[transitions.indices[inside]]
    period = np.zeros(classes, np.int64)
    np.gcd.at(period, class_of[origin[inside]], np.abs(rise))
    phase = np.where(class_of >= 0, level % period[class_of], 0)
    return Recurrence(class_of, period, phase)


def _levels(transitions: sparse.csr_array, class_of: Ints, classes: int) -> Ints:
    """The number of steps from the first state of its class to every recurrent state: one search from all of them."""
    level = np.full(len(class_of), -1, np.int64)
    front = np.full(classes, len(class_of), np.int64)
    states = np.flatnonzero(class_of >= 0)
    np.minimum.at(front, class_of[states], states)
    level[front] = 0
    depth = 0
    while len(front):
        depth += 1
        reached = np.unique(transitions[front].indices)
        front = reached[level[reached] < 0]
        level[front] = depth
    return level

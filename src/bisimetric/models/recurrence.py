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
    if count == 1:
        class_of, classes = np.zeros(n, np.int64), 1
        if (origin == transitions.indices).any():  # a state that may stay where it is: no period
            return Recurrence(class_of, np.ones(1, np.int64), np.zeros(n, np.int64))
    else:
        leaves = np.zeros(count, np.bool_)
        leaves[part[origin][part[origin] != part[transitions.indices]]] = True
        number = np.full(count, -1, np.int64)
        number[~leaves] = np.arange(int((~leaves).sum()))
        class_of, classes = number[part], int((~leaves).sum())
    level = _levels(transitions, class_of, classes)
    inside = class_of[origin] >= 0
    rise = level[origin[inside]] + 1 - level[transitions.indices[inside]]
    if classes == 1:
        period = np.array([np.gcd.reduce(rise)])
    else:
        period = np.zeros(classes, np.int64)
        np.gcd.at(period, class_of[origin[inside]], rise)
    phase = np.where(class_of >= 0, level % period[class_of], 0)
    return Recurrence(class_of, period, phase)


def _levels(transitions: sparse.csr_array, class_of: Ints, classes: int) -> Ints:
    """The number of steps from the first state of its class to every recurrent state: one search from all of them."""
    from scipy.sparse import csgraph

    states = np.flatnonzero(class_of >= 0)
    first = states[np.unique(class_of[states], return_index=True)[1]] if classes > 1 else states[:1]
    steps = csgraph.dijkstra(transitions, indices=first, unweighted=True, min_only=True)
    return np.where(class_of >= 0, steps, 0.0).astype(np.int64)

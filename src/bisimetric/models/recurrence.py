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

from bisimetric import kernels
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
    n, arcs = transitions.shape[0], (transitions.indptr, transitions.indices)
    component, level, class_of, phase, period = np.zeros((5, n), np.int64)
    kernels.components.components(*arcs, component, level)
    class_of.fill(-1)
    count = kernels.components.periods(*arcs, component, level, class_of, phase, period)
    return Recurrence(class_of, period[:count], phase)

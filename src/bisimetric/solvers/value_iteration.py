"""Exact value iteration with MacQueen's bounds.

    V_{k+1} = T V_k,        (T V)(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] }

T is a γ-contraction, so the gap γ/(1-γ)·(max R - min R), R = T V - V, shrinks at least by γ in every step and the
iteration ends. A constant added to V changes nothing but the constant, so each step also moves to the middle of its
bounds. The transports restart from the trees of the step before, which is all that this solver shares with policy
iteration: there is no linear system here.

References: MacQueen 1966; van Breugel & Worrell 2001.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import new_trees
from bisimetric.solvers.base import PROGRESS, STALLED_AFTER, Solver, TreeIterate, sweep_trees


@dataclass(frozen=True, slots=True)
class ValueIteration(Solver[Bellman, TreeIterate]):
    """Exact, simple, and slow when γ is near 1: the gap shrinks by γ in every step.

    Each step is n·m warm-started transports. It takes no options.

    References
    ----------
    MacQueen 1966; van Breugel & Worrell 2001.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("grid-3x3", "grid-3x3", discount=0.5, solver=bm.ValueIteration())
    >>> solution.solver, solution.status.name
    ('value-iteration', 'SOLVED')
    """

    name: ClassVar[str] = "value-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 1_000_000
    open_pairs: ClassVar[bool] = True
    undiscounted: ClassVar[bool] = True

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> TreeIterate:
        start = bellman.scaled_cost() if value is None else value
        return sweep_trees(bellman, start, new_trees(bellman), cold=True)

    def step(self, bellman: Bellman, iterate: TreeIterate) -> TreeIterate:
        value = bellman.plus(iterate.value, iterate.sweep.residual)
        if not bellman.stop.size:
            value += 0.5 * sum(bellman.bounds(iterate.sweep))
        return sweep_trees(bellman, value, iterate.trees, cold=False)

    def patience(self, bellman: Bellman) -> int:
        """Twice the steps in which the contraction must show."""
        return STALLED_AFTER + 2 * math.ceil(math.log(PROGRESS) / math.log(bellman.contraction))

"""Backward induction over a finite horizon.

    V_h = terminal,        V_t = c_t + γ · OT_{V_{t+1}}(P_t, Q_t),        t = h-1, …, 0

A step of the solver is one application: n·m transports at the value of the time after. Where the chains move alike in
two steps, the trees of the later one are still feasible and nearly optimal, so most pairs need no pivot. The iteration
ends at time 0: there is nothing to converge, and only rounding is left.

References: Bellman 1957; Pflug & Pichler 2012.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bisimetric._support import memory
from bisimetric._support.options import flag
from bisimetric.models.rows import Floats
from bisimetric.operators.horizon import HorizonBellman
from bisimetric.operators.trees import TreeWitness, new_trees
from bisimetric.solvers.base import Iterate, Solver


@dataclass(frozen=True, slots=True, eq=False)
class HorizonIterate(Iterate[TreeWitness]):
    """The application at one time: `value` is V of the time after, `found` is V of this time."""

    time: int
    found: Floats  # [n, m]

    @property
    def largest(self) -> float:
        """max |V| at time 0; zero before that is known, so that no gap is small in comparison."""
        return float(np.abs(self.found).max()) if self.time == 0 else 0.0

    @property
    def due(self) -> bool:
        """Always: the next step changes the trees, so the checker looks at every step."""
        return True

    def estimate(self) -> Floats | None:
        return self.found if self.time == 0 else None


@dataclass(frozen=True, slots=True)
class BackwardInduction(Solver[HorizonBellman, HorizonIterate]):
    """Exact, for finite horizons: from the last step to the first, one transport per pair and step.

    Parameters
    ----------
    keep_steps : bool, default True
        Keep the values of all times, 8·n·m bytes each: `solution.at(time)`, couplings of all steps and `explain` need
        them. With False only time 0 is kept, and one sweep gives its coupling.

    References
    ----------
    Bellman 1957; Pflug & Pichler 2012.

    Examples
    --------
    >>> import bisimetric as bm
    >>> walk = bm.as_chain("four-rooms:p1")
    >>> problem = bm.HorizonProblem(walk, bm.as_chain("four-rooms:p0"), horizon=50)
    >>> bm.solve(problem, bm.solvers.BackwardInduction(keep_steps=False)).status.name
    'SOLVED'
    """

    name: ClassVar[str] = "backward-induction"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 10**9
    uses_initial: ClassVar[bool] = False
    on_classes: ClassVar[bool] = False
    undiscounted: ClassVar[bool] = True
    operates_on: ClassVar[type] = HorizonBellman

    keep_steps: bool = True

    def __post_init__(self) -> None:
        flag(self.keep_steps, "keep_steps")

    def init(self, bellman: HorizonBellman, value: Floats | None, tol: float = 0.0) -> HorizonIterate:
        n, m = bellman.shape
        if self.keep_steps:
            memory.require(
                8 * n * m * (bellman.horizon + 1),
                f"keeping the values of {bellman.horizon} steps of {n} x {m} state pairs",
                "BackwardInduction(keep_steps=False) keeps time 0 only",
            )
        return _apply(bellman, bellman.terminal(), bellman.horizon - 1, None)

    def step(self, bellman: HorizonBellman, iterate: HorizonIterate) -> HorizonIterate:
        if iterate.time == 0:  # nothing is left but rounding
            return iterate
        return _apply(bellman, iterate.found, iterate.time - 1, iterate.witness)

    def patience(self, bellman: HorizonBellman) -> int:
        """Never stalled before time 0."""
        return 0


def _apply(bellman: HorizonBellman, value: Floats, time: int, later: TreeWitness | None) -> HorizonIterate:
    """V of this time from V of the next, with the trees of the next step where the chains move alike in both."""
    here = bellman.at(time)
    warm = None if later is None or not bellman.moves_alike(time, time + 1) else later.trees
    trees = new_trees(here) if warm is None else warm
    swept = here.improve(value, trees, cold=warm is None)
    gap = float(bellman.largest_from[0])  # the checker, which looks at every step, replaces it
    return HorizonIterate(value, TreeWitness(here, value, trees), gap, time, here.plus(value, swept.residual))

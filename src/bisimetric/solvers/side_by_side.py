"""Exact policy iteration over couplings, for many small problems in one compiled call.

    improve     π_k(x, y) ∈ argmin { <π, V_k> },        evaluate    V_{k+1} = c + γ π_k V_{k+1}

The iteration itself is in `kernels/side_by_side`. Every problem ends there, at its goal or without progress, so there
is one iterate and no further step.

References: Howard 1960; O'Connor, McGoff & Nobel 2022; Calo et al. 2024.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bisimetric.models.rows import Floats
from bisimetric.operators.side_by_side import ManyTrees, SideBySide
from bisimetric.solvers.base import Iterate, Solver

GOAL_OF_TOL = 0.5  # of the tolerance: the checker's interval is a little wider than a sweep's


@dataclass(frozen=True, slots=True, eq=False)
class ManyIterate(Iterate[ManyTrees]):
    """Values and trees of all problems; the gap is the largest relative one."""

    @property
    def largest(self) -> float:
        return 1.0

    def estimate(self) -> Floats:
        """The values of the last couplings."""
        return self.witness.estimate


@dataclass(frozen=True, slots=True)
class ManyPolicyIteration(Solver[SideBySide, ManyIterate]):
    """Exact policy iteration for many small problems; what it leaves unsolved, `PolicyIteration` solves alone.

    `solve_many` uses it.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> solutions = bm.solve_many([bm.Problem(chain, chain, discount=discount) for discount in (0.5, 0.9)])
    >>> [solution.distance for solution in solutions]
    [0.0, 0.0]
    """

    name: ClassVar[str] = "policy-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 1
    uses_initial: ClassVar[bool] = False
    operates_on: ClassVar[type] = SideBySide

    def init(self, bellman: SideBySide, value: Floats | None, tol: float = 0.0) -> ManyIterate:
        solved = bellman.solve(GOAL_OF_TOL * tol)
        last = solved.gaps[range(bellman.size), solved.steps - 1]
        return ManyIterate(solved.value, solved, float((last / bellman.largest(abs(solved.value))).max()))

    def step(self, bellman: SideBySide, iterate: ManyIterate) -> ManyIterate:
        return iterate

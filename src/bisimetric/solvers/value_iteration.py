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

from bisimetric.couplings.coupling import TreeWitness
from bisimetric.kernels.layout import Trees
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman, Sweep
from bisimetric.solvers.base import PROGRESS, Iterate, Solver


@dataclass(frozen=True, slots=True, eq=False)
class ValueIterate(Iterate):
    """An iterate with the transport trees that warm-start the next one."""

    trees: Trees
    sweep: Sweep


@dataclass(frozen=True, slots=True)
class ValueIteration(Solver[ValueIterate]):
    """Exact, simple and slow when γ is near 1; each step is n·m warm-started transports."""

    name: ClassVar[str] = "value-iteration"
    default_tol: ClassVar[float] = 1e-9
    default_max_steps: ClassVar[int] = 1_000_000
    open_pairs: ClassVar[bool] = True

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> ValueIterate:
        trees = bellman.new_trees()
        return _swept(bellman, bellman.scaled_cost() if value is None else value, trees, cold=True)

    def step(self, bellman: Bellman, iterate: ValueIterate) -> ValueIterate:
        value = bellman.plus(iterate.value, iterate.sweep.residual.copy())
        if not bellman.stop.size:
            value += 0.5 * sum(bellman.onward(iterate.sweep))
        return _swept(bellman, value, iterate.trees, cold=False)

    def patience(self, discount: float) -> int:
        """Twice the steps in which the contraction must show."""
        return Solver.patience(self, discount) + 2 * math.ceil(math.log(PROGRESS) / math.log(discount))


def _swept(bellman: Bellman, value: Floats, trees: Trees, *, cold: bool) -> ValueIterate:
    sweep = bellman.improve(value, trees, cold=cold)
    below, above = bellman.onward(sweep)
    return ValueIterate(value, TreeWitness(bellman, value, trees), above - below, trees, sweep)

"""The value of the independent coupling, which reinforcement learning calls MICo.

    V(s, t) = (1-γ)·|r(s) - r'(t)| + γ Σ_ij P(i|s) P'(j|t) V(i, j)

One linear system, solved by BiCGSTAB and then, if that failed, by plain sweeps V ← T V moved to the middle of their
bounds, which contract by γ. The bounds are MacQueen's from one more application, computed apart from the solver and
widened for rounding. No coupling is chosen, so V is at least the bisimulation metric, and a state that can
move in several ways is at a positive distance from itself.

Reference: Castro, Kastner, Panangaden & Rowland 2021.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric._bellman import Bellman
from bisimetric._certificate import Application, Certificate, immediate, interval, is_immediate
from bisimetric._convert import as_chain
from bisimetric._problem import Problem
from bisimetric._rounding import Errors
from bisimetric._stochastic import UNIT_ROUNDOFF, Floats

SOLVED = 8 * UNIT_ROUNDOFF  # residual at which the linear system is left, relative to the largest value
TOL = 1e-9  # relative gap at which sweeps end
ROUNDING = 256 * UNIT_ROUNDOFF  # span of the residual, relative to the largest value, that may be rounding
MAX_SWEEPS = 100_000  # where the linear solver gave up; the bounds say how far they came


def mico(chain: Any, other: Any = None, *, discount: float) -> Certificate:
    """The MICo distances of a chain, or between two, with bounds: `value`, `lower` and `upper`, [n, m].

    Normalised like the bisimulation metric, which they are never below. Self-distances are not zero.

    >>> import bisimetric as bm
    >>> coin = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1])
    >>> bm.mico(coin, discount=0.5).value.round(10).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    source = as_chain(chain)
    target = source if other is None else as_chain(other)
    problem = Problem(source, target, discount=discount, normalised=True)
    if is_immediate(problem):
        return immediate(problem)
    bellman = Bellman.of(problem)
    value = bellman.independent_value(SOLVED * bellman.largest_cost / (1.0 - problem.discount))
    swept = _applied(problem, bellman, value)
    onward = problem.discount / (1.0 - problem.discount)
    for _ in range(MAX_SWEEPS):
        residual = swept - value
        middle = 0.5 * onward * float(residual.min() + residual.max())
        largest = float(np.abs(swept + middle).max())
        if np.ptp(residual) <= max(TOL / onward, ROUNDING) * largest:
            break
        value = swept + middle
        swept = _applied(problem, bellman, value)
    return _certified(problem, bellman, value, swept)


def _applied(problem: Problem, bellman: Bellman, value: Floats) -> Floats:
    """c + γ P V P'ᵀ."""
    P, Q = problem.source.transitions, problem.target.transitions
    moved: Floats = (Q @ (P @ value).T).T
    return bellman.scaled_cost() + problem.discount * moved


def _certified(problem: Problem, bellman: Bellman, value: Floats, swept: Floats) -> Certificate:
    chains = problem.source, problem.target
    terms = sum(float(np.diff(chain.transitions.indptr).max()) for chain in chains)
    rows = 0.5 * sum(float(chain.row_error.max()) for chain in chains)
    residual = swept - value
    once = Application(swept, swept.copy(), float(residual.min()), float(residual.max()), Errors(terms, rows))
    return interval(bellman, bellman.cost, value, once, lambda lower, upper: None)

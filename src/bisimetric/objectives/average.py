"""The distance of two chains in the long run, in one call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from bisimetric.cost.ground import Cost
from bisimetric.problems.average import AverageProblem
from bisimetric.readers.convert import as_chain
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.history import Step
from bisimetric.solving.solve import solve


def average_distance(
    source: Any,
    target: Any,
    *,
    cost: npt.ArrayLike | Cost | None = None,
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> AverageSolution:
    """The certified smallest average cost per step of two coupled chains, in the long run.

    This is the optimal transition coupling distance of O'Connor, McGoff and Nobel, from every pair of states. Chains
    may have several recurrent classes, transient states and periods.

    Parameters
    ----------
    source, target : MarkovChain or anything that `as_chain` takes
        Chains with n and m states.
    cost : array [n, m] or cost object, optional
        What it costs to be in state x and state y; the gap between their rewards by default.
    solver, tol, max_steps, time_limit, throw, on_step
        As for `solve`.

    Returns
    -------
    AverageSolution
        `distance` and `interval` from the starts, where a chain without a start takes the best one;
        `stationary_distance` from the best pair of states in any case; `value` [n, m] from all pairs of states.

    Raises
    ------
    InvalidChain, InvalidProblem, InvalidOption
        A chain cannot be read, the cost does not fit, or an option is unknown.
    ToleranceNotReached, SolveInterrupted
        As for `solve`.

    References
    ----------
    O'Connor, McGoff & Nobel 2022, Optimal transport for stationary Markov chains via policy iteration.

    Examples
    --------
    >>> import bisimetric as bm
    >>> clock = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 1], start=0)
    >>> late = clock.with_start(1)
    >>> bm.average_distance(clock, clock).distance, bm.average_distance(clock, late).distance
    (0.0, 1.0)
    >>> bm.average_distance(clock, late).stationary_distance
    0.0
    """
    problem = AverageProblem(as_chain(source), as_chain(target), cost=cost)
    return solve(problem, solver, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)

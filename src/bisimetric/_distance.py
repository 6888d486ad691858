"""The shortest way from two models to their distance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt

from bisimetric.cost.ground import Cost
from bisimetric.errors import InvalidOption
from bisimetric.operators.reachable import reachable_part
from bisimetric.problems.discounted import Problem
from bisimetric.readers.convert import as_chain
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.history import Step
from bisimetric.solving.room import MANY_PAIRS, require_room
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

PAIRS = ("all", "reachable")


def distance(
    source: Any,
    target: Any,
    *,
    discount: float,
    cost: npt.ArrayLike | Cost | None = None,
    normalised: bool = False,
    pairs: str = "all",
    solver: AnySolver | str | None = None,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> Solution:
    """The certified distances between two chains.

    V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] } for all pairs of states, and from the starts.

    Parameters
    ----------
    source, target : MarkovChain or anything that `as_chain` takes
        A transition matrix (dense or sparse), a chain file, the name of a built-in environment.
    discount : float
        γ in [0, 1): how much the next step counts.
    cost : array [n, m] or cost object, optional
        What it costs to be in state x and state y; the gap between their rewards by default.
    normalised : bool, default False
        Multiply the cost by 1 - γ. With the gap between rewards this is the bisimulation metric.
    pairs : {"all", "reachable"}
        "reachable" computes only what the distance between the starts depends on, which is faster where few pairs of
        states can be reached from there. `solution.problem.unsolved` marks the other pairs; their values are NaN.
    solver, tol, max_steps, time_limit, throw, on_step
        As for `solve`.

    Returns
    -------
    Solution
        `solution.distance` and `solution.interval` for the starts, `solution.value` [n, m] for all states.

    Raises
    ------
    InvalidChain, InvalidProblem, InvalidOption
        A chain cannot be read, the cost or discount does not fit, or an option is unknown.
    ToleranceNotReached, SolveInterrupted
        As for `solve`.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> round(solution.distance, 10)
    0.4355817651
    """
    if pairs not in PAIRS:
        raise InvalidOption(f"pairs is {pairs!r}, expected one of {', '.join(map(repr, PAIRS))}")
    chains = as_chain(source), as_chain(target)
    if chains[0].n_states * chains[1].n_states > MANY_PAIRS:
        require_room(*chains, cost, solver, reachable=pairs == "reachable")
    problem = Problem(*chains, discount=discount, cost=cost, normalised=normalised)
    return solve(
        reachable_part(problem) if pairs == "reachable" else problem,
        solver,
        tol=tol,
        max_steps=max_steps,
        time_limit=time_limit,
        throw=throw,
        on_step=on_step,
    )

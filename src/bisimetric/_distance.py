"""The shortest way from two models to their distance."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from bisimetric.cost import Cost
from bisimetric.errors import InvalidOption
from bisimetric.operators.reachable import reachable_part
from bisimetric.problems.discounted import Problem
from bisimetric.readers.convert import as_chain
from bisimetric.solvers import PolicyIteration, Solver
from bisimetric.solving.loop import solve
from bisimetric.solving.solution import Solution

PAIRS = ("all", "reachable")


def distance(
    source: Any,
    target: Any,
    *,
    discount: float,
    cost: npt.ArrayLike | Cost | None = None,
    normalised: bool = False,
    solver: Solver[Any] = PolicyIteration(),  # noqa: B008
    tol: float | None = None,
    pairs: str = "all",
) -> Solution:
    """The certified distances between two chains, or anything that `as_chain` takes.

    pairs="reachable" computes only what the distance between the starts depends on, which is faster where few pairs of
    states can be reached from there. `solution.problem.unsolved` marks the other pairs, whose value and bounds are NaN.

    >>> import bisimetric as bm
    >>> solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    >>> round(solution.distance, 10)
    0.4355817651
    """
    if pairs not in PAIRS:
        raise InvalidOption(f"pairs is {pairs!r}, expected one of {', '.join(map(repr, PAIRS))}")
    problem = Problem(as_chain(source), as_chain(target), discount=discount, cost=cost, normalised=normalised)
    return solve(reachable_part(problem) if pairs == "reachable" else problem, solver, tol=tol)

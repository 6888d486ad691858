"""From a problem and a solver to a certified solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import overload

import numpy.typing as npt

from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.solvers import by_name
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.kinds import KINDS
from bisimetric.solving.loop import checked_options, run
from bisimetric.solving.solution import Answer, Solution, Step


@overload
def solve(
    problem: Problem,
    solver: AnySolver | str | None = None,
    *,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    initial: npt.ArrayLike | Solution | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
    quotient: bool = True,
) -> Solution: ...


@overload
def solve(
    problem: Game,
    solver: AnySolver | str | None = None,
    *,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    initial: None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
    quotient: bool = True,
) -> MDPSolution: ...


def solve(
    problem: Problem | Game,
    solver: AnySolver | str | None = None,
    *,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    initial: npt.ArrayLike | Solution | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
    quotient: bool = True,
) -> Answer:
    """Solve a problem to a certified relative gap of `tol`.

    Parameters
    ----------
    problem : Problem
        Two chains, a cost and a discount.
    solver : Solver or str, optional
        A solver with its options, or the name of one (`bisimetric solvers` lists them); the exact `PolicyIteration()`
        by default.
    tol : float, optional
        Relative gap to reach: max(upper - lower) / max(upper). By default the solver's own, 1e-9 for exact solvers;
        approximate ones run their rounds. An explicit tolerance that is missed raises.
    max_steps : int, optional
        Steps after which to give up; by default the solver's own limit.
    time_limit : float, optional
        Seconds after which to give up, as soon as the work in hand can be certified.
    initial : array [n, m] or Solution, optional
        A guess of the distances, or the solution of a similar problem. It saves time, and changes nothing where
        `solver.uses_initial` is False, which is `LinearProgram` only.
    throw : bool, default True
        Raise when an explicit tolerance is missed and on Ctrl-C. With False the solution is returned, and its status
        says how the solve ended.
    on_step : callable, optional
        Called with a `Step` after every step.
    quotient : bool, default True
        Solve classes of bisimilar states instead of states where that at least halves the work.

    Returns
    -------
    Solution
        Distances between all states with certified bounds, and the coupling that explains them.

    Raises
    ------
    ToleranceNotReached
        An explicit `tol` was missed; `error.solution` holds what was reached.
    SolveInterrupted
        Ctrl-C; `error.solution` holds the certified solution so far.

    Examples
    --------
    >>> import bisimetric as bm
    >>> flip = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1], start=0)
    >>> stay = bm.MarkovChain([[0.9, 0.1], [0.1, 0.9]], reward=[0, 1], start=0)
    >>> solution = bm.solve(bm.Problem(flip, stay, discount=0.9))
    >>> round(solution.distance, 6)
    3.6
    """
    kind = next((KINDS[base] for base in type(problem).__mro__ if base in KINDS), None)
    if kind is None:
        raise InvalidProblem(f"problem is a {type(problem).__name__}, expected a Problem; distance(...) makes one")
    chosen = kind.default_solver if solver is None else by_name(solver)
    if chosen.operates_on is not kind.default_solver.operates_on:
        raise InvalidOption(f"{chosen.name} does not solve a {type(problem).__name__}; leave solver=None")
    options = checked_options(chosen, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step)
    question = kind(problem, chosen, quotient=quotient)
    answer: Answer = run(question, options, question.guess(initial))
    return answer

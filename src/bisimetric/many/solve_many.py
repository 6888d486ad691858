"""Solve many problems in one call: small ones together, in few compiled calls; the others one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

from bisimetric._support.options import flag, function_or_none, seconds_of, whole
from bisimetric._support.threads import deadline
from bisimetric.errors import InvalidOption, InvalidProblem, ManyInterrupted, ProblemFailed, ToleranceNotReached
from bisimetric.many.work import Work, failure
from bisimetric.problems.discounted import Problem
from bisimetric.solvers import by_name
from bisimetric.solvers.base import AnySolver, checked_tol
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.kinds import KINDS
from bisimetric.solving.solve import kind_and_solver


def solve_many(
    problems: Iterable[Any],
    solver: AnySolver | str | None = None,
    *,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    throw: bool = True,
    on_solution: Callable[[int, Any], None] | None = None,
) -> list[Any]:
    """Solve many problems, each to a certified relative gap of `tol`.

    Problems of up to 64 pairs of states are solved side by side in few compiled calls, which threads share. For chains
    of four states that takes about a fifth of the time of a loop over `distance`. Their steps are taken inside those
    calls, so there is no `on_step`; `on_solution` tells the progress.

    Parameters
    ----------
    problems : iterable of Problem
        Or of other problems that `solve` takes.
    solver : Solver or str, optional
        As for `solve`. Only the default, `PolicyIteration()`, solves problems side by side.
    tol : float, optional
        As for `solve`, for every problem.
    max_steps : int, optional
        As for `solve`, for every problem. With it problems are solved one after the other.
    time_limit : float, optional
        Seconds for all problems together; the call ends at most 0.1 s later, or a fifth of the limit if that is more,
        and a second or two for every million problems. Those that are not solved by then have the status TIME_LIMIT and
        the interval that was proved by then; where no time was left to begin, what holds before any step, computed when
        it is read.
    throw : bool, default True
        Raise when a problem misses an explicit tolerance, after all are solved. With False their statuses tell; a
        problem that fails has none and raises all the same.
    on_solution : function of a number and a Solution, optional
        Called for every problem with its place in the list, after it, or after some thousands of small ones.

    Returns
    -------
    list of Solution
        In the order of the problems. The steps in `history` of a problem that was solved beside others all have the
        time at which the last of these was solved.

    Raises
    ------
    ToleranceNotReached
        A problem missed the tolerance that was given; `error.solutions` has all solutions, `error.solution` the first
        that missed it.
    ProblemFailed
        A problem cannot be solved, whatever `throw` is, after all others are; `error.solutions` has theirs, None in the
        places of those that failed, and `error.failures` the errors by place. A problem that no time was left for
        raises it when its solution is read.
    ManyInterrupted
        Ctrl-C; `error.solutions` has those that are finished, None in the places of the others.
    InvalidProblem
        An entry of the list is no problem; the message has its place, and nothing is solved.
    InvalidOption
        The same for a solver that solves no such problem.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    >>> slower = [bm.MarkovChain([[p, 1 - p], [0, 1]], reward=[0, 1], start=0) for p in (0.6, 0.7, 0.8)]
    >>> solutions = bm.solve_many([bm.Problem(chain, other, discount=0.9) for other in slower])
    >>> [round(solution.distance, 4) for solution in solutions]
    [0.3557, 0.8845, 1.7532]
    """
    if isinstance(problems, (str, bytes, Problem)) or not isinstance(problems, Iterable):
        raise InvalidOption(f"problems is a {type(problems).__name__}, expected a list of problems")
    function_or_none(on_solution, "on_solution")
    flag(throw, "throw")
    chosen = None if solver is None else by_name(solver)
    asked = _checked(problems, chosen)
    goal = checked_tol(tol, chosen or PolicyIteration())
    steps = None if max_steps is None else whole(max_steps, "max_steps", at_least=1)
    work = Work(asked, chosen, goal if tol is not None else None, steps, on_solution)
    try:
        with nullcontext() if time_limit is None else deadline(seconds_of(time_limit)):
            work.run()
    except KeyboardInterrupt:
        done = sum(found is not None for found in work.found)
        raise ManyInterrupted(
            f"interrupted after {done} of {len(asked)} problems; they are in error.solutions", work.found
        ) from None
    _raise_if_failed(work)
    if throw and tol is not None:
        _raise_if_missed(work, tol)
    return work.found


def _checked(problems: Iterable[Any], solver: AnySolver | None) -> list[Any]:
    """The problems as a list; raises at the first entry that is none, or that the solver does not fit."""
    asked, kinds, fitting = list(problems), tuple(KINDS), set[type]()
    for k, problem in enumerate(asked):
        if type(problem) in fitting:
            continue
        if not isinstance(problem, kinds):
            raise InvalidProblem(
                f"problems[{k}] is a {type(problem).__name__}, expected a Problem(source, target, discount=...)"
            )
        try:
            kind_and_solver(problem, solver)
        except InvalidOption as error:
            raise InvalidOption(f"problems[{k}]: {error}") from None
        fitting.add(type(problem))
    return asked


def _raise_if_failed(work: Work) -> None:
    if not work.failures:
        return
    first = min(work.failures)
    raise ProblemFailed(
        f"{failure(first, work.failures[first])}; {len(work.failures)} of {len(work.found)} problems failed, "
        "error.solutions has the others",
        work.found,
        dict(sorted(work.failures.items())),
    ) from work.failures[first]


def _raise_if_missed(work: Work, tol: float) -> None:
    missed = sorted([*work.missed, *work.late])
    if not missed:
        return
    first, solutions = missed[0], work.found
    late = first in set(work.late)  # its gap would take time
    reached = "for which no time was left" if late else f"with {solutions[first].relative_gap:.2g}"
    raise ToleranceNotReached(
        f"{len(missed)} of {len(solutions)} problems missed the relative gap of {tol:g}; the first is "
        f"problems[{first}] {reached}; raise tol or time_limit, or take error.solutions",
        solutions[first],
        solutions=solutions,
    )

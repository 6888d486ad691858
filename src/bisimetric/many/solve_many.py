"""Solve many problems in one call: small ones together, in few compiled calls; the others one after the other."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext, suppress
from typing import Any

from bisimetric._support.blocks import for_each_block, one_thread
from bisimetric._support.options import flag, function_or_none, seconds_of, whole
from bisimetric._support.threads import DEADLINE, OutOfTime, deadline, no_deadline, seconds_left
from bisimetric.errors import BisimetricError, InvalidOption, InvalidProblem, ManyInterrupted, ToleranceNotReached
from bisimetric.many.batch import batches, fitting
from bisimetric.operators.bellman import is_immediate
from bisimetric.problems.discounted import Problem
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solvers import by_name
from bisimetric.solvers.base import AnySolver, checked_tol
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.history import Status
from bisimetric.solving.kinds import KINDS
from bisimetric.solving.side_by_side import ManySolutions
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

NO_TIME = 1e-9  # seconds, for what nothing is to be computed for
PROBLEMS_OF_A_WAVE = 2**13  # that threads share before `on_solution` is called for them: about half a second


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
        Seconds for all problems together. Those that are not solved by then have the status TIME_LIMIT, and the
        interval that was proved by then; where no time was left to begin, what holds before any step, computed when it
        is read.
    throw : bool, default True
        Raise when a problem misses an explicit tolerance, after all are solved. With False their statuses tell.
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
    ManyInterrupted
        Ctrl-C; `error.solutions` has those that are finished, None in the places of the others.
    InvalidProblem
        An entry of the list is no problem; the message has its place.

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
    asked = _checked(problems)
    chosen = None if solver is None else by_name(solver)
    goal = checked_tol(tol, chosen or PolicyIteration())
    steps = None if max_steps is None else whole(max_steps, "max_steps", at_least=1)
    work = _Work(asked, chosen, goal if tol is not None else None, steps, on_solution)
    try:
        with nullcontext() if time_limit is None else deadline(seconds_of(time_limit)):
            work.run()
    except KeyboardInterrupt:
        done = sum(found is not None for found in work.found)
        raise ManyInterrupted(
            f"interrupted after {done} of {len(asked)} problems; they are in error.solutions", work.found
        ) from None
    if throw and tol is not None:
        _raise_if_missed(work.found, sorted(work.missed), tol)
    return work.found


def _checked(problems: Iterable[Any]) -> list[Any]:
    """The problems as a list; raises at the first entry that is none."""
    asked, kinds = list(problems), tuple(KINDS)
    for k, problem in enumerate(asked):
        if not isinstance(problem, kinds):
            raise InvalidProblem(
                f"problems[{k}] is a {type(problem).__name__}, expected a Problem(source, target, discount=...)"
            )
    return asked


class _Work:
    """One call: the solutions found so far, by the place of their problem."""

    def __init__(
        self,
        problems: Sequence[Any],
        solver: AnySolver | None,
        tol: float | None,
        max_steps: int | None,
        on_solution: Callable[[int, Any], None] | None,
    ) -> None:
        self._problems = problems
        self._solver = solver
        self._tol = tol
        self._max_steps = max_steps
        self._on_solution = on_solution
        self.found: list[Any] = [None] * len(problems)
        self._last: tuple[int, Any] | None = None  # the last answer without time, and its place
        self.missed: list[int] = []  # problems that were not solved to the tolerance

    def run(self) -> None:
        """Solve what fits into batches, then the rest; what is not solved before the deadline is known a priori."""
        if (self._solver is None or self._solver == PolicyIteration()) and self._max_steps is None:
            for first in range(0, len(self._problems), PROBLEMS_OF_A_WAVE):
                if seconds_left() <= 0.0:
                    break
                wave = range(first, min(first + PROBLEMS_OF_A_WAVE, len(self._problems)))
                self._solve_batches(list(batches(self._problems, fitting(self._problems, wave))))
        for k, found in enumerate(self.found):
            if found is None:
                self._solve_alone(k)

    def _solve_batches(self, together: Sequence[tuple[list[int], ManyProblems]]) -> None:
        """Solve batches by several threads, each with all of its Python code: it runs while others are in kernels.

        Every answer is kept as soon as it is there, so that nothing that ends the work loses it.
        """
        unsolved: list[dict[int, Solution] | None] = [None] * len(together)  # by place; None for batches without answer
        until = DEADLINE.get()  # helpers do not know it

        def work(first: int, last: int) -> None:
            with one_thread(), deadline(until - time.perf_counter()):
                for k in range(first, last):
                    unsolved[k] = self._solve_batch(*together[k])

        with suppress(OutOfTime):
            for_each_block(work, len(together), largest=1)
        for (places, _), left in zip(together, unsolved, strict=True):
            if left is None:
                continue
            for place in places:
                if place in left:
                    self._solve_alone(place, initial=left[place])
                else:
                    self._tell(place)

    def _solve_batch(self, places: list[int], problems: ManyProblems) -> dict[int, Solution]:
        """Keep what is solved, and after a deadline what is known; returns the others, by their places."""
        tol = PolicyIteration.default_tol if self._tol is None else self._tol
        try:
            answer: ManySolutions = solve(problems, tol=tol)
        except ToleranceNotReached as missed:  # by some of them
            answer = missed.solution
        unsolved, late = set(answer.unsolved()), answer.status is Status.TIME_LIMIT
        left = {}
        for k, (place, solution) in enumerate(zip(places, answer.solutions(), strict=True)):
            if k in unsolved and not late:
                left[place] = solution
            else:
                self._keep(place, solution, reached=k not in unsolved)
        return left

    def _solve_alone(self, k: int, initial: Any = None) -> None:
        left = seconds_left()
        if left <= 0.0 and initial is not None:
            self._keep(k, initial, reached=False)
        elif left <= 0.0 and type(self._problems[k]) is Problem:
            reached = self._tol is None or is_immediate(self._problems[k])
            self._keep(k, Solution.later(self._late, k), reached=reached)
        else:
            solution = self._answer(k, None if left == math.inf else max(left, NO_TIME), initial)
            self._keep(k, solution, reached=self._tol is None or solution.reached_tol)
        self._tell(k)

    def _answer(self, k: int, seconds: float | None, initial: Any = None) -> Any:
        try:
            with no_deadline():  # the solve has it as its own limit, and gives an answer
                return solve(
                    self._problems[k], self._solver, tol=self._tol, max_steps=self._max_steps, time_limit=seconds,
                    initial=initial,
                )  # fmt: skip
        except ToleranceNotReached as missed:
            return missed.solution
        except BisimetricError as error:
            error.add_note(f"problems[{k}]")
            raise

    def _late(self, k: int, name: str) -> Any:
        """A field of what is known of a problem for which no time was left; those of one are asked for together."""
        if self._last is None or self._last[0] != k:
            self._last = k, self._answer(k, NO_TIME)
        return {name: getattr(self._last[1], name)}

    def _keep(self, k: int, solution: Any, *, reached: bool) -> None:
        self.found[k] = solution
        if not reached:
            self.missed.append(k)

    def _tell(self, k: int) -> None:
        if self._on_solution is not None:
            with no_deadline():
                self._on_solution(k, self.found[k])


def _raise_if_missed(solutions: list[Any], missed: list[int], tol: float) -> None:
    if missed:
        raise ToleranceNotReached(
            f"{len(missed)} of {len(solutions)} problems missed the relative gap of {tol:g}; the first is "
            f"problems[{missed[0]}] with {solutions[missed[0]].relative_gap:.2g}; raise tol or time_limit, or take "
            "error.solutions",
            solutions[missed[0]],
            solutions=solutions,
        )

"""The work of one call of `solve_many`: batches, single problems, and what no time is left for."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from bisimetric._support.blocks import for_each_block, one_thread
from bisimetric._support.threads import DEADLINE, OutOfTime, deadline, no_deadline, seconds_left
from bisimetric.errors import ProblemFailed, ToleranceNotReached
from bisimetric.many.batch import batches, fitting
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solvers.base import AnySolver
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.history import Status
from bisimetric.solving.side_by_side import ManySolutions
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import kind_and_solver, solve

NO_TIME = 1e-9  # seconds, for what nothing is to be computed for
PROBLEMS_OF_A_WAVE = 2**13  # that threads share before `on_solution` is called for them: about half a second


class Work:
    """One call: what was found so far, by the place of its problem."""

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
        self.failures: dict[int, Exception] = {}
        self.missed: list[int] = []  # problems that were not solved to the tolerance
        self.late: Sequence[int] = ()  # problems that no time was left for

    def run(self) -> None:
        """Solve what fits into batches, then the rest; after the deadline, what is left is put off until it is read."""
        if (self._solver is None or self._solver == PolicyIteration()) and self._max_steps is None:
            for first in range(0, len(self._problems), PROBLEMS_OF_A_WAVE):
                if seconds_left() <= 0.0:
                    break
                wave = range(first, min(first + PROBLEMS_OF_A_WAVE, len(self._problems)))
                self._solve_batches(list(batches(self._problems, fitting(self._problems, wave))))
        left = [k for k, found in enumerate(self.found) if found is None and k not in self.failures]
        for done, k in enumerate(left):
            if seconds_left() <= 0.0:
                self._put_off(left[done:])
                break
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

    def _solve_batch(self, places: list[int], problems: ManyProblems) -> dict[int, Solution] | None:
        """Keep what is solved, and after a deadline what is known; returns the others, by their places.

        None if the batch fails: its problems are then solved alone, so that a failure has its place.
        """
        tol = PolicyIteration.default_tol if self._tol is None else self._tol
        try:
            answer: ManySolutions = solve(problems, tol=tol)
        except ToleranceNotReached as missed:  # by some of them
            answer = missed.solution
        except OutOfTime:
            raise
        except Exception:
            return None
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
        else:
            try:
                solution = self._answer(k, None if left == math.inf else max(left, NO_TIME), initial)
            except Exception as error:  # the others have nothing to do with it
                self.failures[k] = error
                return
            self._keep(k, solution, reached=self._tol is None or solution.reached_tol)
        self._tell(k)

    def _put_off(self, places: Sequence[int]) -> None:
        """Answer with what is computed when somebody reads it."""
        self.late = places
        one_of_each = {type(self._problems[k]): self._problems[k] for k in places}
        answers = {kind: kind_and_solver(one, None)[0].answers for kind, one in one_of_each.items()}
        make = self._late
        for k in places:
            self.found[k] = answers[type(self._problems[k])].later(make, k)
            self._tell(k)

    def _late(self, k: int, name: str) -> dict[str, Any]:
        """All fields of what is known of a problem without a solve, of which one is read."""
        try:
            found: dict[str, Any] = vars(self._answer(k, NO_TIME))
        except Exception as error:
            raise ProblemFailed(failure(k, error), failures={k: error}) from error
        return found

    def _answer(self, k: int, seconds: float | None, initial: Any = None) -> Any:
        try:
            with no_deadline():  # the solve has it as its own limit, and gives an answer
                return solve(
                    self._problems[k], self._solver, tol=self._tol, max_steps=self._max_steps, time_limit=seconds,
                    initial=initial,
                )  # fmt: skip
        except ToleranceNotReached as missed:
            return missed.solution

    def _keep(self, k: int, solution: Any, *, reached: bool) -> None:
        self.found[k] = solution
        if not reached:
            self.missed.append(k)

    def _tell(self, k: int) -> None:
        if self._on_solution is not None:
            with no_deadline():
                self._on_solution(k, self.found[k])


def failure(k: int, error: Exception) -> str:
    """Which problem failed, and why."""
    return f"problems[{k}]: {type(error).__name__}: {error}"

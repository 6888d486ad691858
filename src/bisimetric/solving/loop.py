"""The only loop: it owns the clock, the stopping rule, the callback and the interrupt.

A solver proposes iterates with its own idea of the gap. When that is within the tolerance the checker is
asked, and only its word counts: a failed check means going on. Approximate solvers have no idea of their gap; the
checker looks at some of their rounds, and they end when all are run. The loop ends with a status, and raises only
when an explicit tolerance was missed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Generic, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import as_float, is_positive, shown, whole
from bisimetric.certificates.certify import Certificate, ListedCertificate, checked_guess
from bisimetric.errors import InvalidOption, InvalidProblem, SolveInterrupted, ToleranceNotReached
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.solvers import GameIteration, Iterate, PolicyIteration, Solver
from bisimetric.solvers.base import NOISE, NOTHING, PROGRESS
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.solution import Solution, Status, Step
from bisimetric.solving.task import AnyAnswer, ChainTask, GameTask, Task

SOLVERS_NOISE = 128 * UNIT_ROUNDOFF  # as NOISE: what a solver's own tolerances let be, and the checker does not have
REMEDIES = {  # for a missed tolerance
    Status.STEP_LIMIT: "raise max_steps",
    Status.STALLED: "raise tol",
    Status.COMPLETED: "raise tol, give the solver more rounds, or use PolicyIteration()",
}


def solve(
    problem: Problem,
    solver: Solver[Any] = PolicyIteration(),  # noqa: B008
    *,
    tol: float | None = None,
    max_steps: int | None = None,
    initial: npt.ArrayLike | Solution | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
    quotient: bool = True,
) -> Solution:
    """Solve a problem to a certified relative gap of `tol`.

    None stands for the solver's own default. An explicit `tol` that is missed raises `ToleranceNotReached`,
    Ctrl-C raises `SolveInterrupted`; both carry the certified solution, and with throw=False it is returned
    with its status instead. `initial` is a guess of the distances, or the solution of a similar problem; it changes
    nothing where `solver.uses_initial` is False, which is `LinearProgram` only.
    `on_step` is called after every step. Where bisimilar states at least halve the work, classes of them are solved
    instead of states; quotient=False prevents that.
    """
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"problem is a {type(problem).__name__}, expected a Problem; distance(...) makes one")
    goal = checked_tol(tol, solver)
    limit = _checked_max_steps(max_steps, solver)
    guess = _checked_initial(initial, problem)
    task = ChainTask(problem, open_pairs=solver.open_pairs, quotient=quotient and solver.on_classes)
    return run_task(task, _Options(solver, goal, limit, on_step, throw, tol is not None), guess)


def solve_game(
    game: Game,
    solver: Solver[Any] = GameIteration(),  # noqa: B008
    *,
    tol: float | None = None,
    max_steps: int | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
) -> MDPSolution:
    """Solve a game between decision processes; options and promises are those of `solve`."""
    goal = checked_tol(tol, solver)
    limit = _checked_max_steps(max_steps, solver)
    return run_task(GameTask(game), _Options(solver, goal, limit, on_step, throw, tol is not None))


class _Options(NamedTuple):
    solver: Solver[Any]
    tol: float
    max_steps: int
    on_step: Callable[[Step], None] | None
    throw: bool
    promised: bool  # the tolerance is the caller's


def run_task(task: Task[AnyAnswer], options: _Options, guess: Floats | None = None) -> AnyAnswer:
    """The answer to a task; raises when a promise was missed or the solve was interrupted."""
    if task.is_immediate():
        return task.immediate(options.solver.name).aimed_at(options.tol)
    run = _Run(task, options)
    try:
        run = run.on_classes()
        status = run.to_the_end(guess)
        solution = run.solution(status)
    except KeyboardInterrupt:
        if options.throw:
            raise SolveInterrupted(
                "interrupted; the certified solution so far is on this exception: error.solution",
                lambda: run.solution(Status.INTERRUPTED),
            ) from None
        status = Status.INTERRUPTED
        solution = run.solution(status)
    if options.throw and options.promised and status in REMEDIES:
        remedy = REMEDIES[status]
        raise ToleranceNotReached(
            f"relative gap {solution.relative_gap:.2g} after {len(solution.history)} steps, asked for {options.tol:g}: "
            f"{status.value}; {remedy}, or take error.solution",
            solution,
        )
    return solution


class _Run(Generic[AnyAnswer]):
    """One solve under way: the current iterate is always one that the checker can certify."""

    def __init__(self, task: Task[AnyAnswer], options: _Options) -> None:
        self._task = task
        self._options = options
        self._began = time.perf_counter()
        self._history: list[Step] = []
        self._iterate: Iterate | None = None  # before the first sweep is over
        self._certificate: Certificate | ListedCertificate | None = (
            None  # of the current iterate, if it has been checked
        )

    def on_classes(self) -> _Run[AnyAnswer]:
        """The same run with classes of bisimilar states, if that pays; else this one."""
        task = self._task.on_classes(self._options.tol)
        if task is self._task:
            return self
        run = _Run(task, self._options)
        run._began = self._began
        return run

    def to_the_end(self, guess: Floats | None) -> Status:
        """Step until solved, stalled or out of steps."""
        solver, bellman = self._options.solver, self._task.bellman
        iterate = self._accept(solver.init(bellman, self._task.start(guess), self._options.tol))
        best, idle = math.inf, 0
        patience = solver.patience(bellman.discount)
        while True:
            if self._is_solved(iterate):
                return Status.SOLVED
            if iterate.finished:
                return Status.COMPLETED
            progress = iterate.gap < PROGRESS * best and not self._is_rounding(iterate, NOTHING)
            best, idle = (iterate.gap, 0) if progress else (best, idle + 1)
            if idle >= patience and patience and self._is_rounding(iterate, NOISE):
                return Status.STALLED
            if len(self._history) >= self._options.max_steps:
                return Status.STEP_LIMIT
            self._certificate = None  # a step changes trees in place, and may be interrupted
            after = solver.step(bellman, iterate)
            if after is iterate:  # the solver has nothing more to do: rounding is all that is left
                return Status.STALLED
            iterate = self._accept(after)

    def solution(self, status: Status) -> AnyAnswer:
        """The certified solution at the current iterate."""
        iterate = self._iterate
        if iterate is None:
            certificate = self._task.a_priori()
        else:
            if self._certificate is None:
                iterate = self._iterate = self._options.solver.measured(self._task.bellman, iterate)
                self._certificate = self._task.check(iterate)
            # An interrupted sweep has changed the trees already: they still couple, but the iterate's estimate is
            # void.
            estimate = None if status is Status.INTERRUPTED else iterate.estimate()
            iterate = self._iterate = iterate.at_rest()
            certificate = self._certificate.around(estimate, self._task.bellman.scale)
        answer = self._task.answer(self._options.solver.name, status, tuple(self._history), certificate, iterate)
        return answer.aimed_at(self._options.tol)

    def _accept(self, iterate: Iterate) -> Iterate:
        self._iterate, self._certificate = iterate, None
        diagnostics: tuple[float | None, ...] = ()
        if iterate.due:
            iterate = self._look(iterate)
            diagnostics = iterate.diagnostics()
        seconds = time.perf_counter() - self._began
        step = Step(len(self._history) + 1, iterate.gap / self._task.bellman.scale, seconds, *diagnostics)
        self._history.append(step)
        if self._options.on_step is not None:
            self._options.on_step(step)
        return iterate

    def _look(self, iterate: Iterate) -> Iterate:
        """The iterate of an approximate solver with the gap that the checker finds."""
        iterate = self._options.solver.measured(self._task.bellman, iterate)
        certificate = self._task.check(iterate)
        iterate = replace(iterate, gap=certificate.gap * self._task.bellman.scale)
        self._iterate, self._certificate = iterate, certificate
        return iterate

    def _is_rounding(self, iterate: Iterate, noise: float) -> bool:
        """Whether the gap is no larger than a residual of this span, relative to the largest value, makes it."""
        discount: float = self._task.bellman.discount
        return iterate.gap * (1.0 - discount) <= noise * discount * iterate.largest

    def _is_solved(self, iterate: Iterate) -> bool:
        """Whether the checker finds the gap within the tolerance; asked when the solver believes it or sees noise."""
        tol = self._options.tol
        likely = iterate.gap <= tol * iterate.largest or self._is_rounding(iterate, SOLVERS_NOISE)
        if self._certificate is None and likely:
            self._certificate = self._task.check(iterate)
        return self._certificate is not None and self._certificate.relative_gap <= tol


def checked_tol(tol: object, solver: Solver[Any]) -> float:
    """The relative gap to reach: the solver's own unless one is given."""
    if not isinstance(solver, Solver):
        raise InvalidOption(f"solver is {solver!r}, expected a solver object such as PolicyIteration()")
    if tol is None:
        return solver.default_tol
    if not is_positive(tol):
        raise InvalidOption(f"tol is {shown(tol)}, expected a positive number such as 1e-6: it bounds the relative gap")
    return as_float(tol)


def _checked_max_steps(max_steps: object, solver: Solver[Any]) -> int:
    if max_steps is None:
        return solver.default_max_steps
    return whole(max_steps, "max_steps", at_least=1)


def _checked_initial(initial: object, problem: Problem) -> Floats | None:
    if initial is None:
        return None
    if isinstance(initial, Solution):
        unsolved, initial = initial.problem.unsolved, initial.value
        if unsolved is not None and initial.shape == problem.shape:
            initial = np.where(unsolved, problem.cost, initial)
    return checked_guess(problem, initial, "initial")

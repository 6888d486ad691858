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
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._bellman import Bellman
from bisimetric._certificate import Certificate, a_priori, check, immediate, is_immediate, scaled_guess
from bisimetric._coupling import IndependentWitness, TreeWitness
from bisimetric._errors import InvalidOption, InvalidProblem, SolveInterrupted, ToleranceNotReached
from bisimetric._problem import Problem
from bisimetric._solution import Solution, Status, Step
from bisimetric._stochastic import Floats, real_array
from bisimetric.solvers import Iterate, PolicyIteration, Solver
from bisimetric.solvers.base import PROGRESS

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
) -> Solution:
    """Solve a problem to a certified relative gap of `tol`.

    None stands for the solver's own default. An explicit `tol` that is missed raises `ToleranceNotReached`,
    Ctrl-C raises `SolveInterrupted`; both carry the certified solution, and with throw=False it is returned
    with its status instead. `initial` is a guess of the distances, or the solution of a similar problem.
    `on_step` is called after every step.
    """
    if not isinstance(problem, Problem):
        raise InvalidProblem(f"problem is a {type(problem).__name__}, expected a Problem; distance(...) makes one")
    goal = _checked_tol(tol, solver)
    limit = _checked_max_steps(max_steps, solver)
    guess = _checked_initial(initial, problem)
    if is_immediate(problem):
        return _solution_without_solver(problem, solver)
    run = _Run(problem, solver, goal, limit, on_step)
    try:
        status = run.to_the_end(guess)
        solution = run.solution(status)
    except KeyboardInterrupt:
        if throw:
            raise SolveInterrupted(
                "interrupted; the certified solution so far is on this exception: error.solution",
                lambda: run.solution(Status.INTERRUPTED),
            ) from None
        status = Status.INTERRUPTED
        solution = run.solution(status)
    if throw and tol is not None and status in REMEDIES and not solution.relative_gap <= tol:
        remedy = REMEDIES[status]
        raise ToleranceNotReached(
            f"relative gap {solution.relative_gap:.2g} after {len(solution.history)} steps, asked for {tol:g}: "
            f"{status.value}; {remedy}, or take error.solution",
            solution,
        )
    return solution


class _Run:
    """One solve under way: the current iterate is always one that the checker can certify."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver[Any],
        tol: float,
        max_steps: int,
        on_step: Callable[[Step], None] | None,
    ) -> None:
        self._problem = problem
        self._solver = solver
        self._tol = tol
        self._max_steps = max_steps
        self._on_step = on_step
        self._began = time.perf_counter()
        self._history: list[Step] = []
        self._bellman = Bellman.of(problem)
        cost = self._bellman.scaled_cost()
        self._iterate = Iterate(cost, IndependentWitness(self._bellman), math.inf)
        self._certificate: Certificate | None = None  # of the current iterate, if it has been checked

    def to_the_end(self, guess: Floats | None) -> Status:
        """Step until solved, stalled or out of steps."""
        start = None if guess is None else scaled_guess(self._bellman, guess)
        self._accept(self._solver.init(self._bellman, start))
        best, idle = math.inf, 0
        patience = self._solver.patience(self._problem.discount)
        while True:
            gap = self._iterate.gap
            if self._iterate.due:
                assert self._certificate is not None
                if self._certificate.relative_gap <= self._tol:
                    return Status.SOLVED
            elif patience and gap <= self._tol * float(np.abs(self._iterate.value).max()) and self._certified():
                return Status.SOLVED
            if self._iterate.finished:
                return Status.COMPLETED
            best, idle = (gap, 0) if gap < PROGRESS * best else (best, idle + 1)
            if idle >= patience and patience:
                return Status.STALLED
            if len(self._history) >= self._max_steps:
                return Status.STEP_LIMIT
            self._certificate = None  # a step changes trees in place, and may be interrupted
            after = self._solver.step(self._bellman, self._iterate)
            if after is self._iterate:  # the solver has nothing more to do
                return Status.STALLED
            self._accept(after)

    def solution(self, status: Status) -> Solution:
        """The certified solution at the current iterate."""
        iterate = self._iterate
        if math.isinf(iterate.gap):  # interrupted before the first sweep was over
            self._certificate = a_priori(self._problem, self._bellman)
        if self._certificate is None:
            iterate = self._iterate = self._solver.measured(self._bellman, iterate)
            self._certificate = check(self._problem, self._bellman, iterate.value, iterate.witness)
        # An interrupted sweep has changed the trees already: they still couple, but the iterate's estimate is
        # void.
        estimate = None if status is Status.INTERRUPTED else iterate.estimate()
        certificate = self._certificate.around(estimate, self._bellman.scale)
        witness = iterate.witness
        if isinstance(witness, TreeWitness):  # the evaluation's copy of the couplings is not needed any more
            nothing = np.empty(0)
            witness = TreeWitness(
                self._bellman,
                witness.value,
                witness.trees._replace(target=nothing.astype(np.int32), weight=nothing),
            )
        return Solution(
            self._problem,
            self._solver.name,
            status,
            tuple(self._history),
            certificate,
            witness,
            iterate.value,
            self._bellman.scale,
        )

    def _accept(self, iterate: Iterate) -> None:
        self._iterate, self._certificate = iterate, None
        if iterate.due:
            self._look()
            iterate = self._iterate
        facts = iterate.facts() if iterate.due else ()
        seconds = time.perf_counter() - self._began
        step = Step(len(self._history) + 1, iterate.gap / self._bellman.scale, seconds, *facts)
        self._history.append(step)
        if self._on_step is not None:
            self._on_step(step)

    def _look(self) -> None:
        """Let the checker measure the gap of an approximate solver."""
        iterate = self._solver.measured(self._bellman, self._iterate)
        certificate = check(self._problem, self._bellman, iterate.value, iterate.witness)
        self._iterate, self._certificate = replace(iterate, gap=certificate.gap * self._bellman.scale), certificate

    def _certified(self) -> bool:
        self._certificate = check(self._problem, self._bellman, self._iterate.value, self._iterate.witness)
        return self._certificate.relative_gap <= self._tol


def _solution_without_solver(problem: Problem, solver: Solver[Any]) -> Solution:
    """V = c: no future or no cost, so any coupling is optimal."""
    bellman = Bellman.of(problem)
    return Solution(
        problem,
        solver.name,
        Status.SOLVED,
        (),
        immediate(problem),
        IndependentWitness(bellman),
        problem.cost,
        1.0,
    )


def _checked_tol(tol: object, solver: Solver[Any]) -> float:
    if not isinstance(solver, Solver):
        raise InvalidOption(f"solver is {solver!r}, expected a solver object such as PolicyIteration()")
    if tol is None:
        return solver.default_tol
    if isinstance(tol, bool) or not isinstance(tol, (int, float, np.floating, np.integer)) or not 0 < tol < math.inf:
        raise InvalidOption(f"tol is {tol!r}, expected a positive number such as 1e-6: it bounds the relative gap")
    return float(tol)


def _checked_max_steps(max_steps: object, solver: Solver[Any]) -> int:
    if max_steps is None:
        return solver.default_max_steps
    if isinstance(max_steps, bool) or not isinstance(max_steps, (int, np.integer)) or max_steps < 1:
        raise InvalidOption(f"max_steps is {max_steps!r}, expected a whole number ≥ 1")
    return int(max_steps)


def _checked_initial(initial: object, problem: Problem) -> Floats | None:
    if initial is None:
        return None
    guess = initial.value if isinstance(initial, Solution) else real_array(initial, "initial", InvalidProblem, ndim=2)
    if guess.shape != problem.shape:
        raise InvalidProblem(f"initial has shape {guess.shape}, expected {problem.shape}")
    return guess

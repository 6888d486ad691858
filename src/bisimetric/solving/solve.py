"""From a problem and a solver to a certified solution: the one door, and the only loop behind it.

The loop owns the clock, the stopping rule, the callback and the interrupt. A solver proposes iterates, each with an
estimate of its gap. When that estimate is within the tolerance the loop asks the checker, and only the checker
decides: after a failed check the solver goes on. Approximate solvers do not know their gap; the checker looks at some
of their rounds, and they end when all are run. The loop ends with a status, and raises only when an explicit tolerance
was missed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any, Generic, Unpack, overload

import numpy.typing as npt

from bisimetric._support.compiling import COMPILING
from bisimetric._support.options import flag
from bisimetric._support.threads import DEADLINE, OutOfTime, no_deadline
from bisimetric._support.watching import WATCHER
from bisimetric.certificates.interval import Bounds
from bisimetric.errors import InvalidOption, InvalidProblem, SolveInterrupted, ToleranceNotReached
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.problems.average import AverageProblem
from bisimetric.problems.control import Control
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.problems.side_by_side import ManyProblems
from bisimetric.solvers import by_name
from bisimetric.solvers.base import NO_PROGRESS, NOISE, PROGRESS, AnySolver, Iterate, IterateT, OperatorT, Options
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.clock import Clock
from bisimetric.solving.control import ControlSolution
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.history import Status, Step
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.kinds import KINDS
from bisimetric.solving.question import AnswerT, LoopAnswer, ProblemT, Question, SharedOptions, SolveRecord
from bisimetric.solving.side_by_side import ManySolutions
from bisimetric.solving.solution import Solution
from bisimetric.solving.watch import StepWatch

SOLVERS_NOISE = 128 * UNIT_ROUNDOFF  # as NOISE: what a solver's own tolerances leave, and the checker does not have
CHECKERS_NOISE = 2**20 * UNIT_ROUNDOFF  # as NOISE, of the checker: its interval is wider, more so for large supports
REMEDIES_OF_STATUS = {  # for a missed tolerance
    Status.STEP_LIMIT: "raise max_steps",
    Status.TIME_LIMIT: "raise time_limit",
    Status.STALLED: "raise tol",
    Status.COMPLETED: "raise tol, give the solver more rounds, or use PolicyIteration()",
}


@overload
def solve(  # type: ignore[overload-overlap]  # an AverageProblem is a Problem with an answer of its own
    problem: AverageProblem, solver: AnySolver | str | None = None, **options: Unpack[SharedOptions]
) -> AverageSolution: ...


@overload
def solve(
    problem: Problem,
    solver: AnySolver | str | None = None,
    *,
    initial: npt.ArrayLike | Solution | None = None,
    **options: Unpack[SharedOptions],
) -> Solution: ...


@overload
def solve(problem: Game, solver: AnySolver | str | None = None, **options: Unpack[SharedOptions]) -> MDPSolution: ...


@overload
def solve(
    problem: HorizonProblem, solver: AnySolver | str | None = None, **options: Unpack[SharedOptions]
) -> HorizonSolution: ...


@overload
def solve(problem: ManyProblems, solver: None = None, **options: Unpack[SharedOptions]) -> ManySolutions: ...


@overload
def solve(problem: Control, solver: None = None, *, time_limit: float | None = None) -> ControlSolution: ...


def solve(
    problem: Problem | Game | HorizonProblem | Control | ManyProblems,
    solver: AnySolver | str | None = None,
    *,
    tol: float | None = None,
    max_steps: int | None = None,
    time_limit: float | None = None,
    initial: npt.ArrayLike | Solution | None = None,
    throw: bool = True,
    on_step: Callable[[Step], None] | None = None,
    quotient: bool = True,
    look_every: int | None = None,
) -> LoopAnswer:
    """Solve a problem to a certified relative gap of `tol`.

    Parameters
    ----------
    problem : Problem, HorizonProblem or AverageProblem
        Two chains, a cost and a discount; over infinitely many steps, over a finite horizon, or in the long run.
    solver : Solver or str, optional
        A solver, or the name of one (`bisimetric solvers` lists them); by default the exact `PolicyIteration()`.
    tol : float, optional
        Relative gap to reach: max(upper - lower) / max(upper). By default the solver's own, 1e-9 for exact solvers;
        approximate ones run their rounds. An explicit tolerance that is missed raises.
    max_steps : int, optional
        Steps after which to give up; by default the solver's own limit.
    time_limit : float, optional
        Seconds after which to stop. The certified answer is there at most 0.1 s later, or a fifth of the limit if that
        is more, unless a single row of state pairs takes longer, or what comes before the first step: up to 0.1 s for
        a million pairs. Where a certificate takes more time than there is, the interval is what holds before any step.
    initial : array [n, m] or Solution, optional
        A guess of the distances, or the solution of a similar problem, to save time; only `LinearProgram` ignores it.
    throw : bool, default True
        Raise when an explicit tolerance is missed and on Ctrl-C. With False the solution is returned, and its status
        says how the solve ended.
    on_step : callable, optional
        Called with a `Step` after every step.
    quotient : bool, default True
        Solve classes of bisimilar states instead of states where that at least halves the work.
    look_every : int, optional
        Also let the checker look after every so many steps, so that `history` has the distance between the starts and
        its certified interval there. Each look takes about as long as a step or, of a Sinkhorn solver, ten. Answers do
        not depend on it, except that a solve may end earlier.

    Returns
    -------
    Solution
        Distances between all states with certified bounds, and the coupling that explains them; other kinds of problem
        have answers of their own, such as `HorizonSolution`.

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
    kind, chosen = kind_and_solver(problem, solver)
    if quotient is not True:
        flag(quotient, "quotient")
    question = kind(problem, chosen, quotient=quotient)
    guess = question.guess(initial)
    options = Options.checked(
        chosen, tol=tol, max_steps=max_steps, time_limit=time_limit, throw=throw, on_step=on_step,
        look_every=look_every,
    )  # fmt: skip
    answer: LoopAnswer = _run(question, options, guess)
    return answer


def kind_and_solver(
    problem: Any, solver: AnySolver | str | None
) -> tuple[type[Question[Any, Any, Any, Any]], AnySolver]:
    """The kind of a problem, and the solver or the default one; raises where it does not fit that kind."""
    kind = next((KINDS[base] for base in type(problem).__mro__ if base in KINDS), None)
    if kind is None:
        raise InvalidProblem(f"problem is a {type(problem).__name__}, expected a Problem(source, target, discount=...)")
    chosen = kind.default_solver if solver is None else by_name(solver)
    if chosen.operates_on is not kind.default_solver.operates_on:
        raise InvalidOption(f"{chosen.name} solves no {type(problem).__name__}; leave solver=None")
    if not kind.discounted and not chosen.undiscounted:
        raise InvalidOption(f"{chosen.name} needs a discount below 1, such as 0.999; or leave solver=None")
    return kind, chosen


def _run(
    question: Question[ProblemT, OperatorT, IterateT, AnswerT], options: Options, guess: Floats | None = None
) -> AnswerT:
    """The answer to a question; raises when a promise was missed or the solve was interrupted."""
    under_way = _UnderWay(question, options)
    try:
        known = question.immediate()
        if known is not None:
            return question.answer(under_way.record(Status.SOLVED), known, None)
        try:
            with under_way.work():
                status = under_way.to_the_end(guess)
        except OutOfTime:
            status = Status.TIME_LIMIT
        solution = under_way.solution(status)
        status = solution.status
    except KeyboardInterrupt:
        if options.throw:
            raise SolveInterrupted(
                "interrupted; the certified solution so far is on this exception: error.solution",
                lambda: under_way.solution(Status.INTERRUPTED),
            ) from None
        solution = under_way.solution(status := Status.INTERRUPTED)
    if options.throw and options.is_promised and status in REMEDIES_OF_STATUS:
        raise ToleranceNotReached(
            f"relative gap {solution.relative_gap:.2g} after {len(solution.history)} steps, asked for {options.tol:g}: "
            f"{status.value}; {REMEDIES_OF_STATUS[status]}, or take error.solution",
            solution,
        )
    return solution


class _UnderWay(Generic[ProblemT, OperatorT, IterateT, AnswerT]):
    """One solve under way: the current iterate is always one that the checker can certify."""

    def __init__(self, question: Question[ProblemT, OperatorT, IterateT, AnswerT], options: Options) -> None:
        self._question, self._options = question, options
        self._watch: StepWatch | None = None  # where somebody looks on
        self._began = time.perf_counter() - COMPILING.total
        self._clock = None if options.seconds == math.inf else Clock(options.seconds)
        self._history: list[Step] = []
        self._iterate: IterateT | None = None  # before the first sweep is over
        self._bounds: Bounds | None = None  # of the current iterate, if it has been checked

    def work(self) -> AbstractContextManager[None]:
        """What is inside ends with `OutOfTime` when the time limit asks for it."""
        return nullcontext() if self._clock is None else self._clock.work()

    def _certificate(self) -> AbstractContextManager[None]:
        """The same for a certificate."""
        return nullcontext() if self._clock is None else self._clock.certificate()

    def to_the_end(self, guess: Floats | None) -> Status:
        """Step until solved, stalled or out of steps."""
        if not self._question.prepare(self._options.tol):
            return Status.STALLED
        solver, operator = self._question.solver, self._question.operator
        self._watch = None if WATCHER.get() is None else StepWatch(self._question)
        iterate = self._accept(solver.init(operator, self._question.start(guess), self._options.tol))
        if self._clock is not None and self._clock.wants_certificate:
            iterate, _ = self._look(iterate)
        best, idle, patience = math.inf, 0, solver.patience(operator)
        while True:
            if self._is_solved(iterate):
                return Status.SOLVED
            if iterate.finished:
                return Status.COMPLETED
            progress = iterate.gap < PROGRESS * best and not self._is_rounding(iterate, NO_PROGRESS)
            best, idle = (iterate.gap, 0) if progress else (best, idle + 1)
            if idle >= patience and patience and self._is_rounding(iterate, NOISE) and not self._is_refuted(iterate):
                return Status.STALLED
            if len(self._history) >= self._options.max_steps:
                return Status.STEP_LIMIT
            with self.work():
                if time.perf_counter() > DEADLINE.get():
                    return Status.TIME_LIMIT
                self._bounds = None  # a step changes trees in place, and may be interrupted
                after = solver.step(operator, iterate)
            if after is iterate:  # the solver has nothing more to do: rounding is all that is left
                return Status.STALLED
            iterate = self._accept(after)

    def solution(self, status: Status) -> AnswerT:
        """The certified solution at the current iterate, or what holds a priori where no time is left to certify it."""
        question = self._question
        if self._bounds is None and self._iterate is not None:
            try:
                with nullcontext() if status is Status.INTERRUPTED else self._certificate():
                    self._certify(self._iterate)
            except OutOfTime:
                if self._clock is None:
                    raise
                status, self._iterate = Status.TIME_LIMIT, None
        iterate = self._iterate
        if iterate is None:
            certificate = question.a_priori()
        else:
            assert self._bounds is not None
            # An interrupted sweep has changed the trees: they still couple, but the iterate's estimate is void.
            whole_steps = status not in (Status.INTERRUPTED, Status.TIME_LIMIT)
            estimate = iterate.estimate() if whole_steps else None
            iterate = self._iterate = iterate.at_rest()
            certificate = self._bounds.around(estimate, question.operator.scale)
        return question.answer(self.record(status), certificate, iterate)

    def record(self, status: Status) -> SolveRecord:
        """How the solve went."""
        return SolveRecord(self._question.solver.name, status, tuple(self._history), self._options.tol or None)

    def _accept(self, iterate: IterateT) -> IterateT:
        if not isinstance(iterate, Iterate):
            raise InvalidOption(
                f"the solver {self._question.solver.name} made a {type(iterate).__name__}, expected an Iterate; "
                "bisimetric.solvers.sweep makes one of a value"
            )
        self._iterate, self._bounds = iterate, None
        number, every, measured = len(self._history) + 1, self._options.look_every, dict[str, Any]()
        if iterate.due or (every is not None and number % every == 0):
            iterate, measured = self._look(iterate)
        seconds = time.perf_counter() - COMPILING.total - self._began
        seconds = max(seconds, self._history[-1].seconds if self._history else 0.0)  # others may compile meanwhile
        step = Step(number, iterate.gap / self._question.operator.scale, seconds, **measured)
        self._history.append(step)
        if self._watch is not None:
            self._watch.after(step, iterate, self._bounds)
        if self._options.on_step is not None:
            with no_deadline():  # what users do there is not ours to stop
                self._options.on_step(step)
        return iterate

    def _look(self, iterate: IterateT) -> tuple[IterateT, dict[str, Any]]:
        """The iterate as the checker sees it, with its gap if the solver has no own; and what a `Step` says of it."""
        question = self._question
        with self._certificate():
            iterate, bounds = self._certify(iterate)
        if iterate.due or question.solver.default_tol == 0.0:
            iterate = self._iterate = replace(iterate, gap=bounds.gap * question.operator.scale)
        return iterate, iterate.diagnostics()._asdict() | question.between_starts(bounds, iterate)

    def _certify(self, iterate: IterateT) -> tuple[IterateT, Bounds]:
        """The iterate as the checker sees it, and the checker's word on it."""
        question = self._question
        self._iterate = iterate = question.solver.measured(question.operator, iterate)
        self._bounds = bounds = question.check(iterate)
        return iterate, bounds

    def _is_rounding(self, iterate: IterateT, noise: float) -> bool:
        """Whether the gap is no larger than a residual of this span, relative to the largest value, makes it."""
        return iterate.gap <= self._question.operator.gap_of(noise * iterate.largest)

    def _is_refuted(self, iterate: IterateT) -> bool:
        """Whether the checker finds a gap that no rounding explains, whatever the solver believes."""
        if self._bounds is None:
            return False
        gap = self._bounds.gap * self._question.operator.scale
        return gap > self._question.operator.gap_of(CHECKERS_NOISE * iterate.largest)

    def _is_solved(self, iterate: IterateT) -> bool:
        """Whether the checker finds the gap within the tolerance; asked when the solver believes it or sees noise."""
        likely = iterate.gap <= self._options.tol * iterate.largest or self._is_rounding(iterate, SOLVERS_NOISE)
        if self._bounds is None and likely:
            with self._certificate():
                self._bounds = self._question.check(iterate)
        return self._bounds is not None and self._bounds.relative_gap <= self._options.tol

"""What `distance` and `metric` do with their question: solve it, write the files, print the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple, Protocol

from bisimetric.cli.messages import ExitCode, digits, is_quiet, judge, note, tell
from bisimetric.cli.models import Reading
from bisimetric.cli.outcome import (
    TOP,
    Outcome,
    QuestionText,
    as_document,
    as_short_text,
    as_text,
    has_starts,
    summarise,
    verdict_line,
)
from bisimetric.cli.output import Meter, check_output, check_picture, check_report, print_json, show
from bisimetric.cli.progress import Progress
from bisimetric.couplings.explanation import Explanation
from bisimetric.errors import (
    BisimetricError,
    InvalidOption,
    MissingStart,
    NotEnoughMemory,
    SolveInterrupted,
    SolverFailed,
    ToleranceNotReached,
)
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.solving.assignment import Assignment
from bisimetric.solving.history import Status
from bisimetric.solving.kinds import AnyAnswer

MatchBy = Literal["distance", "coupling"]


@dataclass(frozen=True, slots=True)
class SolveRequest(Reading):
    """The options that `distance` and `metric` share."""

    source: str
    target: str | None
    discount: float
    start: list[str] | None  # two: of the source and of the target
    solver: str | None
    settings: list[str] | None
    tol: float | None
    max_steps: int | None
    time_limit: float | None  # seconds
    as_json: bool
    out: str | None
    plot: str | None
    report: str | None
    command_line: str
    match: MatchBy | None
    fail_above: float | None


class Solve(Protocol):
    """A question that is ready to be solved."""

    def __call__(
        self,
        *,
        tol: float | None,
        max_steps: int | None,
        time_limit: float | None,
    ) -> AnyAnswer: ...


class Posed(NamedTuple):
    """A question, and the function that solves it."""

    question: QuestionText
    solve: Solve


def respond(request: SolveRequest, pose: Callable[[Progress], Posed]) -> int:
    """Pose the question, solve it and print the answer; returns the exit code."""
    check_output(request.out, "--out")
    check_picture(request.plot, "--plot")
    check_report(request.report, "--report")
    _check_limit(request.fail_above)
    meter = Meter()
    try:
        with Progress() as progress:
            progress.doing("reading")
            question, solve = pose(progress)
            solution, missed = _solve(solve, request, progress)
            try:
                failures = _write(solution, request, question, progress)
                outcome = _outcome(solution, request, question, meter, progress)
            except KeyboardInterrupt:
                tell(_reached(solution))
                raise
    except SolveInterrupted as stopped:
        return _interrupted(stopped, request, question)
    _print(outcome, request.as_json)
    _warn(solution, missed, request.tol)
    if failures:
        for failure in failures[1:]:
            tell(f"error: {failure}")
        raise failures[0]
    if outcome.verdict is not None:
        return outcome.verdict.exit_code
    return ExitCode.UNDECIDED if missed or solution.status is Status.TIME_LIMIT else ExitCode.SUCCESS


def check_starts(request: SolveRequest, models: tuple[MarkovChain | MDP, MarkovChain | MDP]) -> None:
    """Raise if an option that needs starts is given, and a model has none; before the work begins."""
    if request.fail_above is not None:
        option, needs = "--fail-above", "one distance"
    elif request.match == "coupling":
        option, needs = "--match coupling", "starts"
    else:
        return
    for name, model in zip((request.source, request.target), models, strict=True):
        if model.start is None:
            raise MissingStart(f"{option} needs {needs}, but {name} has no start; give --start A0 B0")


def _check_limit(limit: float | None) -> None:
    if limit is not None and not 0.0 <= limit < math.inf:
        raise InvalidOption(f"--fail-above is {limit:g}, expected a number ≥ 0")


def _solve(solve: Solve, request: SolveRequest, progress: Progress) -> tuple[AnyAnswer, bool]:
    """The solution, and whether it missed the tolerance given with --tol."""
    progress.doing("solving")
    try:
        solution = solve(tol=request.tol, max_steps=request.max_steps, time_limit=request.time_limit)
    except ToleranceNotReached as error:
        missed: AnyAnswer = error.solution
        return missed, True
    return solution, False


def _write(solution: AnyAnswer, request: SolveRequest, question: QuestionText, progress: Progress) -> list[Exception]:
    """Write the files before anything is printed; returns the failures, to be told after the answer."""
    failures: list[Exception] = []
    for path, what, doing, write in (
        (request.out, "the solution", "saving", solution.save),
        (request.plot, "the picture", "drawing", partial(_draw, solution, question)),
        (request.report, "the report", "writing the report", partial(_report, solution, request, question)),
    ):
        if path is None:
            continue
        progress.doing(doing)
        try:
            write(path)
        except (BisimetricError, OSError) as error:
            failures.append(error)
        else:
            note(f"{what} is in {path}")
    return failures


def _draw(solution: AnyAnswer, question: QuestionText, path: str) -> None:
    from bisimetric import plot

    plot.save(plot.distances(solution, names=(question.source, question.target)), path)


def _report(solution: AnyAnswer, request: SolveRequest, question: QuestionText, path: str) -> None:
    solution.report(path, names=(question.source, question.target), command=request.command_line)


def _outcome(
    solution: AnyAnswer, request: SolveRequest, question: QuestionText, meter: Meter, progress: Progress
) -> Outcome:
    progress.doing("explaining")
    single = has_starts(solution) and not question.itself
    limit = request.fail_above
    return Outcome(
        question,
        solution=solution,
        explanation=_explanation(solution) if single and not (is_quiet() and not request.as_json) else None,
        summary=None if single else summarise(solution, itself=question.itself),
        matching=_matching(solution, request.match),
        expense=meter.read(),
        limit=limit,
        verdict=None if limit is None else judge(solution.interval, limit),
    )


def _matching(solution: AnyAnswer, by: MatchBy | None) -> Assignment | None:
    """The states that go together; None after --time-limit where that needs the time spent at every pair."""
    if by is None or (by == "coupling" and solution.status is Status.TIME_LIMIT):
        return None
    try:
        return solution.assignment(by)
    except (InvalidOption, NotEnoughMemory, SolverFailed) as error:  # the distance is known without it
        tell(f"no matching: {error}")
        return None


def _explanation(solution: AnyAnswer) -> Explanation | None:
    """The pairs that contribute most; None after --time-limit, because they may take longer than the solve."""
    if solution.status is Status.TIME_LIMIT:
        return None
    try:
        return solution.explain(TOP)
    except (InvalidOption, NotEnoughMemory, SolverFailed) as error:  # the distance is known without it
        tell(f"no explanation: {error}")
        return None


def _print(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        print_json(as_document(outcome))
        if outcome.verdict is not None:
            note(verdict_line(outcome))
    else:
        show(*(as_short_text if is_quiet() else as_text)(outcome))


def _warn(solution: AnyAnswer, missed: bool, tol: float | None) -> None:
    if missed:
        tell(f"the tolerance {tol:g} was not reached; {_reached(solution)}; {REMEDIES[solution.status]}")
    elif not solution.reached_tol and solution.status in (Status.STEP_LIMIT, Status.TIME_LIMIT, Status.STALLED):
        tell(f"stopped early; {_reached(solution)}, wanted {solution.tol:g}; {REMEDIES[solution.status]}")


REMEDIES = {
    Status.STEP_LIMIT: "raise --max-steps",
    Status.TIME_LIMIT: "raise --time-limit",
    Status.STALLED: "raise --tol",
    Status.COMPLETED: "raise --tol, or take an exact solver",
}


def _interrupted(stopped: SolveInterrupted, request: SolveRequest, question: QuestionText) -> int:
    tell("interrupted; certifying what was reached (Ctrl-C again stops at once)")
    solution = stopped.solution
    tell(_reached(solution))
    if request.out is not None:
        solution.save(request.out)
        note(f"what was reached is in {request.out}")
    if request.plot is not None:
        _draw(solution, question, request.plot)
        note(f"a picture of what was reached is in {request.plot}")
    if request.report is not None:
        _report(solution, request, question, request.report)
        note(f"a report of what was reached is in {request.report}")
    return ExitCode.INTERRUPTED


def _reached(solution: AnyAnswer) -> str:
    relative = f"relative gap {solution.relative_gap:.1e}"
    if has_starts(solution):
        return f"the distance is in {digits(solution.distance, *solution.interval).interval}, {relative}"
    return f"every distance is known within {solution.gap:.1e}, {relative}"

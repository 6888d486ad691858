"""`bisimetric distance`: check the options, read the chains, solve, write the files, print the result."""

from __future__ import annotations

import math
from argparse import Namespace
from dataclasses import dataclass, fields
from functools import partial

import numpy.typing as npt

from bisimetric import cost as costs
from bisimetric import solvers
from bisimetric._support.options import one_of
from bisimetric.cli.messages import ExitCode, digits, judge, tell
from bisimetric.cli.outcome import TOP, Outcome, as_document, as_text, has_starts, summarise, verdict_line
from bisimetric.cli.output import Meter, check_output, check_picture, print_json, show
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
from bisimetric.problems.discounted import Problem
from bisimetric.readers.convert import as_chain
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.solution import Solution, Status
from bisimetric.solving.solve import solve


@dataclass(frozen=True, slots=True)
class Request:
    """The options of the command."""

    source: str
    target: str
    discount: float
    cost: str
    start: list[str] | None  # two: of the source and of the target
    normalised: bool
    solver: str
    tol: float | None
    max_steps: int | None
    time_limit: float | None  # seconds
    as_json: bool
    save: str | None
    plot: str | None
    fail_above: float | None

    @classmethod
    def of(cls, options: Namespace) -> Request:
        """The request that the parsed command line makes."""
        return cls(**{field.name: getattr(options, field.name) for field in fields(cls)})


def run(request: Request) -> int:
    """Compute and print; returns the exit code."""
    check_output(request.save, "--save")
    check_picture(request.plot, "--plot")
    _check_limit(request.fail_above)
    solver = solvers.by_name(one_of(request.solver, "--solver", solvers.SOLVERS))
    meter = Meter()
    try:
        with Progress() as progress:
            problem = _problem(request, progress)
            solution, missed = _solve(problem, solver, request, progress)
            try:
                failures = _write(solution, request, progress)
                outcome = _outcome(solution, request, meter, progress)
            except KeyboardInterrupt:
                tell(_reached(solution))
                raise
    except SolveInterrupted as stopped:
        return _interrupted(stopped, request)
    _print(outcome, request.as_json)
    _warn(solution, missed, request.tol)
    if failures:
        for failure in failures[1:]:
            tell(f"error: {failure}")
        raise failures[0]
    if outcome.verdict is not None:
        return outcome.verdict.exit_code
    return ExitCode.UNDECIDED if missed else ExitCode.SUCCESS


def _check_limit(limit: float | None) -> None:
    if limit is not None and not 0.0 <= limit < math.inf:
        raise InvalidOption(f"--fail-above is {limit:g}, expected a number ≥ 0")


def _problem(request: Request, progress: Progress) -> Problem:
    progress.doing("reading")
    source, target = as_chain(request.source), as_chain(request.target)
    if request.start is not None:
        source, target = source.with_start(request.start[0]), target.with_start(request.start[1])
    if request.fail_above is not None:
        for name, chain in ((request.source, source), (request.target, target)):
            if chain.start is None:
                raise MissingStart(f"--fail-above needs one distance, but {name} has no start; give --start A0 B0")
    return Problem(
        source,
        target,
        discount=request.discount,
        cost=_cost(request.cost, (source.n_states, target.n_states)),
        normalised=request.normalised,
    )


def _cost(text: str, shape: tuple[int, int]) -> npt.ArrayLike | costs.Cost:
    if text == "reward":
        return costs.reward_gap
    if text == "labels":
        return costs.label_mismatch
    from bisimetric.cli.cost_file import read_costs

    return read_costs(text, shape)


def _solve(problem: Problem, solver: AnySolver, request: Request, progress: Progress) -> tuple[Solution, bool]:
    """The solution, and whether it missed the tolerance given with --tol."""
    progress.doing("solving")
    try:
        solution = solve(
            problem,
            solver,
            tol=request.tol,
            max_steps=request.max_steps,
            time_limit=request.time_limit,
            on_step=progress.on_step,
        )
    except ToleranceNotReached as error:
        return error.solution, True
    return solution, False


def _write(solution: Solution, request: Request, progress: Progress) -> list[Exception]:
    """Write the files before anything is printed; returns the failures, to be told after the answer."""
    failures: list[Exception] = []
    for path, what, doing, write in (
        (request.save, "the solution", "saving", solution.save),
        (request.plot, "the picture", "drawing", partial(_draw, solution, request)),
    ):
        if path is None:
            continue
        progress.doing(doing)
        try:
            write(path)
        except (BisimetricError, OSError) as error:
            failures.append(error)
        else:
            tell(f"{what} is in {path}")
    return failures


def _draw(solution: Solution, request: Request, path: str) -> None:
    from bisimetric import plot

    plot.save(plot.distances(solution, names=(request.source, request.target)), path)


def _outcome(solution: Solution, request: Request, meter: Meter, progress: Progress) -> Outcome:
    progress.doing("explaining")
    starts = has_starts(solution)
    limit = request.fail_above
    return Outcome(
        source=request.source,
        target=request.target,
        cost=request.cost,
        solution=solution,
        explanation=_explanation(solution) if starts else None,
        summary=None if starts else summarise(solution),
        expense=meter.read(),
        limit=limit,
        verdict=None if limit is None else judge(solution.interval, limit),
    )


def _explanation(solution: Solution) -> Explanation | None:
    """The pairs that contribute most; None after --time-limit, because they may take longer than the solve."""
    if solution.status is Status.TIME_LIMIT:
        return None
    try:
        return solution.explain(TOP)
    except (NotEnoughMemory, SolverFailed) as error:  # the distance is known without it
        tell(f"no explanation: {error}")
        return None


def _print(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        print_json(as_document(outcome))
        if outcome.verdict is not None:
            tell(verdict_line(outcome))
    else:
        show(*as_text(outcome))


def _warn(solution: Solution, missed: bool, tol: float | None) -> None:
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


def _interrupted(stopped: SolveInterrupted, request: Request) -> int:
    tell("interrupted; certifying what was reached (Ctrl-C again stops at once)")
    solution = stopped.solution
    tell(_reached(solution))
    if request.save is not None:
        solution.save(request.save)
        tell(f"what was reached is in {request.save}")
    if request.plot is not None:
        _draw(solution, request, request.plot)
        tell(f"a picture of what was reached is in {request.plot}")
    return ExitCode.INTERRUPTED


def _reached(solution: Solution) -> str:
    relative = f"relative gap {solution.relative_gap:.1e}"
    if has_starts(solution):
        return f"the distance is in {digits(solution.distance, *solution.interval).interval}, {relative}"
    return f"every distance is known within {solution.gap:.1e}, {relative}"

"""`bisimetric distance`: check what is cheap to check, read, solve, save, draw, tell."""

from __future__ import annotations

import math
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial

import numpy.typing as npt

from bisimetric import cost as costs
from bisimetric import solvers
from bisimetric.cli._console import print_json, show
from bisimetric.cli._cost_file import read_costs
from bisimetric.cli._document import as_document
from bisimetric.cli._outcome import TOP, Meter, Outcome, has_starts, summarise
from bisimetric.cli._output import check_output, check_picture
from bisimetric.cli._progress import Progress
from bisimetric.cli._report import report, verdict_line
from bisimetric.cli._text import complain, digits
from bisimetric.cli._verdict import ExitCode, judge
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
from bisimetric.views.distances import distances as draw_distances
from bisimetric.views.explanation import Explanation
from bisimetric.views.saving import save as save_figure


@dataclass(frozen=True, slots=True)
class Request:
    """The command line."""

    source: str
    target: str
    discount: float
    cost: str
    start: tuple[str, str] | None
    normalised: bool
    solver: str
    tol: float | None
    max_steps: int | None
    as_json: bool
    save: str | None
    plot: str | None
    fail_above: float | None


def run(request: Request) -> int:
    """Compute and print; returns the exit code."""
    check_output(request.save, "--save")
    check_picture(request.plot, "--plot")
    _check_limit(request.fail_above)
    solver = _solver(request.solver)
    meter = Meter()
    try:
        with Progress() as progress:
            problem = _problem(request, progress)
            solution, missed = _solve(problem, solver, request, progress)
            try:
                failures = _write(solution, request, progress)
                outcome = _outcome(solution, request, meter, progress)
            except KeyboardInterrupt:
                complain(_reached(solution))
                raise
    except SolveInterrupted as stopped:
        return _interrupted(stopped, request)
    _print(outcome, request.as_json)
    _warn(solution, missed, request.tol)
    if failures:
        for failure in failures[1:]:
            complain(f"error: {failure}")
        raise failures[0]
    if outcome.verdict is not None:
        return outcome.verdict.exit_code
    return ExitCode.UNDECIDED if missed else ExitCode.FINE


def _check_limit(limit: float | None) -> None:
    if limit is not None and not 0.0 <= limit < math.inf:
        raise InvalidOption(f"--fail-above is {limit:g}, expected a number ≥ 0")


def _solver(name: str) -> AnySolver:
    if name not in solvers.all_solvers():
        near = get_close_matches(name, solvers.all_solvers(), n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InvalidOption(f"solver {name!r} is unknown, expected one of {', '.join(solvers.all_solvers())}{hint}")
    return solvers.all_solvers()[name]()


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
    return read_costs(text, shape)


def _solve(problem: Problem, solver: AnySolver, request: Request, progress: Progress) -> tuple[Solution, bool]:
    """The solution, and whether it missed a tolerance that was asked for."""
    progress.doing("solving")
    try:
        solution = solve(problem, solver, tol=request.tol, max_steps=request.max_steps, on_step=progress.on_step)
    except ToleranceNotReached as error:
        return error.solution, True
    return solution, False


def _write(solution: Solution, request: Request, progress: Progress) -> list[Exception]:
    """The files asked for, before anything is printed; failures are kept until the answer has been."""
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
            complain(f"{what} is in {path}")
    return failures


def _draw(solution: Solution, request: Request, path: str) -> None:
    save_figure(draw_distances(solution, names=(request.source, request.target)), path)


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
    try:
        return solution.explain(TOP)
    except (NotEnoughMemory, SolverFailed) as error:  # the distance itself is there and is worth telling
        complain(f"no explanation: {error}")
        return None


def _print(outcome: Outcome, as_json: bool) -> None:
    if as_json:
        print_json(as_document(outcome))
        if outcome.verdict is not None:
            complain(verdict_line(outcome))
    else:
        show(*report(outcome))


def _warn(solution: Solution, missed: bool, tol: float | None) -> None:
    if missed:
        complain(f"the tolerance {tol:g} was not reached; {_reached(solution)}; {REMEDIES[solution.status]}")
    elif not solution.reached_tol and solution.status in (Status.STEP_LIMIT, Status.STALLED):
        complain(f"stopped early; {_reached(solution)}, wanted {solution.tol:g}; {REMEDIES[solution.status]}")


REMEDIES = {
    Status.STEP_LIMIT: "raise --max-steps",
    Status.STALLED: "raise --tol",
    Status.COMPLETED: "raise --tol, or take an exact solver",
}


def _interrupted(stopped: SolveInterrupted, request: Request) -> int:
    complain("interrupted; certifying what was reached (Ctrl-C again stops at once)")
    solution = stopped.solution
    complain(_reached(solution))
    if request.save is not None:
        solution.save(request.save)
        complain(f"what was reached is in {request.save}")
    if request.plot is not None:
        _draw(solution, request, request.plot)
        complain(f"a picture of what was reached is in {request.plot}")
    return ExitCode.INTERRUPTED


def _reached(solution: Solution) -> str:
    relative = f"relative gap {solution.relative_gap:.1e}"
    if has_starts(solution):
        return f"the distance is in {digits(solution.distance, *solution.interval).interval}, {relative}"
    return f"every distance is known within {solution.gap:.1e}, {relative}"

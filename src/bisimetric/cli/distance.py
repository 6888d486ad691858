"""`bisimetric distance`: what is asked about two chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bisimetric import solvers
from bisimetric._support.text import discount_text, printable
from bisimetric.bisimulation.label_changes import label_changes
from bisimetric.bisimulation.metric import bisimilarity_distance
from bisimetric.cli.costs import read_cost
from bisimetric.cli.outcome import QuestionText
from bisimetric.cli.progress import Progress
from bisimetric.cli.solver_options import chosen_solver
from bisimetric.cli.solving import Posed, SolveRequest, check_starts, respond
from bisimetric.errors import InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.operators.reachable import reachable_part
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.solve import solve

EXACT = "policy-iteration"
ACCUMULATES = "costs of differing labels add up along the way; --bisimilarity bounds differences of probabilities"


@dataclass(frozen=True, slots=True)
class DistanceRequest(SolveRequest):
    """The options of the command."""

    target: str
    cost: str | None
    bisimilarity: bool
    label_changes: bool
    normalised: bool
    pairs: str


def run(request: DistanceRequest) -> int:
    """Compute and print; returns the exit code."""
    _check_choices(request)
    solver = chosen_solver(request.solver or EXACT, request.settings, list(solvers.SOLVERS))
    return respond(request, partial(_pose, request, solver))


def _check_choices(request: DistanceRequest) -> None:
    if not request.bisimilarity:
        if request.discount == 1.0:
            raise InvalidOption(
                "--discount is 1, expected less: costs would add up without end; --bisimilarity, the distance on "
                "labels, allows 1"
            )
        return
    for given, option in ((request.cost, "--cost"), (request.normalised, "--normalised")):
        if given:
            raise InvalidOption(f"--bisimilarity and {option} are given, expected one; --bisimilarity has its own cost")
    if request.pairs != "all":
        raise InvalidOption("--bisimilarity and --pairs reachable are given, expected one; it solves all pairs")


def _pose(request: DistanceRequest, solver: AnySolver, progress: Progress) -> Posed:
    source, target = request.chains([request.source, request.target])
    if request.start is not None:
        source, target = source.with_start(request.start[0]), target.with_start(request.start[1])
    check_starts(request, (source, target))
    if request.label_changes:
        progress.doing("finding changes of label")
        source, target = label_changes(source), label_changes(target)
    if request.bisimilarity:
        return _bisimilarity(request, solver, source, target)
    cost = request.cost or "reward"
    problem = Problem(
        source,
        target,
        discount=request.discount,
        cost=read_cost(cost, (source.n_states, target.n_states)),
        normalised=request.normalised,
    )
    if request.pairs == "reachable":
        progress.doing("finding reachable pairs")
        problem = reachable_part(problem)
    kind = "normalised: times 1-γ" if request.normalised else "sum of discounted costs"
    meaning = f"{kind}; γ = {discount_text(request.discount)}, cost: {printable(cost)}{_steps(request)}"
    if cost == "labels":
        meaning += f"\n{ACCUMULATES}"
    question = QuestionText(
        "distance", request.source, request.target, cost, meaning, request.discount, request.normalised
    )
    return Posed(question, partial(solve, problem, solver))


def _bisimilarity(request: DistanceRequest, solver: AnySolver, source: MarkovChain, target: MarkovChain) -> Posed:
    meaning = f"bisimilarity distance on labels, from 0 to 1; γ = {discount_text(request.discount)}{_steps(request)}"
    question = QuestionText(
        "bisimilarity", request.source, request.target, "labels", meaning, request.discount, normalised=False
    )
    return Posed(question, partial(bisimilarity_distance, source, target, discount=request.discount, solver=solver))


def _steps(request: DistanceRequest) -> str:
    return ", steps are changes of label" if request.label_changes else ""

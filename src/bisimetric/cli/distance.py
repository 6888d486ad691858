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
from bisimetric.problems.average import AverageProblem
from bisimetric.problems.discounted import Problem
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.room import require_room
from bisimetric.solving.solve import solve

EXACT = "policy-iteration"
BACKWARD = "backward-induction"
LONG_RUN = "average-iteration"
ACCUMULATES = "costs of differing labels add up along the way; --bisimilarity bounds differences of probabilities"


@dataclass(frozen=True, slots=True)
class DistanceRequest(SolveRequest):
    """The options of the command."""

    target: str
    policy: str | None
    cost: str | None
    bisimilarity: bool
    average: bool
    horizon: int | None
    label_changes: bool
    normalised: bool
    pairs: str


def run(request: DistanceRequest) -> int:
    """Compute and print; returns the exit code."""
    _check_choices(request)
    known = [LONG_RUN] if request.average else [BACKWARD] if request.horizon is not None else list(solvers.SOLVERS)
    solver = chosen_solver(request.solver or known[0], request.settings, known)
    return respond(request, partial(_pose, request, solver))


def _check_choices(request: DistanceRequest) -> None:
    if request.average or request.horizon is not None:
        _check_objective(request, "--average" if request.average else "--horizon")
        return
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


def _check_objective(request: DistanceRequest, option: str) -> None:
    """Raise if an option is given that does not go with this one."""
    others = {
        "--bisimilarity": request.bisimilarity,
        "--horizon": request.average and request.horizon is not None,
        "--normalised": request.normalised,
        "--pairs reachable": request.pairs != "all",
    }
    for other, given in others.items():
        if given:
            raise InvalidOption(f"{option} and {other} are given, expected one; leave {other} out")


def _pose(request: DistanceRequest, solver: AnySolver, progress: Progress) -> Posed:
    source, target = request.chains([request.source, request.target], request.policy, request.discount)
    if request.start is not None:
        source, target = source.with_start(request.start[0]), target.with_start(request.start[1])
    if not request.average:  # which takes the best pair of states
        check_starts(request, (source, target))
    if request.label_changes:
        progress.doing("finding changes of label")
        source, target = label_changes(source), label_changes(target)
    if request.bisimilarity:
        return _bisimilarity(request, solver, source, target)
    cost = request.cost or "reward"
    if request.average:
        return _in_the_long_run(request, solver, source, target, cost)
    if request.horizon is not None:
        return _over_horizon(request, solver, source, target, cost)
    array = read_cost(cost, (source.n_states, target.n_states))
    require_room(source, target, array, solver, reachable=request.pairs == "reachable")
    problem = Problem(source, target, discount=request.discount, cost=array, normalised=request.normalised)
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


def _in_the_long_run(
    request: DistanceRequest, solver: AnySolver, source: MarkovChain, target: MarkovChain, cost: str
) -> Posed:
    problem = AverageProblem(source, target, cost=read_cost(cost, (source.n_states, target.n_states)))
    meaning = f"average cost per step in the long run; cost: {printable(cost)}{_steps(request)}"
    question = QuestionText("average", request.source, request.target, cost, meaning, None, normalised=False)
    return Posed(question, partial(solve, problem, solver))


def _over_horizon(
    request: DistanceRequest, solver: AnySolver, source: MarkovChain, target: MarkovChain, cost: str
) -> Posed:
    array = read_cost(cost, (source.n_states, target.n_states))
    problem = HorizonProblem(source, target, horizon=request.horizon or 0, discount=request.discount, cost=array)
    steps = "1 step" if request.horizon == 1 else f"{request.horizon} steps"
    meaning = f"sum of the costs of {steps}; γ = {discount_text(request.discount)}, cost: {printable(cost)}"
    question = QuestionText(
        "horizon", request.source, request.target, cost, meaning + _steps(request), request.discount,
        normalised=False, more={"horizon": request.horizon},
    )  # fmt: skip
    return Posed(question, partial(solve, problem, solver))


def _bisimilarity(request: DistanceRequest, solver: AnySolver, source: MarkovChain, target: MarkovChain) -> Posed:
    meaning = f"bisimilarity distance on labels, from 0 to 1; γ = {discount_text(request.discount)}{_steps(request)}"
    question = QuestionText(
        "bisimilarity", request.source, request.target, "labels", meaning, request.discount, normalised=False
    )
    return Posed(question, partial(bisimilarity_distance, source, target, discount=request.discount, solver=solver))


def _steps(request: DistanceRequest) -> str:
    return ", steps are changes of label" if request.label_changes else ""

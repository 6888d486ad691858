"""`bisimetric metric`: the bisimulation metric of one model, or between two."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from bisimetric import solvers
from bisimetric._support.text import discount_text
from bisimetric.bisimulation.metric import bisimulation_metric
from bisimetric.cli.outcome import QuestionText
from bisimetric.cli.progress import Progress
from bisimetric.cli.solver_options import chosen_solver
from bisimetric.cli.solving import Posed, SolveRequest, check_starts, respond
from bisimetric.errors import InvalidOption, InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.problems.game import Actions

EXACT_GAME = "game-iteration"


@dataclass(frozen=True, slots=True)
class MetricRequest(SolveRequest):
    """The options of the command."""

    actions: Actions


def run(request: MetricRequest) -> int:
    """Compute and print; returns the exit code."""
    if request.target is None and request.start is None and request.fail_above is not None:
        raise InvalidOption("--fail-above needs one distance, but there is one model; give OTHER, or --start S T")
    if request.target is None and request.start is None and request.match is not None:
        raise InvalidOption("--match needs two models, but there is one; give OTHER")
    return respond(request, partial(_pose, request))


def _pose(request: MetricRequest, progress: Progress) -> Posed:
    given = [request.source] if request.target is None else [request.source, request.target]
    models = request.models(given)
    source, target = models[0], models[-1]
    itself = request.target is None and request.start is None
    if request.start is not None:
        source, target = source.with_start(request.start[0]), target.with_start(request.start[1])
    for name, model in zip(given, models, strict=True):
        if isinstance(model, MarkovChain) and model.reward is None:
            raise InvalidProblem(
                f"{name} has no rewards, which the metric compares; `bisimetric distance A B --bisimilarity` compares "
                "labels"
            )
    check_starts(request, (source, target))
    games = isinstance(source, MDP)
    known = [EXACT_GAME] if games else list(solvers.SOLVERS)
    solver = chosen_solver(request.solver or known[0], request.settings, known)
    rule = {"same": " with the same actions", "matched": " with matched actions"}[request.actions] if games else ""
    meaning = f"bisimulation metric{rule}, times 1-γ; γ = {discount_text(request.discount)}"
    question = QuestionText(
        "metric",
        request.source,
        request.target or request.source,
        "reward",
        meaning,
        request.discount,
        normalised=True,
        itself=itself,
        more={"actions": request.actions if games else None},
    )
    return Posed(
        question,
        partial(
            bisimulation_metric,
            source,
            None if itself else target,
            discount=request.discount,
            actions=request.actions,
            solver=solver,
        ),
    )

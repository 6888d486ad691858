"""Questions in notebooks: what is compared, and the costs as a thumbnail."""

from __future__ import annotations

from collections.abc import Iterator

from bisimetric._support.text import discount_text
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.views.notebook.markup import Facts, HtmlBlock, Matrix, Title


def problem_blocks(problem: Problem) -> Iterator[HtmlBlock]:
    """Facts, and what every pair of states costs."""
    yield Title(type(problem).__name__)
    facts = [
        ("states", "{} x {}".format(*problem.shape)),
        ("discount", discount_text(problem.discount) if problem.discount < 1.0 else "none"),
        ("normalised", "yes, times 1-γ" if problem.normalised else "no"),
        ("cost", problem.cost_text or problem.cost_name or "an array"),
    ]
    if problem.stop is not None:
        facts.append(("stops", f"{int(problem.stop.sum())} of {problem.stop.size} pairs"))
    yield Facts(facts)
    yield Matrix(problem.cost, problem.source.name_of, problem.target.name_of, "cost of every pair")


def horizon_blocks(problem: HorizonProblem) -> Iterator[HtmlBlock]:
    """Facts, and what every pair of states costs at time 0."""
    yield Title(type(problem).__name__)
    facts = [
        ("states", "{} x {}".format(*problem.shape)),
        ("horizon", str(problem.horizon)),
        ("discount", discount_text(problem.discount) if problem.discount < 1.0 else "none"),
        ("cost", problem.cost_text or problem.cost_name or "an array"),
    ]
    yield Facts(facts)
    yield Matrix(problem.cost, problem.source.name_of, problem.target.name_of, "cost of every pair at time 0")


def game_blocks(game: Game) -> Iterator[HtmlBlock]:
    """Facts."""
    yield Title(type(game).__name__)
    counts = f"{game.source.n_actions} and {game.target.n_actions}, {game.actions}"
    yield Facts(
        [("states", "{} x {}".format(*game.shape)), ("actions", counts), ("discount", discount_text(game.discount))]
    )

"""The page of a solution.

One distance is told apart from the others, the *headline*: between the starts of the two models; for a model
against itself, or without starts, the largest distance between two states.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bisimetric._support.text import discount_text, printable
from bisimetric.cost.ground import reward_gap
from bisimetric.couplings.explanation import Explanation
from bisimetric.couplings.parting import JointPath
from bisimetric.errors import InvalidOption, NotEnoughMemory, SolverFailed
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.solving.game_solution import AnySolution, MDPSolution
from bisimetric.solving.solution import Answer, Solution
from bisimetric.views.clustering import cluster_tree
from bisimetric.views.report.convergence import convergence_charts
from bisimetric.views.report.drawings import drawings, shown_names
from bisimetric.views.report.frame import Headline, Page, PlainSection, ScriptedSection
from bisimetric.views.report.likeness import MOST_ON_TREE, likeness_tree
from bisimetric.views.report.pairs import (
    MOST_MATRIX_CELLS,
    action_names,
    estimated_cells,
    matrix_and_pairs,
)

EXPLAINED_PAIRS = 10  # pairs in the explanation
MOST_SHOWN_MOMENTS = 60  # of the most likely way to part
LONGEST_SUMMARY = 400  # characters
MOST_PARTS = 20_000  # pairs whose share of the distance is looked at
SAME_COST = 1e-12  # relative difference between a cost and the gap of rewards that it may be
PAIR_SCRIPTS = ("matrix.js", "labels.js", "drawing.js", "pairs.js", "player.js")
SECTIONS = [
    ScriptedSection("matrix.html", PAIR_SCRIPTS),
    ScriptedSection("pair.html", PAIR_SCRIPTS),
    ScriptedSection("walk.html", PAIR_SCRIPTS),
    ScriptedSection("explanation.html", PAIR_SCRIPTS),
]
PATH = ScriptedSection("path.html", PAIR_SCRIPTS)


@dataclass(frozen=True, slots=True)
class Told:
    """The distance that a report is about, and the joint law of where the two models begin."""

    value: float
    lower: float
    upper: float
    pair: tuple[int, int] | None  # None: the starts of both models
    law: list[tuple[int, float]]  # numbers of pairs and probabilities, likeliest first


def solution_page(answer: AnySolution, *, names: object = None, command: str | None = None) -> Page:
    """The page of a solution: all pairs, couplings to walk along, both models, explanation and convergence."""
    called = two_names(names)
    headline = headline_of(answer)
    explanation, note = _explanation(answer, headline)
    ids = _ids(answer, explanation)
    shares = np.zeros(answer.value.size)
    shares[ids] = [part.share for part in explanation.parts] if explanation else []
    wanted = [number for number, _ in headline.law] + ids[:EXPLAINED_PAIRS] + _on_path(answer, explanation)
    matrix, pairs = matrix_and_pairs(answer, shares.reshape(answer.value.shape), wanted)
    return Page(
        title=title(answer, called),
        headline=Headline.interval(headline.value, headline.lower, headline.upper),
        meaning=meaning(answer, headline),
        facts=facts(answer),
        sections=_sections(answer, [PATH] if _parts(explanation) else []),
        python=reproduce(answer),
        command=command,
        data={
            "names": None if called is None else [printable(name) for name in called],
            "law": headline.law,
            "discount": answer.problem.discount,
            "models": drawings(answer.models),
            "matrix": matrix,
            "pairs": pairs,
            "actions": action_names(answer),
            "explanation": None if explanation is None else _table(explanation, ids, answer.value.shape[1]),
            "explanation_note": note,
        },
    )


def _sections(answer: AnySolution, path: list[ScriptedSection]) -> list[ScriptedSection | PlainSection]:
    """All sections; the states of one model have a tree too. The convergence fills the row that it begins."""
    tree = []
    n, value = len(answer.value), answer.value
    if is_self_metric(answer) and 1 < n <= MOST_ON_TREE and np.allclose(value, value.T, atol=0.0):
        names = shown_names(answer.models[0]) or [str(k) for k in range(n)]
        apart = 0.5 * value + 0.5 * value.T
        np.fill_diagonal(apart, 0.0)
        tree = [likeness_tree(cluster_tree(apart), names, "states")]
    charts = convergence_charts(answer, wide=len(path) != len(tree))
    return [*SECTIONS, *path, charts[0], *tree, *charts[1:]]


def two_names(names: object) -> tuple[str, str] | None:
    """The names of the two models, checked."""
    if names is None:
        return None
    if not isinstance(names, (tuple, list)) or len(names) != 2 or not all(isinstance(name, str) for name in names):
        raise InvalidOption(f"names is {names!r:.60}, expected the names of the two models, two texts")
    return names[0], names[1]


def headline_of(answer: AnySolution) -> Told:
    """Between the starts; for a model against itself or without starts the largest distance."""
    source, target = answer.models
    if source.start is not None and target.start is not None and not is_self_metric(answer):
        law = answer.coupling.law(None).ravel()
        order = np.argsort(-law, kind="stable")[: np.count_nonzero(law)]
        low, high = answer.interval
        return Told(answer.distance, low, high, None, [(int(k), float(law[k])) for k in order])
    k = int(np.nanargmax(answer.value))
    x, y = divmod(k, answer.value.shape[1])
    value, low, high = (float(bound[x, y]) for bound in (answer.value, answer.lower, answer.upper))
    return Told(value, low, high, (x, y), [(k, 1.0)])


def is_self_metric(answer: Answer) -> bool:
    """Whether the two models are the same."""
    source, target = answer.models
    return source == target


def title(answer: Answer, names: tuple[str, str] | None = None) -> str:
    """What the report is about, in a few words."""
    kind = "decision process" if isinstance(answer, MDPSolution) else "chain"
    if is_self_metric(answer):
        return f"Distances between the states of {printable(names[0]) if names else f'a {kind}'}"
    if names:
        return f"Distance between {printable(names[0])} and {printable(names[1])}"
    return f"Distance between two {kind}{'es' if kind.endswith('s') else 's'}"


def meaning(answer: AnySolution, headline: Told) -> str:
    """One sentence on what the headline says."""
    source, target = answer.models
    kinds = "chains" if isinstance(answer, Solution) else "processes"
    where = f"Begin with both {kinds} at their starts"
    if headline.pair is not None:
        x, y = headline.pair
        names = f"{printable(source.name_of(x))} and {printable(target.name_of(y))}"
        where = f"Begin at {names}, the two states furthest apart,"
    where = f"{where} and let them move together as closely as possible"
    if headline.upper == 0.0:
        return f"{where}: they never differ, so they are bisimilar, and that is proved."
    problem = answer.problem
    if isinstance(problem, BisimilarityProblem):
        return f"{where}: they come to different labels, sooner or later, with probability {headline.value:.6g}."
    normalised = isinstance(answer, MDPSolution) or answer.problem.normalised
    what = "gap between their rewards" if costs_are_rewards(answer) else "cost"
    discount = discount_text(problem.discount)
    if normalised:
        return f"{where}: the mean {what} is {headline.value:.6g} (time t weighs (1-γ)·γᵗ, γ = {discount})."
    if what == "cost":
        return f"{where}: the expected total cost is {headline.value:.6g} (time t counts γᵗ, γ = {discount})."
    return (
        f"{where}: the gaps between their rewards add up to {headline.value:.6g} on average (time t counts γᵗ, "
        f"γ = {discount}), and their expected total rewards differ by no more."
    )


def costs_are_rewards(answer: AnySolution) -> bool:
    """Whether the cost of a pair is the gap between its two rewards."""
    if not isinstance(answer, Solution):
        return True
    problem = answer.problem
    if problem.cost_name:
        return problem.cost_name == reward_gap.name
    mine, theirs = problem.source.reward, problem.target.reward
    if mine is None or theirs is None:
        return False
    gap = np.abs(np.subtract.outer(mine, theirs)) * (1.0 - problem.discount if problem.normalised else 1.0)
    return bool(np.allclose(problem.cost, gap, rtol=SAME_COST, atol=SAME_COST * float(gap.max())))


def facts(answer: Any) -> list[list[str]]:
    """Short lines for the summary: names and texts."""
    n, m = answer.value.shape
    unsolved = int(np.isnan(answer.value).sum())
    found = [["States", f"{n} × {m}"], ["Discount", answer.discounting]]
    if not isinstance(answer, MDPSolution) and answer.problem.cost_text:
        found.append(["Cost", answer.problem.cost_text])
    if unsolved:
        found.append(["Pairs", f"{n * m - unsolved} of {n * m} solved, those that the starts lead to"])
    found += [["Solver", answer.solver], ["Steps", str(len(answer.history))]]
    wanted = "" if answer.tol is None else f" (wanted: {answer.tol:g})"
    found.append(["Relative gap", f"{answer.computation.relative_gap:.1e}{wanted}"])
    found.append(["Status", f"{answer.status.name}: {answer.status.value}"])
    return found


def reproduce(answer: AnySolution) -> list[str]:
    """Python that asks the same question."""
    inputs = "the two decision processes" if isinstance(answer, MDPSolution) else "the two chains"
    call = _call(answer)
    comments = [f"# source, target: {inputs}"]
    if isinstance(answer, Solution) and "cost=cost" in call:
        comments.append(f"# cost: {answer.problem.cost_text or 'an array over pairs of their states'}")
    if "stop=stop" in call:
        comments.append("# stop: where the game ends, an array over pairs of their states")
    return [*comments, f"solution = {call}", 'solution.report("report.html")']


def _call(answer: AnySolution) -> str:
    """Python that asks the same question about `source` and `target`."""
    models = ["source", "target"]
    tol = [] if answer.tol is None else [f"tol={answer.tol!r}"]
    if isinstance(answer, MDPSolution):
        game = answer.problem
        return _python(
            "bm.bisimulation_metric", *models, f"discount={game.discount!r}", f'actions="{game.actions}"', *tol
        )
    problem = answer.problem
    solving = [f'solver="{answer.solver}"', *tol]
    if isinstance(problem, BisimilarityProblem):
        return _python("bm.bisimilarity_distance", *models, *solving)
    asked = [*models, f"discount={problem.discount!r}"]
    asked += [] if costs_are_rewards(answer) else ["cost=cost"]
    asked += ["normalised=True"] if problem.normalised else []
    asked += ['pairs="reachable"'] if problem.unsolved is not None else []
    if problem.stop is not None and problem.unsolved is None:
        return _python("bm.solve", _python("bm.Problem", *asked, "stop=stop"), *solving)
    return _python("bm.distance", *asked, *solving)


def _python(function: str, *arguments: str) -> str:
    return f"{function}({', '.join(arguments)})"


def _explanation(answer: AnySolution, headline: Told) -> tuple[Explanation | None, str]:
    """Which pairs the headline is made of, or why that is not known."""
    if estimated_cells(answer) > MOST_MATRIX_CELLS:
        return None, "What each pair contributes would take long to compute here; solution.explain() does."
    try:
        return answer.explain(MOST_PARTS, start=headline.pair), ""
    except (SolverFailed, NotEnoughMemory) as error:
        return None, f"What each pair contributes is not known here: {error}"


def _ids(answer: AnySolution, explanation: Explanation | None) -> list[int]:
    """The numbers of the pairs that an explanation lists by name."""
    if explanation is None:
        return []
    source, target = ({model.name_of(k): k for k in range(model.n_states)} for model in answer.models)
    m = answer.value.shape[1]
    return [source[part.source] * m + target[part.target] for part in explanation.parts]


def _on_path(answer: AnySolution, explanation: Explanation | None) -> list[int]:
    """The numbers of the pairs on the most likely way to part."""
    if explanation is None or explanation.path is None:
        return []
    m = answer.value.shape[1]
    return [moment.states[0] * m + moment.states[1] for moment in explanation.path.moments[:MOST_SHOWN_MOMENTS]]


def _table(explanation: Explanation, ids: list[int], m: int) -> dict[str, Any]:
    parts = explanation.parts[:EXPLAINED_PAIRS]
    listed = [[number, p.occupancy, p.cost, p.amount, p.share] for number, p in zip(ids, parts, strict=False)]
    rest = explanation.distance - sum(p.amount for p in parts)
    others = explanation.n_pairs - len(parts)
    found = {"parts": listed, "rest": max(rest, 0.0), "others": others, "formula": explanation.formula}
    return found | {"path": _path(explanation.path, m) if _parts(explanation) else None}


def _parts(explanation: Explanation | None) -> bool:
    """Whether a way is known on which the two models part."""
    return explanation is not None and explanation.path is not None and explanation.path.parting is not None


def _path(path: JointPath | None, m: int) -> dict[str, Any]:
    """The most likely way on which the two part: numbers of pairs, probabilities of the moves to them, costs."""
    assert path is not None
    shown = path.moments[:MOST_SHOWN_MOMENTS]
    return {
        "moments": [[moment.states[0] * m + moment.states[1], moment.probability, moment.cost] for moment in shown],
        "parting": path.parting,
        "summary": printable(path.summary(), LONGEST_SUMMARY),
        "more": len(path.moments) - len(shown),
    }

"""The result of `bisimetric distance` and `metric`, as text for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric._support.text import printable
from bisimetric.cli.explaining import explanation_document, explanation_text
from bisimetric.cli.messages import Digits, Verdict, digits
from bisimetric.cli.output import Expense, Row, facts_table, pairs_table, shown_model
from bisimetric.couplings.explanation import Explanation
from bisimetric.models.mdp import Model
from bisimetric.solving.assignment import Assignment
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.history import Status, Step
from bisimetric.solving.kinds import AnyAnswer

TOP = 8  # pairs that are listed


@dataclass(frozen=True, slots=True)
class PairDistance:
    """The distance between two states."""

    source: str
    target: str
    distance: float
    lower: float
    upper: float

    @property
    def digits(self) -> Digits:
        """The distance and its bounds as text."""
        return digits(self.distance, self.lower, self.upper)


@dataclass(frozen=True, slots=True)
class Summary:
    """The distances between all states, in short; of a model with itself those of different states, once each."""

    n_pairs: int
    zero_pairs: int  # with a proved distance of zero
    smallest: PairDistance
    median: PairDistance
    largest: PairDistance
    closest: tuple[PairDistance, ...]  # the smallest distances above zero, in order
    farthest: tuple[PairDistance, ...]  # the largest distances above zero, in order


@dataclass(frozen=True, slots=True)
class QuestionText:
    """What was asked, in the user's words."""

    kind: str  # distance, bisimilarity or metric
    source: str  # as the user wrote it
    target: str
    cost: str
    meaning: str  # of the numbers, as text
    discount: float | None  # None: an average cost has none
    normalised: bool
    itself: bool = False  # one model, all of whose states are compared
    more: dict[str, Any] = field(default_factory=dict)  # further keys of the JSON object


@dataclass(frozen=True, slots=True)
class Outcome:
    """A solution and what is printed about it: an explanation if both models have starts, else a summary."""

    question: QuestionText
    solution: AnyAnswer
    explanation: Explanation | None
    summary: Summary | None
    matching: Assignment | None
    expense: Expense
    limit: float | None
    verdict: Verdict | None


def has_starts(solution: AnyAnswer) -> bool:
    """Whether there is one distance: both models have starts, or the question needs none."""
    return solution.has_distance


def summarise(solution: AnyAnswer, *, itself: bool = False) -> Summary | None:
    """The distances between all states, in short; `itself` leaves out one of (x, y) and (y, x), and (x, x)."""
    n, m = solution.value.shape
    places = np.flatnonzero(np.triu(np.ones((n, n), np.bool_), 1)) if itself else np.arange(n * m)
    if not len(places):
        return None
    values = solution.value.ravel()[places]
    order = places[np.lexsort((places, values))]
    apart = order[solution.value.ravel()[order] > 0.0]
    far = places[np.lexsort((places, -values))[: min(TOP, len(apart))]]
    return Summary(
        len(places),
        int(np.count_nonzero(solution.upper.ravel()[places] == 0.0)),
        pair_at(solution, int(order[0])),
        pair_at(solution, int(order[(len(order) - 1) // 2])),
        pair_at(solution, int(far[0] if len(far) else order[-1])),
        tuple(pair_at(solution, int(place)) for place in apart[:TOP]),
        tuple(pair_at(solution, int(place)) for place in far),
    )


def pair_at(solution: AnyAnswer, place: int) -> PairDistance:
    """The distance at a flat index."""
    x, y = divmod(place, solution.value.shape[1])
    source, target = solution.problem.source, solution.problem.target
    numbers = (float(bound[x, y]) for bound in (solution.value, solution.lower, solution.upper))
    return PairDistance(source.name_of(x), target.name_of(y), *numbers)


def as_text(outcome: Outcome) -> Iterator[RenderableType]:
    """The facts, then where the distance comes from or the closest and farthest pairs, then the verdict."""
    yield facts_table(_facts(outcome), bold="distance")
    summary = outcome.summary
    if summary is not None and summary.closest:
        yield Text("\nClosest pairs of states that are not at zero", style="bold")
        yield distances_table(summary.closest)
        if set(summary.farthest) != set(summary.closest):
            yield Text("\nFarthest pairs of states", style="bold")
            yield distances_table(summary.farthest)
    if outcome.explanation is not None:
        yield from explanation_text(outcome.explanation)
    yield from _matching(outcome.matching)
    if outcome.verdict is not None:
        yield Text(f"\n{verdict_line(outcome)}", style="bold")


def as_short_text(outcome: Outcome) -> Iterator[RenderableType]:
    """The result alone: one number, or what is known of all pairs."""
    if outcome.summary is not None:
        yield facts_table(_summary_facts(outcome, outcome.summary), bold="largest")
    elif has_starts(outcome.solution):
        yield Text(_start_digits(outcome).value)
    yield from _matching(outcome.matching)


def as_document(outcome: Outcome) -> dict[str, Any]:
    """The JSON object whose keys the help of the command lists."""
    solution, question = outcome.solution, outcome.question
    starts = outcome.summary is None and has_starts(solution)
    lower, upper = solution.interval if starts else (None, None)
    return {
        "distance": solution.distance if starts else None,
        "lower": lower,
        "upper": upper,
        "gap": solution.gap,
        "relative_gap": solution.relative_gap,
        "tol": solution.tol,
        "tol_reached": solution.reached_tol,
        "source": question.source,
        "target": question.target,
        "states": list(solution.value.shape),
        "kind": question.kind,
        "cost": question.cost,
        "discount": question.discount,
        "normalised": question.normalised,
        "solver": solution.solver,
        "status": solution.status.name,
        "message": solution.status.value,
        "steps": len(solution.history),
        "history": [_step_document(step) for step in solution.history],
        **outcome.expense.document(),
        **explanation_document(outcome.explanation),
        "summary": None if outcome.summary is None else asdict(outcome.summary),
        "match": None if outcome.matching is None else _matching_document(outcome.matching),
        "limit": None if outcome.verdict is None else {"fail_above": outcome.limit, "verdict": outcome.verdict.value},
        **question.more,
        **_stationary(solution),
    }


def _stationary(solution: AnyAnswer) -> dict[str, Any]:
    """What holds from the best pair of states in the long run."""
    if not isinstance(solution, AverageSolution):
        return {}
    return {
        "stationary_distance": solution.stationary_distance,
        "stationary_interval": list(solution.stationary_interval),
    }


def _step_document(step: Step) -> dict[str, Any]:
    """Step, gap and seconds, and the other measurements that were made."""
    always = ("step", "gap", "seconds")
    return {name: value for name, value in step._asdict().items() if name in always or value is not None}


UNDECIDED = {  # what helps where the interval contains the limit
    Status.COMPLETED: "take an exact solver",
    Status.TIME_LIMIT: "raise --time-limit",
    Status.STEP_LIMIT: "raise --max-steps",
}


def verdict_line(outcome: Outcome) -> str:
    """What the interval proves about the limit, in one line."""
    known = _start_digits(outcome)
    if outcome.verdict is Verdict.WITHIN:
        return f"within the limit {outcome.limit!r}: the distance is at most {known.upper}"
    if outcome.verdict is Verdict.ABOVE:
        return f"above the limit {outcome.limit!r}: the distance is at least {known.lower}"
    remedy = UNDECIDED.get(outcome.solution.status, "lower --tol")
    return f"undecided, {remedy}: the limit {outcome.limit!r} is in {known.interval}"


def gap_words(solution: AnyAnswer) -> str:
    """The relative gap, and the tolerance if it was missed."""
    relative = solution.computation.relative_gap
    gap = f"{relative:.1e} of the largest distance" if relative else "0"
    return gap if solution.reached_tol else f"{gap}; wanted {solution.tol:g}, NOT REACHED"


def distances_table(pairs: tuple[PairDistance, ...], names: tuple[str, str] = ("source", "target")) -> Table:
    """Pairs of states with their distances."""
    table = pairs_table("distance", names=names)
    for pair in pairs:
        table.add_row(printable(pair.source), printable(pair.target), pair.digits.value)
    return table


def _start_digits(outcome: Outcome) -> Digits:
    """The distance between the starts and its interval as text."""
    return digits(outcome.solution.distance, *outcome.solution.interval)


def _facts(outcome: Outcome) -> Iterator[Row]:
    solution, question = outcome.solution, outcome.question
    names = (
        shown_model(question.source)
        if question.itself
        else f"{shown_model(question.source)} and {shown_model(question.target)}"
    )
    yield "model" if question.itself else "models" if question.kind == "metric" else "chains", names
    if outcome.summary is not None:
        yield from _summary_facts(outcome, outcome.summary)
    elif has_starts(solution):
        known = _start_digits(outcome)
        yield "distance", known.value
        within = "" if solution.computation is solution.certificate else " for all chains within their row errors"
        yield "certified", f"in {known.interval}{within}"
        yield "starts", " and ".join(_starts(*solution.models)) or "none; from the best pair of states"
    yield "meaning", question.meaning
    states = "{} × {}".format(*solution.value.shape)
    unsolved = int(np.isnan(solution.value).sum())
    yield "states", f"{states}; {solution.value.size - unsolved} pairs are reachable" if unsolved else states
    steps = len(solution.history)
    yield "solver", f"{solution.solver}, {steps} step{'' if steps == 1 else 's'}"
    yield "relative gap", gap_words(solution)
    yield "status", f"{solution.status.name}: {solution.status.value}"
    yield from outcome.expense.facts()


def _summary_facts(outcome: Outcome, summary: Summary) -> Iterator[Row]:
    question, solution = outcome.question, outcome.solution
    if not question.itself:
        given = zip((question.source, question.target), solution.models, strict=True)
        lacking = [shown_model(name) for name, model in given if model.start is None]
        yield "starts", f"none in {' and '.join(lacking)}; --start A0 B0 gives one distance"
    for name, pair in (("smallest", summary.smallest), ("median", summary.median), ("largest", summary.largest)):
        yield name, f"{pair.digits.value} between {printable(pair.source)} and {printable(pair.target)}"
    yield "proved zero", f"{summary.zero_pairs} of {summary.n_pairs} pairs"
    yield "interval", f"at most {solution.gap:.1e} wide for every pair"


def _starts(*models: Model) -> Iterator[str]:
    for model in models:
        if model.start is not None:
            states = np.flatnonzero(model.start)
            first = int(states[0])
            name = str(first) if model.names is None else model.names[first]
            yield printable(name) if len(states) == 1 else f"a distribution on {len(states)} states"


def _matching(matching: Assignment | None) -> Iterator[RenderableType]:
    if matching is None:
        return
    by = "by distance" if matching.time is None else "by the time that the models spend at a pair"
    yield Text(f"\nStates matched one-to-one, {by}", style="bold")
    table = pairs_table(*matching.head()[2:])
    for row in matching.rows():
        table.add_row(*row)
    yield table
    yield Text(matching.summary(), style="dim")


def _matching_document(matching: Assignment) -> dict[str, Any]:
    times = [None] * len(matching.source) if matching.time is None else matching.time.tolist()
    pairs = zip(matching.pairs, matching.distance.tolist(), times, strict=True)
    names = zip(matching.names, matching.unmatched, strict=True)
    return {
        "pairs": [
            {"source": source, "target": target, "distance": distance, "time": time}
            for (source, target), distance, time in pairs
        ],
        "total": matching.total,
        "unmatched": [[all_names[state] for state in states] for all_names, states in names],
    }

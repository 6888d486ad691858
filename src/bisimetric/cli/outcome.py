"""The result of `bisimetric distance`, as text for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric._support.text import discount_text, printable
from bisimetric.cli.messages import Digits, Verdict, digits
from bisimetric.cli.output import Expense, Row, facts_table, pairs_table
from bisimetric.couplings.explanation import Explanation, Part
from bisimetric.models.chain import MarkovChain
from bisimetric.solving.solution import Solution, Status, Step

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
    """The distances between all states, in short."""

    n_pairs: int
    zero_pairs: int  # with a proved distance of zero
    smallest: PairDistance
    median: PairDistance
    largest: PairDistance
    closest: tuple[PairDistance, ...]  # the smallest distances above zero, in order


@dataclass(frozen=True, slots=True)
class Outcome:
    """A solution and what is printed about it: an explanation if both chains have starts, else a summary."""

    source: str  # as the user wrote it
    target: str
    cost: str
    solution: Solution
    explanation: Explanation | None
    summary: Summary | None
    expense: Expense
    limit: float | None
    verdict: Verdict | None


def has_starts(solution: Solution) -> bool:
    """Whether both chains have starts, so that there is one distance."""
    return solution.problem.source.start is not None and solution.problem.target.start is not None


def summarise(solution: Solution) -> Summary:
    """The distances between all states, in short."""
    flat = solution.value.ravel()
    middle = (len(flat) - 1) // 2
    apart = np.flatnonzero(flat > 0.0)
    near = apart[np.argpartition(flat[apart], TOP)[:TOP]] if len(apart) > TOP else apart
    near = near[np.lexsort((near, flat[near]))]
    return Summary(
        len(flat),
        int(np.count_nonzero(solution.upper == 0.0)),
        pair_at(solution, int(flat.argmin())),
        pair_at(solution, int(np.argpartition(flat, middle)[middle])),
        pair_at(solution, int(flat.argmax())),
        tuple(pair_at(solution, int(place)) for place in near),
    )


def pair_at(solution: Solution, place: int) -> PairDistance:
    """The distance at a flat index."""
    x, y = divmod(place, solution.problem.shape[1])
    names = solution.problem.source.name_of(x), solution.problem.target.name_of(y)
    numbers = (float(bound[x, y]) for bound in (solution.value, solution.lower, solution.upper))
    return PairDistance(*names, *numbers)


def as_text(outcome: Outcome) -> Iterator[RenderableType]:
    """The facts, then where the distance comes from or the closest pairs, then the verdict."""
    yield facts_table(_facts(outcome), bold="distance")
    if outcome.summary is not None and outcome.summary.closest:
        yield Text("\nClosest pairs of states that are not at zero", style="bold")
        yield distances_table(outcome.summary.closest)
    explanation = outcome.explanation
    if explanation is not None and explanation.parts:
        yield Text("\nWhere it comes from: pairs of states under the best coupling found", style="bold")
        yield _parts_table(explanation)
        meaning = f"occupancy is the discounted share of time,\n{explanation.formula}"
        yield Text(f"{explanation.remainder()}; {meaning}", style="dim")
    if outcome.verdict is not None:
        yield Text(f"\n{verdict_line(outcome)}", style="bold")


def as_document(outcome: Outcome) -> dict[str, Any]:
    """The JSON object whose keys `bisimetric distance --help` lists."""
    solution = outcome.solution
    problem = solution.problem
    starts = has_starts(solution)
    lower, upper = solution.interval if starts else (None, None)
    explanation = outcome.explanation
    return {
        "distance": solution.distance if starts else None,
        "lower": lower,
        "upper": upper,
        "gap": solution.gap,
        "relative_gap": solution.relative_gap,
        "tol": solution.tol,
        "tol_reached": solution.reached_tol,
        "source": outcome.source,
        "target": outcome.target,
        "states": list(problem.shape),
        "discount": problem.discount,
        "normalised": problem.normalised,
        "solver": solution.solver,
        "status": solution.status.name,
        "message": solution.status.value,
        "steps": len(solution.history),
        "history": [_step_document(step) for step in solution.history],
        **outcome.expense.document(),
        "explain": None if explanation is None else [_part(part) for part in explanation.parts],
        "explain_rest": None if explanation is None else explanation.rest,
        "summary": None if outcome.summary is None else asdict(outcome.summary),
        "limit": None if outcome.verdict is None else {"fail_above": outcome.limit, "verdict": outcome.verdict.value},
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


def gap_words(solution: Solution) -> str:
    """The relative gap, and the tolerance if it was missed."""
    gap = f"{solution.relative_gap:.1e} of the largest distance" if solution.relative_gap else "0"
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
    solution = outcome.solution
    problem = solution.problem
    yield "chains", f"{printable(outcome.source)} and {printable(outcome.target)}"
    if has_starts(solution):
        known = _start_digits(outcome)
        yield "distance", known.value
        yield "certified", f"in {known.interval}"
        yield "starts", " and ".join(_starts(problem.source, problem.target))
    if outcome.summary is not None:
        yield from _summary_facts(outcome, outcome.summary)
    kind = "normalised: times 1-γ" if problem.normalised else "sum of discounted costs"
    yield "meaning", f"{kind}; γ = {discount_text(problem.discount)}, cost: {printable(outcome.cost)}"
    yield "states", "{} × {}".format(*problem.shape)
    steps = len(solution.history)
    yield "solver", f"{solution.solver}, {steps} step{'' if steps == 1 else 's'}"
    yield "relative gap", gap_words(solution)
    yield "status", f"{solution.status.name}: {solution.status.value}"
    yield from outcome.expense.facts()


def _summary_facts(outcome: Outcome, summary: Summary) -> Iterator[Row]:
    problem = outcome.solution.problem
    lacking = [
        printable(name)
        for name, chain in ((outcome.source, problem.source), (outcome.target, problem.target))
        if chain.start is None
    ]
    yield "starts", f"none in {' and '.join(lacking)}; --start A0 B0 gives one distance"
    for name, pair in (("smallest", summary.smallest), ("median", summary.median), ("largest", summary.largest)):
        yield name, f"{pair.digits.value} between {printable(pair.source)} and {printable(pair.target)}"
    yield "proved zero", f"{summary.zero_pairs} of {summary.n_pairs} pairs"
    yield "interval", f"at most {outcome.solution.gap:.1e} wide for every pair"


def _starts(*chains: MarkovChain) -> Iterator[str]:
    for chain in chains:
        if chain.start is not None:
            states = np.flatnonzero(chain.start)
            single = len(states) == 1
            yield printable(chain.name_of(int(states[0]))) if single else f"a distribution on {len(states)} states"


def _parts_table(explanation: Explanation) -> Table:
    table = pairs_table("occupancy", "cost", "amount", "share")
    for row in explanation.rows():
        table.add_row(*row)
    return table


def _part(part: Part) -> dict[str, Any]:
    """The fields of a part; chains have no actions."""
    return {key: value for key, value in asdict(part).items() if value is not None}

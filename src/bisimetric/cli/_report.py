"""An outcome as text for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric._support.memory import in_words
from bisimetric._support.text import discount_text, printable
from bisimetric.cli._outcome import Expense, Outcome, PairDistance, Summary, has_starts
from bisimetric.cli._text import Digits, digits, duration
from bisimetric.cli._verdict import Verdict
from bisimetric.models.chain import MarkovChain
from bisimetric.solving.solution import Solution, Status
from bisimetric.views.explanation import Explanation

Row = tuple[str, str]


def report(outcome: Outcome) -> Iterator[RenderableType]:
    """Diagnostics, where the distance comes from or a summary, and the verdict."""
    yield facts_grid(_facts(outcome), bold="distance")
    if outcome.summary is not None and outcome.summary.closest:
        yield Text("\nClosest pairs of states that are not at zero", style="bold")
        yield _closest_table(outcome.summary)
    if outcome.explanation is not None and outcome.explanation.parts:
        yield Text("\nWhere it comes from: pairs of states under the best coupling found", style="bold")
        yield _parts_table(outcome.explanation)
        yield Text(_remainder(outcome.explanation), style="dim")
    if outcome.verdict is not None:
        yield Text(f"\n{verdict_line(outcome)}", style="bold")


def facts_grid(facts: Iterable[Row], *, bold: str) -> Table:
    """Names and facts in two columns, the fact of one name in bold."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, fact in facts:
        grid.add_row(name, Text(fact, style="bold" if name == bold else ""))
    return grid


def verdict_line(outcome: Outcome) -> str:
    """What the interval proves about the limit, in one line."""
    known = start_digits(outcome)
    if outcome.verdict is Verdict.WITHIN:
        return f"within the limit {outcome.limit!r}: the distance is at most {known.upper}"
    if outcome.verdict is Verdict.ABOVE:
        return f"above the limit {outcome.limit!r}: the distance is at least {known.lower}"
    remedy = "take an exact solver" if outcome.solution.status is Status.COMPLETED else "lower --tol"
    return f"undecided, {remedy}: the limit {outcome.limit!r} is in {known.interval}"


def start_digits(outcome: Outcome) -> Digits:
    """The distance between the starts and its interval."""
    return digits(outcome.solution.distance, *outcome.solution.interval)


def _facts(outcome: Outcome) -> Iterator[Row]:
    solution, expense = outcome.solution, outcome.expense
    problem = solution.problem
    yield "chains", f"{printable(outcome.source)} and {printable(outcome.target)}"
    if has_starts(solution):
        known = start_digits(outcome)
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
    yield from expense_facts(expense)


def gap_words(solution: Solution) -> str:
    """The relative gap, and the one wanted where that is smaller."""
    gap = f"{solution.relative_gap:.1e} of the largest distance" if solution.relative_gap else "0"
    return gap if solution.reached_tol else f"{gap}; wanted {solution.tol:g}, NOT REACHED"


def expense_facts(expense: Expense) -> Iterator[Row]:
    """Time and memory."""
    yield "time", f"{duration(expense.cpu)} CPU, {duration(expense.wall)} wall"
    if expense.memory is not None:
        yield "peak memory", in_words(expense.memory)


def _summary_facts(outcome: Outcome, summary: Summary) -> Iterator[Row]:
    problem = outcome.solution.problem
    lacking = [
        printable(name)
        for name, chain in ((outcome.source, problem.source), (outcome.target, problem.target))
        if chain.start is None
    ]
    yield "starts", f"none in {' and '.join(lacking)}; --start A0 B0 gives one distance"
    for name, pair in (("smallest", summary.smallest), ("median", summary.median), ("largest", summary.largest)):
        yield name, f"{pair_digits(pair).value} between {printable(pair.source)} and {printable(pair.target)}"
    yield "proved zero", f"{summary.zero_pairs} of {summary.n_pairs} pairs"
    yield "interval", f"at most {outcome.solution.gap:.1e} wide for every pair"


def _starts(*chains: MarkovChain) -> Iterator[str]:
    for chain in chains:
        if chain.start is not None:
            states = np.flatnonzero(chain.start)
            alone = len(states) == 1
            yield printable(chain.name_of(int(states[0]))) if alone else f"a law on {len(states)} states"


def pair_digits(pair: PairDistance) -> Digits:
    """The distance of a pair and its interval."""
    return digits(pair.distance, pair.lower, pair.upper)


def pairs_table(*columns: str, names: tuple[str, str] = ("source", "target")) -> Table:
    """A table of pairs of states with these columns of numbers."""
    table = Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _closest_table(summary: Summary) -> Table:
    table = pairs_table("distance")
    for pair in summary.closest:
        table.add_row(printable(pair.source), printable(pair.target), pair_digits(pair).value)
    return table


def _parts_table(explanation: Explanation) -> Table:
    table = pairs_table("occupancy", "cost", "amount", "share")
    for row in explanation.rows():
        table.add_row(*row)
    return table


def _remainder(explanation: Explanation) -> str:
    return f"{explanation.remainder()}; occupancy is the discounted share of time,\n{explanation.formula}"

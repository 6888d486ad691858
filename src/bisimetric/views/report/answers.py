"""The page of a solution whose moves depend on the time, or on the long run: all pairs, explanation, both models.

There is no walk along the coupling here: over a finite horizon there is another coupling for every step, and in the
long run a single step has no share of the distance.
"""

from __future__ import annotations

import numpy as np

from bisimetric._support.text import discount_text, printable
from bisimetric.cost.ground import reward_gap
from bisimetric.couplings.explanation import Explanation
from bisimetric.errors import BisimetricError
from bisimetric.many.table import Distances
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.views.report.convergence import convergence_charts
from bisimetric.views.report.distances import TABLE_SCRIPTS, pair_matrix
from bisimetric.views.report.drawings import shown_names
from bisimetric.views.report.frame import Headline, Page, PlainSection, ScriptedSection, TableSection
from bisimetric.views.report.solution import EXPLAINED_PAIRS, facts, title, two_names

STATE_WORDS = {
    "first": "Source state",
    "second": "Target state",
    "thing": "Target state",
    "many": "states",
    "order": "",
}
LONGEST_REASON = 300  # characters
TimedSolution = HorizonSolution | AverageSolution


def timed_page(answer: TimedSolution, *, names: object = None, command: str | None = None) -> Page:
    """The page of a solution over a finite horizon or in the long run."""
    called = two_names(names)
    n, m = answer.value.shape
    status = np.full((n, m), answer.status, dtype=object)
    table = Distances(answer.value, answer.lower, answer.upper, status)
    rows, columns = ([*(shown_names(model) or map(str, range(model.n_states)))] for model in answer.models)
    sections: list[ScriptedSection | PlainSection] = [
        ScriptedSection("table.html", TABLE_SCRIPTS),
        ScriptedSection("table-pair.html", TABLE_SCRIPTS),
        _explanation(answer),
        *convergence_charts(answer),
    ]
    return Page(
        title=title(answer, called),
        headline=_headline(answer),
        meaning=_meaning(answer),
        facts=facts(answer),
        sections=sections,
        python=_python(answer),
        command=command,
        data={
            "rows": rows,
            "columns": columns,
            "words": STATE_WORDS,
            "table": pair_matrix(table, (np.arange(n), np.arange(m))),
            "map": None,
        },
    )


def _headline(answer: TimedSolution) -> Headline:
    if answer.has_distance:
        return Headline.interval(answer.distance, *answer.interval)
    return Headline.words(f"up to {answer.value.max():.6g}", f"each certified to {answer.gap:.2g}")


def _meaning(answer: TimedSolution) -> str:
    where = "Begin with both chains at their starts" if answer.has_distance else "Begin at any two states"
    value = f"{answer.distance:.6g}" if answer.has_distance else "at most the number above"
    if isinstance(answer, AverageSolution):
        if any(model.start is None for model in answer.models):
            where = "Begin at the best pair of states"
        return f"{where} and move together as closely as possible: in the long run a step costs {value} on average."
    horizon, discount = answer.problem.horizon, answer.problem.discount
    weighed = "" if discount == 1.0 else f" (time t counts γᵗ, γ = {discount_text(discount)})"
    return (
        f"{where} and let them move together as closely as possible: the expected cost of the first {horizon} steps, "
        f"with what is paid at the end, is {value}{weighed}."
    )


def _explanation(answer: TimedSolution) -> TableSection:
    head, title_ = ["Pair", "Time there", "Cost", "Share"], "Where the distance comes from"
    try:
        found: Explanation = answer.explain(EXPLAINED_PAIRS)
    except BisimetricError as error:  # without starts, or where that takes too much memory
        why = f"That is not known here: {printable(str(error), LONGEST_REASON)}"
        return TableSection("explanation", title_, head, [], note=why)
    rows = [
        [f"{printable(p.source)}  ·  {printable(p.target)}", f"{p.occupancy:.4g}", f"{p.cost:.4g}", f"{p.share:.1%}"]
        for p in found.parts
    ]
    others = found.n_pairs - len(found.parts)
    return TableSection(
        "explanation",
        title_,
        head,
        rows,
        hint=f"The pairs that add most; {found.formula}.",
        note=f"{others} other pairs add {max(found.rest, 0.0):.6g}." if others > 0 else "",
    )


def _python(answer: TimedSolution) -> list[str]:
    problem, asked = answer.problem, ["source", "target"]
    lines = ["# source, target: the two chains"]
    if isinstance(answer, HorizonSolution):
        asked += [f"horizon={answer.problem.horizon}", f"discount={problem.discount!r}"]
    if problem.cost_name != reward_gap.name:
        lines.append(f"# cost: {problem.cost_text or 'an array over pairs of their states'}")
        asked.append("cost=cost")
    tol = [] if answer.tol is None else [f"tol={answer.tol!r}"]
    call = f"bm.average_distance({', '.join(asked + tol)})"
    if isinstance(answer, HorizonSolution):
        if answer.problem.terminal.any():
            lines.append("# terminal: what is paid at the end, an array over pairs of their states")
            asked.append("terminal=terminal")
        problem_text = f"bm.HorizonProblem({', '.join(asked)})"
        call = f"bm.solve({', '.join([problem_text, *tol])})"
    return [*lines, f"solution = {call}", 'solution.report("report.html")']

"""The page of a table of distances between chains: matrix, map, tree, and pairs that missed the tolerance.

Rows and columns are ordered by likeness, so that groups of chains show as blocks. A table with more than MOST_BINS rows
or columns is binned in that order: a cell is the mean over its bin, and selects the nearest pair in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bisimetric._support.text import discount_text, printable
from bisimetric.cost.ground import reward_gap
from bisimetric.errors import InvalidOption
from bisimetric.many.table import MET, Distances
from bisimetric.models.rows import Floats
from bisimetric.solving.history import Status
from bisimetric.views.clustering import cluster_tree, rows_by_similarity, similar_first
from bisimetric.views.report.frame import Headline, Page, PlainSection, ScriptedSection, TableSection
from bisimetric.views.report.likeness import likeness_map, likeness_tree
from bisimetric.views.report.pairs import Bins, Ids, bin_statistics, numbers, representatives

MOST_LISTED = 200  # pairs that missed the tolerance
LONGEST_CHAIN = 120  # characters of a chain's name
CHAIN_WORDS = {
    "first": "First chain",
    "second": "Second chain",
    "thing": "Chain",
    "many": "chains",
    "order": "Ordered so that similar chains are neighbours. ",
}
TABLE_SCRIPTS = ("matrix.js", "labels.js", "table.js")


def distances_page(answer: Distances, *, names: object = None, command: str | None = None) -> Page:
    """The page of a table of distances."""
    rows, columns = chain_names(answer, names)
    one_list = is_one_list(answer)
    value = np.where(np.isnan(answer.value), np.nanmax(answer.value, initial=0.0), answer.value)  # for the order
    shared = 0.5 * value + 0.5 * value.T if one_list else None
    if shared is not None:
        np.fill_diagonal(shared, 0.0)
    order = _orders(value, shared)
    sections: list[ScriptedSection | PlainSection] = [
        ScriptedSection("table.html", TABLE_SCRIPTS),
        ScriptedSection("table-pair.html", TABLE_SCRIPTS),
    ]
    has_map = shared is not None and len(rows) > 1 and not answer.unknown
    if shared is not None and has_map:
        sections += [ScriptedSection("table-map.html", TABLE_SCRIPTS), likeness_tree(cluster_tree(shared), rows)]
    sections += _missed(answer, rows, columns)
    n, m = answer.value.shape
    worst = np.nanmax(answer.value, initial=0.0)
    certified = f"{answer.unknown} unknown" if answer.unknown else f"each certified to {answer.gap:.2g}"
    return Page(
        title=f"Distances between {n} chains" if one_list else f"Distances of {n} chains from {m} others",
        headline=Headline.words(f"{n} × {m} distances", f"up to {worst:.6g}, {certified}"),
        meaning=_meaning(answer),
        facts=_facts(answer),
        sections=sections,
        python=_python(answer, rows, columns),
        command=command,
        data={
            "rows": rows,
            "columns": columns,
            "words": CHAIN_WORDS,
            "table": pair_matrix(answer, order),
            "map": likeness_map(shared) if shared is not None and has_map else None,
        },
    )


def chain_names(answer: Distances, names: object) -> tuple[list[str], list[str]]:
    """What rows and columns are called: as given, as the table knows, or by their number."""
    n, m = answer.value.shape
    one_list = is_one_list(answer)
    if names is None:
        known = answer.question
        rows: Sequence[str] = known.rows if known is not None else [f"chain {k + 1}" for k in range(n)]
        columns: Sequence[str] = known.columns if known is not None else [f"chain {k + 1}" for k in range(m)]
    else:
        count = n if one_list else n + m
        given = list(names) if isinstance(names, (list, tuple)) else []
        if len(given) != count or not all(isinstance(name, str) for name in given):
            raise InvalidOption(f"names is {names!r:.60}, expected {count} texts, one for every chain")
        rows, columns = given[:n], given[:m] if one_list else given[n:]
    return [[printable(name, LONGEST_CHAIN) for name in side] for side in (rows, columns)]  # type: ignore[return-value]


def is_one_list(answer: Distances) -> bool:
    """Whether rows and columns are the same chains; of an unknown table, whether it looks like that."""
    if answer.question is not None:
        return answer.question.one_list
    value = answer.value
    return value.shape[0] == value.shape[1] and np.array_equal(value, value.T) and not value.diagonal().any()


def _orders(value: Floats, shared: Floats | None) -> tuple[Ids, Ids]:
    if shared is not None:
        return (similar_first(shared),) * 2
    return rows_by_similarity(value), rows_by_similarity(value.T)


def pair_matrix(answer: Distances, order: tuple[Ids, Ids]) -> dict[str, Any]:
    """The matrix in order, and what is known about its pairs; a pair goes by row·M + column."""
    rows, columns = (Bins.of(length) for length in answer.value.shape)
    m = answer.value.shape[1]
    grid = np.ix_(*order)
    ids: Ids = (order[0][:, None] * m + order[1]).astype(np.int64)
    table: dict[str, Any] = {"rows": rows.edges.tolist(), "columns": columns.edges.tolist()}
    table["order"] = [side.tolist() for side in order]
    table["binned"] = not (rows.is_exact and columns.is_exact)
    shown = ids.ravel()
    if table["binned"]:
        value, lower, upper = (part[grid] for part in (answer.value, answer.lower, answer.upper))
        statistics = bin_statistics(value, lower, upper, rows, columns)
        table |= {name: numbers(array) for name, array in statistics.items()}
        shown = ids.ravel()[representatives(value, np.zeros(value.shape), rows, columns)]
    table["pairs"] = {
        "id": shown.tolist(),
        "value": _known(answer.value.ravel()[shown]),
        "lower": _known(answer.lower.ravel()[shown]),
        "upper": _known(answer.upper.ravel()[shown]),
        "status": [list(Status).index(status) for status in answer.status.ravel()[shown]],
    }
    table["statuses"] = [f"{status.name}: {status.value}" for status in Status]
    return table


def _known(array: Floats) -> list[float | None]:
    """The numbers; None for those that JSON does not have."""
    return numbers(np.where(np.isfinite(array), array, np.nan))


def _missed(answer: Distances, rows: list[str], columns: list[str]) -> list[TableSection]:
    """Pairs whose solve missed the tolerance, by name."""
    places = [(i, j) for (i, j), status in np.ndenumerate(answer.status) if status not in MET]
    if is_one_list(answer):
        places = [(i, j) for i, j in places if i <= j or answer.status[j, i] in MET]
    if not places:
        return []
    names_of = [[status.name for status in row] for row in answer.status]
    listed = [
        [
            f"{rows[i]}  ·  {columns[j]}",
            names_of[i][j],
            f"{answer.lower[i, j]:.6g}",
            f"{answer.upper[i, j]:.6g}",
        ]
        for i, j in places[:MOST_LISTED]
    ]
    more = f" The first {MOST_LISTED} are listed." if len(places) > MOST_LISTED else ""
    return [
        TableSection(
            "missed",
            "Pairs that missed the tolerance",
            ["Pair", "Status", "Lower bound", "Upper bound"],
            listed,
            hint=f"Pairs of chains: {len(places)}. Their bounds hold, but are further apart than was asked.{more}",
            wide=True,
        )
    ]


def _meaning(answer: Distances) -> str:
    where = "Each number compares the starts of two chains that move together as closely as possible"
    asked = answer.question
    if asked is None:
        return f"{where}: the expected cost of their differences."
    what = "gaps between their rewards" if asked.cost == reward_gap.name else "costs"
    discount = discount_text(asked.discount)
    if asked.normalised:
        return f"{where}: the mean of the {what} (time t weighs (1-γ)·γᵗ, γ = {discount})."
    return f"{where}: the {what} on the way, added up (time t counts γᵗ, γ = {discount})."


def _facts(answer: Distances) -> list[list[str]]:
    missed = sum(status not in MET for status in answer.status.ravel())
    ending = "all solved" if not missed else f"{missed} of {answer.status.size} missed the tolerance"
    found = [["Largest gap", f"{answer.gap:.2g}"], ["Pairs", ending]]
    asked = answer.question
    if asked is not None:
        found.insert(0, ["Discount", discount_text(asked.discount) + (" (normalised)" if asked.normalised else "")])
        found += [["Cost", _cost_words(asked.cost)], ["Solver", asked.solver]]
        found += [] if asked.tol is None else [["Relative gap wanted", f"{asked.tol:g}"]]
    return found


def _cost_words(cost: str) -> str:
    return "gap between rewards" if cost == reward_gap.name else printable(cost) or "an array"


def _python(answer: Distances, rows: list[str], columns: list[str]) -> list[str]:
    asked = answer.question
    if asked is None:
        return ["# distances: a table that bm.pairwise made", 'distances.report("report.html")']
    lists = {"chains": asked.rows} if asked.one_list else {"chains": asked.rows, "others": asked.columns}
    lines = [
        _chains_line(name, given, shown) for (name, given), shown in zip(lists.items(), (rows, columns), strict=False)
    ]
    options = [*lists, f"discount={asked.discount!r}"]
    if asked.cost != reward_gap.name:
        lines.append(f"# cost: {printable(asked.cost) or 'an array over pairs of states'}")
        options.append("cost=cost")
    options += ["normalised=True"] if asked.normalised else []
    options += [f'solver="{asked.solver}"'] + ([] if asked.tol is None else [f"tol={asked.tol!r}"])
    return [*lines, f"distances = bm.pairwise({', '.join(options)})", 'distances.report("report.html")']


def _chains_line(name: str, given: Sequence[str], shown: Sequence[str]) -> str:
    """Python that makes a list of chains where they were given as texts, else a comment that names them."""
    if not any(text in (f"chain {k + 1}", f"other {k + 1}") for k, text in enumerate(given)):
        return f"{name} = {list(given)!r}"
    return f"# {name}: {', '.join(shown)}"

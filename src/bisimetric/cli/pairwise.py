"""`bisimetric pairwise`: read the chains, compute all distances, write the files, print the table."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric import solvers
from bisimetric._support.text import discount_text, printable
from bisimetric.cli.costs import read_cost
from bisimetric.cli.distance import EXACT
from bisimetric.cli.distance_tables import TABLE_ENDINGS, as_csv, status_names, write_distances
from bisimetric.cli.messages import ExitCode, is_quiet, note, tell
from bisimetric.cli.models import Reading
from bisimetric.cli.outcome import TOP, PairDistance, distances_table
from bisimetric.cli.output import (
    STDOUT,
    Expense,
    Meter,
    Row,
    check_output,
    check_picture,
    check_report,
    check_stdout,
    columns_table,
    facts_table,
    print_json,
    show,
    shown_model,
)
from bisimetric.cli.progress import Progress
from bisimetric.cli.solver_options import chosen_solver
from bisimetric.errors import InvalidOption, MissingStart, PairFailed, ToleranceNotReached
from bisimetric.many.compaction import compact_store
from bisimetric.many.pairwise import pairwise
from bisimetric.many.table import MET, Distances, TableQuestion
from bisimetric.many.table_run import PairDone
from bisimetric.models.mdp import MDP, Model
from bisimetric.problems.discounted import checked_discount
from bisimetric.problems.game import Actions
from bisimetric.solving.history import Status

COLUMNS_SHOWN = 6  # columns of a table that is printed whole


@dataclass(frozen=True, slots=True)
class PairwiseRequest(Reading):
    """The options of the command."""

    rows: list[str]
    columns: list[str] | None
    policy: str | None
    discount: float
    cost: str | None
    normalised: bool
    actions: Actions
    store: str | None
    compact: bool
    jobs: int | None
    backend: str | None
    time_limit: float | None
    solver: str | None
    settings: list[str] | None
    tol: float | None
    as_json: bool
    out: str | None
    plot: str | None
    report: str | None
    command_line: str


def run(request: PairwiseRequest) -> int:
    """Compute and print; returns the exit code."""
    check_stdout(request.out, as_json=request.as_json)
    check_output(None if request.out == STDOUT else request.out, "--out", TABLE_ENDINGS)
    check_picture(request.plot, "--plot")
    check_report(request.report, "--report")
    checked_discount(request.discount)
    if request.compact and request.store is None:
        raise InvalidOption("--compact is for a store, and there is none; give --store DIR")
    meter = Meter()
    failed = ""
    with Progress() as progress:
        try:
            table = _table(request, progress)
        except ToleranceNotReached as missed:
            table, failed = missed.distances, _missed(request, missed)
        except PairFailed as error:
            if error.distances is None:
                raise
            table, failed = error.distances, str(error).partition(", error.distances")[0]
        _compact(request)
        document = _document(request, table, meter.read())
        if request.out is not None and request.out != STDOUT:
            progress.doing("saving")
            write_distances(request.out, table, document)
            note(f"the table is in {request.out}")
        if request.plot is not None:
            progress.doing("drawing")
            _draw(request, table)
            note(f"the picture is in {request.plot}")
        if request.report is not None:
            progress.doing("writing the report")
            names = [*request.rows, *(request.columns or ())]
            table.report(request.report, names=names, command=request.command_line)
            note(f"the report is in {request.report}")
    if request.as_json:
        print_json(document)
    elif request.out == STDOUT:
        sys.stdout.write(as_csv(table, request.rows, _columns(request)))
    elif not (is_quiet() and request.out is not None):
        show(*_text(request, table, meter.read()))
    missed_count = int(sum(status not in MET for status in table.status.ravel()))
    if failed:
        tell(failed)
        return ExitCode.UNDECIDED
    if missed_count:
        tell(f"{missed_count} of {table.status.size} distances miss the default tolerance; their bounds hold")
    if (table.status == Status.TIME_LIMIT).any():
        tell("the time limit ended the work; raise --time-limit")
        return ExitCode.UNDECIDED
    return ExitCode.SUCCESS


def _table(request: PairwiseRequest, progress: Progress) -> Distances:
    progress.doing("reading")
    names = [*request.rows, *(request.columns or ())]
    chains: list[Model] = (
        [*request.chains(names, request.policy, request.discount)] if request.policy else request.walks(names)
    )
    default = None if any(isinstance(chain, MDP) for chain in chains) and not request.settings else EXACT
    wanted = request.solver or default
    solver = None if wanted is None else chosen_solver(wanted, request.settings, list(solvers.SOLVERS))
    for name, chain in zip(names, chains, strict=True):
        if chain.start is None:
            raise MissingStart(f"{name} has no start, expected chains with one: pairwise compares their starts")
    sources, targets = chains[: len(request.rows)], chains[len(request.rows) :]

    def on_pair(pair: PairDone) -> None:
        progress.doing(f"pair {pair.done} of {pair.total}")

    progress.doing("solving")
    return pairwise(
        sources,
        targets or None,
        discount=request.discount,
        cost=_cost(request, sources[0], (targets or sources)[0]),
        normalised=request.normalised,
        actions=request.actions,
        solver=solver,
        tol=request.tol,
        time_limit=request.time_limit,
        n_jobs=request.jobs,
        backend=request.backend,
        store=request.store,
        on_pair=on_pair,
    )


def _compact(request: PairwiseRequest) -> None:
    if request.compact and request.store is not None:
        done = compact_store(request.store)
        note(f"the store is compacted: {done.merged} files merged, {done.left} left as they are")


def _cost(request: PairwiseRequest, source: Model, target: Model) -> Any:
    return None if request.cost is None else read_cost(request.cost, (source.n_states, target.n_states))


def _draw(request: PairwiseRequest, table: Distances) -> None:
    from bisimetric import plot

    assert request.plot is not None
    names = request.rows if request.columns is None else (request.rows, request.columns)
    plot.save(table.plot(names=names), request.plot)


def _missed(request: PairwiseRequest, missed: ToleranceNotReached) -> str:
    if missed.solution is None:
        return str(missed).replace("time_limit", "--time-limit").partition(", or take")[0]
    i, j = missed.pair or (0, 0)
    names = f"{request.rows[i]} and {_columns(request)[j]}"
    reached = f"relative gap {missed.solution.relative_gap:.1e} between {names}"
    exact = request.solver is None or solvers.by_name(request.solver).default_tol > 0.0
    remedy = "raise --tol" if exact else "take an exact solver"
    return f"the tolerance {request.tol:g} was not reached: {reached}; {remedy}, or use the bounds, which hold"


def _asked(table: Distances) -> TableQuestion:
    assert table.question is not None
    return table.question


def _columns(request: PairwiseRequest) -> list[str]:
    return request.rows if request.columns is None else request.columns


def _document(request: PairwiseRequest, table: Distances, expense: Expense) -> dict[str, Any]:
    return {
        "rows": request.rows,
        "columns": _columns(request),
        "value": table.value.tolist(),
        "lower": table.lower.tolist(),
        "upper": table.upper.tolist(),
        "status": status_names(table),
        "gap": table.gap,
        "discount": request.discount,
        "cost": request.cost or "reward",
        "normalised": _asked(table).normalised,
        "solver": _asked(table).solver,
        "output": request.out,
        **expense.document(),
    }


def _text(request: PairwiseRequest, table: Distances, expense: Expense) -> Iterator[RenderableType]:
    if not is_quiet():
        yield facts_table(_facts(request, table, expense), bold="distances")
        yield Text("")
    if table.value.shape[1] <= COLUMNS_SHOWN:
        yield _matrix(request, table)
        return
    for title, pairs in _extremes(request, table):
        yield Text(title, style="bold")
        yield distances_table(pairs, ("chain", "and"))


def _facts(request: PairwiseRequest, table: Distances, expense: Expense) -> Iterator[Row]:
    known = f"{table.unknown} of them unknown" if table.unknown else f"each certified to {table.gap:.1e}"
    yield "distances", "{} × {}, {}".format(*table.value.shape, known)
    kind = "normalised: times 1-γ" if _asked(table).normalised else "sum of discounted costs"
    cost = printable(request.cost or "reward")
    yield "meaning", f"{kind}; γ = {discount_text(request.discount)}, cost: {cost}"
    yield "solver", _asked(table).solver
    yield from expense.facts()


def _matrix(request: PairwiseRequest, table: Distances) -> Table:
    """The whole table; columns have the numbers of their chains."""
    drawn = columns_table()
    drawn.add_column("", justify="right", no_wrap=True)
    drawn.add_column("chain", overflow="fold")
    columns = _columns(request)
    for k, name in enumerate(columns):
        drawn.add_column(str(k + 1) if request.columns is None else printable(name), justify="right", overflow="fold")
    for k, (name, numbers) in enumerate(zip(request.rows, table.value, strict=True)):
        drawn.add_row(str(k + 1), shown_model(name), *(f"{number:.6g}" for number in numbers))
    return drawn


def _extremes(request: PairwiseRequest, table: Distances) -> Iterator[tuple[str, tuple[PairDistance, ...]]]:
    """The closest and the farthest pairs of different chains."""
    columns = _columns(request)
    wanted = np.ones(table.value.shape, np.bool_)
    wanted &= ~np.isnan(table.value)
    places = np.flatnonzero(np.triu(wanted, 1) if request.columns is None else wanted)
    order = places[np.lexsort((places, table.value.ravel()[places]))]
    for title, chosen in (("Closest chains", order[:TOP]), ("\nFarthest chains", order[::-1][:TOP])):
        pairs = []
        for place in chosen.tolist():
            i, j = divmod(place, len(columns))
            bounds = (float(part[i, j]) for part in (table.value, table.lower, table.upper))
            pairs.append(PairDistance(request.rows[i], columns[j], *bounds))
        yield title, tuple(pairs)

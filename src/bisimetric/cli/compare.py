"""`bisimetric compare`: count two logs, compare them, write the files, print the answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric._support.options import fraction
from bisimetric._support.text import printable
from bisimetric.cli.arguments import Request
from bisimetric.cli.messages import ExitCode, is_quiet, note
from bisimetric.cli.output import (
    Expense,
    Meter,
    check_picture,
    check_report,
    columns_table,
    facts_table,
    print_json,
    show,
)
from bisimetric.cli.progress import Progress
from bisimetric.errors import BisimetricError, InvalidData
from bisimetric.estimation.changed import Transition
from bisimetric.estimation.compare import compare
from bisimetric.estimation.comparison import Comparison
from bisimetric.estimation.rounds import ResampleDone
from bisimetric.models.estimated import EstimatedChain
from bisimetric.problems.discounted import checked_discount
from bisimetric.readers.trajectories import from_trajectories

CHANGES_SHOWN = 8  # transitions in the text


@dataclass(frozen=True, slots=True)
class CompareRequest(Request):
    """The options of the command."""

    a: str
    b: str
    by: str
    state: str
    step: str | None
    reward: str | None
    order: int
    end: bool
    unseen: str
    smoothing: float | None
    discount: float
    normalised: bool
    resamples: int
    seed: int
    confidence: float
    jobs: int
    fail_below: float | None
    as_json: bool
    plot: str | None
    report: str | None
    command_line: str


def run(request: CompareRequest) -> int:
    """Compare and print; returns the exit code."""
    check_picture(request.plot, "--plot")
    check_report(request.report, "--report")
    checked_discount(request.discount)
    limit = None if request.fail_below is None else fraction(request.fail_below, "--fail-below")
    meter = Meter()
    with Progress() as progress:
        logs = [_log(request, path, progress) for path in (request.a, request.b)]
        progress.doing("solving")

        def on_resample(done: ResampleDone) -> None:
            progress.doing(f"resample {done.done} of {done.total}")
            if done.done == done.total:
                progress.doing("bounding what the data allow")

        answer = compare(
            *logs,
            discount=request.discount,
            normalised=request.normalised,
            resamples=request.resamples,
            seed=request.seed,
            confidence=request.confidence,
            n_jobs=request.jobs,
            on_resample=on_resample,
        )
        _write(request, answer, progress)
    if request.as_json:
        print_json(_document(answer, meter.read()))
    elif is_quiet():
        show(Text(answer.sentence))
    else:
        show(*_text(answer, meter.read()))
    return ExitCode.ABOVE if limit is not None and answer.p_value <= limit else ExitCode.SUCCESS


def _log(request: CompareRequest, path: str, progress: Progress) -> EstimatedChain:
    progress.doing(f"counting {printable(path)}")
    options: dict[str, Any] = {"unseen": request.unseen, "smoothing": request.smoothing, "order": request.order}
    try:
        chain: EstimatedChain = from_trajectories(
            path,
            sequence=request.by,
            step=request.step,
            state=request.state,
            reward=request.reward,
            end=request.end,
            **options,
        )
    except InvalidData as error:
        raise _about(path, error) from None
    return chain


def _about(path: str, error: InvalidData) -> BisimetricError:
    return error if path in str(error) else InvalidData(f"{path}: {error}")


def _write(request: CompareRequest, answer: Comparison, progress: Progress) -> None:
    if request.plot is not None:
        from bisimetric import plot

        progress.doing("drawing")
        plot.save(answer.plot(), request.plot)
        note(f"the picture is in {request.plot}")
    if request.report is not None:
        progress.doing("writing the report")
        answer.report(request.report, names=(request.a, request.b), command=request.command_line)
        note(f"the report is in {request.report}")


def _text(answer: Comparison, expense: Expense) -> Iterator[RenderableType]:
    yield Text(answer.sentence, style="bold")
    yield Text("")
    yield facts_table([*answer.facts(), *expense.facts()], bold="p-value")
    changed = answer.changed.significant()
    if changed:
        yield Text("\nTransitions that differ, those that matter most to the distance first", style="bold")
        yield _changes(changed[:CHANGES_SHOWN])


def _changes(changed: tuple[Transition, ...]) -> Table:
    table = columns_table()
    for head in ("from", "to"):
        table.add_column(head, overflow="fold")
    for head in ("share in a", "share in b", "difference", "p"):
        table.add_column(head, justify="right", no_wrap=True)
    for change in changed:
        low, high = (100 * end for end in change.interval)
        table.add_row(
            printable(change.source),
            printable(change.target),
            f"{change.shares[0]:.1%}",
            f"{change.shares[1]:.1%}",
            f"[{low:+.1f}, {high:+.1f}] pp",
            f"{change.p_value:.2g}",
        )
    return table


def _document(answer: Comparison, expense: Expense) -> dict[str, Any]:
    return {
        "sentence": answer.sentence,
        "distance": answer.distance,
        "computation": list(answer.solution.interval),
        "p_value": answer.p_value,
        "null": answer.null.tolist(),
        "null_quantiles": {f"{q:g}": value for q, value in answer.null_quantiles().items()},
        "bootstrap": list(answer.interval),
        "percentile": list(answer.percentile_interval),
        "near_zero": answer.near_zero,
        "guarantee": list(answer.guarantee),
        "sequences_needed": None if answer.sequences_needed is None else list(answer.sequences_needed),
        "changed": [change._asdict() for change in answer.changed.significant()],
        "only": [list(names) for names in answer.only],
        "notes": list(answer.notes),
        "confidence": answer.confidence,
        "discount": answer.discount,
        "resamples": answer.resamples,
        "seed": answer.seed,
        **expense.document(),
    }

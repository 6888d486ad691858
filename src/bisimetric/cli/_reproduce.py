"""`bisimetric reproduce`: run the paper's experiments, keep records and pictures, tell the key numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich import table as rich_table
from rich.console import RenderableType
from rich.text import Text

from bisimetric import plot
from bisimetric._support.options import one_of
from bisimetric.cli._console import print_json, show
from bisimetric.cli._progress import Progress
from bisimetric.cli._text import duration
from bisimetric.cli._verdict import ExitCode
from bisimetric.errors import BisimetricError, InvalidOption, MissingExtra
from bisimetric.experiments import ALL, Experiment, Record, Table, Workplace, read_record, write_record
from bisimetric.io.files import check_destination, described
from bisimetric.views.look import require_matplotlib

EVERY = "all"
FOLDER, QUICK_FOLDER = "reproduction", "reproduction-quick"


def run_reproduce(name: str, out: str | None, *, quick: bool, as_json: bool) -> int:
    """Run one experiment or all; what is finished is in its files, whatever happens to the next."""
    chosen = _chosen(name)
    _check_extras(chosen)
    folder = _folder((QUICK_FOLDER if quick else FOLDER) if out is None else out)
    _check_files(chosen, folder)
    summaries = []
    for experiment in chosen:
        record, files = _reproduced(experiment, folder, quick)
        if as_json:
            summaries.append(_summary(experiment, record, files))
        else:
            show(
                *_told(experiment.tables(record)), Text(f"{_cost(record)}; {', '.join(map(str, files))}\n", style="dim")
            )
    if as_json:
        print_json(summaries)
    return ExitCode.FINE


def _chosen(name: str) -> list[Experiment]:
    return list(ALL.values()) if one_of(name, "the experiment", [*ALL, EVERY]) == EVERY else [ALL[name]]


def _check_extras(chosen: Sequence[Experiment]) -> None:
    """Before anything takes long."""
    try:
        require_matplotlib()
        if any(experiment.name == "instances" for experiment in chosen):
            plot.embed([[0.0, 1.0], [1.0, 0.0]])  # raises where scikit-learn is missing
    except MissingExtra as missing:
        raise MissingExtra(f"{missing} (all that reproduce needs: 'bisimetric[plot,ml]')") from None


def _folder(out: str) -> Path:
    """The folder for the files, made if need be."""
    if not out:
        raise InvalidOption("--out is empty, expected the name of a folder")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidOption(
            f"--out is {out!r}, which cannot be made: {error.strerror}; choose another folder"
        ) from None
    if not os.access(folder, os.W_OK):
        raise InvalidOption(f"--out is {out!r}, which cannot be written to; choose another folder")
    return folder


def _check_files(chosen: Sequence[Experiment], folder: Path) -> None:
    """Before the work begins: afterwards an hour of it would be lost."""
    for experiment in chosen:
        for file in (_record_file(experiment, folder), *(_picture_file(name, folder) for name in experiment.pictures)):
            try:
                check_destination(file)
            except BisimetricError as error:
                raise InvalidOption(described(file, error)) from None


def _record_file(experiment: Experiment, folder: Path) -> Path:
    return folder / f"{experiment.name}.json"


def _picture_file(name: str, folder: Path) -> Path:
    return folder / f"{name}.png"


def _reproduced(experiment: Experiment, folder: Path, quick: bool) -> tuple[Record, list[Path]]:
    """The record as it is in its file, and all files."""
    place = _record_file(experiment, folder)
    with Progress() as progress:

        def say(what: str) -> None:
            progress.doing(f"{experiment.name}: {what}")

        say("starting")
        config = experiment.quick if quick else experiment.config
        write_record(experiment.record(config, Workplace(say, folder)), place)
        say("drawing")
        record = read_record(place)
        files = [place]
        for name, figure in experiment.draw(record).items():
            files.append(_picture_file(name, folder))
            plot.save(figure, files[-1])
    return record, files


def _told(tables: Sequence[Table]) -> list[RenderableType]:
    parts: list[RenderableType] = []
    for table in tables:
        drawn = rich_table.Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
        for k, head in enumerate(table.head):
            drawn.add_column(head, justify="right" if k else "left")
        for row in table.body:
            drawn.add_row(*row)
        parts += [Text(table.title, style="bold"), drawn, *(Text(note, style="dim") for note in table.notes), Text("")]
    return parts


def _cost(record: Record) -> str:
    return f"{duration(record['seconds']['cpu'])} CPU, {duration(record['seconds']['wall'])} wall"


def _summary(experiment: Experiment, record: Record, files: Sequence[Path]) -> dict[str, Any]:
    shared = {key: record[key] for key in ("experiment", "quick", "config", "versions", "seconds")}
    return {**shared, "files": [str(file) for file in files], "summary": experiment.summary(record)}

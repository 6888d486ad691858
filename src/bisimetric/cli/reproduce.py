"""`bisimetric reproduce`: run the paper's experiments, write records and pictures, print the key numbers."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from bisimetric import plot
from bisimetric._support.options import one_of
from bisimetric.cli.messages import ExitCode, duration
from bisimetric.cli.output import columns_table, print_json, show
from bisimetric.cli.progress import Progress
from bisimetric.errors import BisimetricError, InvalidOption, MissingExtra
from bisimetric.experiments import ALL, Experiment, Record, Table, Workplace, read_record, write_record
from bisimetric.experiments.instance_files import read_instances
from bisimetric.io.files import check_destination, described
from bisimetric.views.figures import require_matplotlib

EVERY, WITH_INSTANCES = "all", "instances"
FOLDER, QUICK_FOLDER = "reproduction", "reproduction-quick"


def run_reproduce(
    name: str, out: str | None, *, quick: bool = False, instances: str | None = None, as_json: bool = False
) -> int:
    """Run one experiment or all; the files of a finished one are written before the next begins."""
    chosen = _with_instances(_chosen(name), instances)
    _check_extras(chosen)
    folder = _folder((QUICK_FOLDER if quick else FOLDER) if out is None else out)
    _check_files(chosen, folder)
    summaries = []
    for experiment in chosen:
        record, files = _run_and_draw(experiment, folder, quick)
        if as_json:
            summaries.append(_summary(experiment, record, files))
        else:
            footer = f"{_cost(record)}; {', '.join(map(str, files))}\n"
            show(*tables_as_text(experiment.tables(record)), Text(footer, style="dim"))
    if as_json:
        print_json(summaries)
    return ExitCode.SUCCESS


def _chosen(name: str) -> list[Experiment]:
    return list(ALL.values()) if one_of(name, "the experiment", [*ALL, EVERY]) == EVERY else [ALL[name]]


def _with_instances(chosen: list[Experiment], folder: str | None) -> list[Experiment]:
    """The experiments with the instances of a folder, which are read once here, so that errors come first."""
    if folder is None:
        return chosen
    if all(experiment.name != WITH_INSTANCES for experiment in chosen):
        raise InvalidOption(f"--instances is for the experiment {WITH_INSTANCES!r}; leave it out, or run that one")
    read_instances(folder)
    return [
        replace(
            experiment,
            config=replace(experiment.config, folder=folder),
            quick=replace(experiment.quick, folder=folder),
        )
        if experiment.name == WITH_INSTANCES
        else experiment
        for experiment in chosen
    ]


def _check_extras(chosen: Sequence[Experiment]) -> None:
    """Raise if a library is missing, before the work begins."""
    try:
        require_matplotlib()
        if any(experiment.name == WITH_INSTANCES for experiment in chosen):
            plot.embed([[0.0, 1.0], [1.0, 0.0]])  # raises where scikit-learn is missing
    except MissingExtra as missing:
        raise MissingExtra(f"{missing} (all that reproduce needs: 'bisimetric[plot,ml]')") from None


def _folder(out: str) -> Path:
    """The folder for the files; it is made if it does not exist."""
    if not out:
        raise InvalidOption("--out is empty, expected the name of a folder")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidOption(
            f"--out is {out!r}, which cannot be created: {error.strerror}; choose another folder"
        ) from None
    if not os.access(folder, os.W_OK):
        raise InvalidOption(f"--out is {out!r}, which cannot be written to; choose another folder")
    return folder


def _check_files(chosen: Sequence[Experiment], folder: Path) -> None:
    """Raise if a file cannot be written, before the work begins."""
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


def _run_and_draw(experiment: Experiment, folder: Path, quick: bool) -> tuple[Record, list[Path]]:
    """Run an experiment and write its files; returns the record as read back from its file, and all files."""
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


def tables_as_text(tables: Sequence[Table]) -> list[RenderableType]:
    """The tables of a record, with titles and notes."""
    parts: list[RenderableType] = []
    for table in tables:
        drawn = columns_table()
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

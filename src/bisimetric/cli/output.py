"""Where results go: tables and JSON on stdout, and the files that a command is asked to write."""

from __future__ import annotations

import json
import math
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

from bisimetric._support.memory import in_words
from bisimetric._support.text import printable
from bisimetric.cli.messages import duration
from bisimetric.errors import InvalidOption
from bisimetric.io.files import SUFFIXES

Row = tuple[str, str]  # of a table of facts: name, fact
STDOUT = "-"  # as a file name
LONGEST_MODEL = 400  # characters


def show(*parts: RenderableType) -> None:
    """Print on stdout, as wide as the terminal or else 80 columns; in colour on terminals only.

    Text is printed literally: names are data, not markup. rich only makes the layout. If it also printed, it would fill
    lines with spaces and exit with code 1 when a pipe closes, and 1 means "above the limit" here.
    """
    console = Console(markup=False, emoji=False, highlight=False)
    with console.capture() as laid_out:
        for part in parts:
            console.print(part)
    sys.stdout.write(re.sub(r" +$", "", laid_out.get(), flags=re.MULTILINE))


def print_json(document: object) -> None:
    """Print one JSON document in ASCII; numbers that are not finite become null."""
    sys.stdout.write(json.dumps(finite(document), indent=2, allow_nan=False) + "\n")


def finite(value: Any) -> Any:
    """The same document with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def shown_model(text: str) -> str:
    """A model as the user wrote it, whole unless it is very long: what sets it apart may stand at its end."""
    return printable(text, LONGEST_MODEL)


def facts_table(facts: Iterable[Row], *, bold: str) -> Table:
    """Names and facts in two columns; the fact named `bold` is in bold."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, fact in facts:
        grid.add_row(name, Text(fact, style="bold" if name == bold else ""))
    return grid


def columns_table() -> Table:
    """An empty table in the style of all tables with a head."""
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")


def pairs_table(*columns: str, names: tuple[str, ...] = ("source", "target")) -> Table:
    """An empty table of pairs of states with these columns of numbers."""
    table = columns_table()
    for name in names:
        table.add_column(name, overflow="fold")
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table


@dataclass(frozen=True, slots=True)
class Expense:
    """The time and memory that a command took, from reading the input to the answer."""

    cpu: float  # seconds
    wall: float  # seconds
    memory: int | None  # bytes at the peak; None where the system does not tell

    def facts(self) -> Iterator[Row]:
        """Time and memory as rows of a table of facts."""
        yield "time", f"{duration(self.cpu)} CPU, {duration(self.wall)} wall"
        if self.memory is not None:
            yield "peak memory", in_words(self.memory)

    def document(self) -> dict[str, Any]:
        """Time and memory as JSON."""
        return {"seconds": {"cpu": self.cpu, "wall": self.wall}, "memory_bytes": self.memory}


class Meter:
    """Measures an `Expense` from the moment it is made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def read(self) -> Expense:
        """The expense so far."""
        return Expense(time.process_time() - self._cpu, time.perf_counter() - self._wall, _peak_memory())


def _peak_memory() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def check_output(path: str | None, option: str, suffixes: tuple[str, ...] = SUFFIXES) -> None:
    """Raise if a file cannot be written, before the work begins."""
    if path is None:
        return
    file = Path(path)
    if file.suffix.lower() not in suffixes:
        raise InvalidOption(f"{option} is {path!r}, expected a file name that ends in {' or '.join(suffixes)}")
    if file.is_dir():
        raise InvalidOption(f"{option} is {path!r}, which is a folder, expected a file")
    if not file.parent.is_dir():
        raise InvalidOption(f"{option} is {path!r}, but the folder {str(file.parent)!r} does not exist; make it before")
    if not os.access(file.parent, os.W_OK):
        raise InvalidOption(f"{option} is {path!r}, but the folder {str(file.parent)!r} cannot be written to")


def check_stdout(path: str | None, *, as_json: bool) -> None:
    """Raise if two things would go to stdout."""
    if path == STDOUT and as_json:
        raise InvalidOption("--json and --out - are given, expected one; both go to stdout")


def check_picture(path: str | None, option: str) -> None:
    """Do the same for a picture, which also needs matplotlib."""
    if path is not None:
        from bisimetric.views.figures import PICTURES, require_matplotlib

        check_output(path, option, PICTURES)
        require_matplotlib()


def check_report(path: str | None, option: str) -> None:
    """Do the same for a report, which needs the library that draws its charts."""
    if path is not None:
        from bisimetric.views.report.library import chart_library
        from bisimetric.views.report.page import REPORTS

        check_output(path, option, REPORTS)
        chart_library()

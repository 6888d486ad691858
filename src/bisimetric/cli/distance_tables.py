"""Tables of distances in files: `.csv`, `.npz` and `.json`.

Names are data. In a spreadsheet a cell that begins with = + - @ would be a formula, so such a name is written with an
apostrophe before it, which spreadsheets take for "this is text"; control characters are escaped.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from bisimetric._support.text import printable
from bisimetric.io.files import write_file
from bisimetric.many.table import Distances

TABLE_ENDINGS = (".csv", ".npz", ".json")
FORMULAS = ("=", "+", "-", "@")  # first characters of a cell that spreadsheets calculate


def write_distances(path: str, table: Distances, document: dict[str, Any]) -> None:
    """Write a table whose names, as JSON, are `rows` and `columns`; the file appears complete or not at all."""
    rows, columns = document["rows"], document["columns"]
    file = Path(path)

    def write(opened: IO[bytes]) -> None:
        if file.suffix.lower() == ".csv":
            opened.write(as_csv(table, rows, columns).encode("utf-8", "backslashreplace"))
        elif file.suffix.lower() == ".json":
            opened.write(json.dumps(document, indent=2, allow_nan=False).encode("ascii"))
        else:
            np.savez_compressed(
                opened,
                value=table.value,
                lower=table.lower,
                upper=table.upper,
                status=np.array(status_names(table)),
                rows=np.array(rows),
                columns=np.array(columns),
            )

    write_file(file, write)


def as_csv(table: Distances, rows: Sequence[str], columns: Sequence[str]) -> str:
    """The distances with names in the first row and column; numbers read back as the same floats."""
    text = io.StringIO()
    writer = csv.writer(text, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerow(["", *map(inert_cell, columns)])
    for name, numbers in zip(rows, table.value.tolist(), strict=True):
        writer.writerow([inert_cell(name), *numbers])
    return text.getvalue()


def inert_cell(name: str) -> str:
    """The name as text that no spreadsheet takes for a formula."""
    shown = printable(name, None)
    return f"'{shown}" if shown.lstrip().startswith(FORMULAS) else shown


def status_names(table: Distances) -> list[list[str]]:
    """How the solve of each pair ended."""
    return [[status.name for status in row] for row in table.status]

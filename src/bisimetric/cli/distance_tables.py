"""Tables of distances in files: `.csv`, `.npz` and `.json`.

Names in `.csv` are inert text (`io/csv_cells`), and numbers are numbers: those below zero too.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from bisimetric.cli.output import finite
from bisimetric.io.csv_cells import inert_cell
from bisimetric.io.files import write_file
from bisimetric.many.table import Distances

TABLE_ENDINGS = (".csv", ".npz", ".json")


def write_distances(path: str, table: Distances, document: dict[str, Any]) -> None:
    """Write a table whose names, as JSON, are `rows` and `columns`; the file appears complete or not at all."""
    rows, columns = document["rows"], document["columns"]
    file = Path(path)

    def write(opened: IO[bytes]) -> None:
        if file.suffix.lower() == ".csv":
            opened.write(as_csv(table, rows, columns).encode())
        elif file.suffix.lower() == ".json":
            opened.write(json.dumps(finite(document), indent=2, allow_nan=False).encode("ascii"))
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


def status_names(table: Distances) -> list[list[str]]:
    """How the solve of each pair ended."""
    return [[status.name for status in row] for row in table.status]

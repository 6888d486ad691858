"""Tables of distances in files: the same numbers in every format, and names that no spreadsheet calculates."""

from __future__ import annotations

import csv
import io
import json

import numpy as np

import bisimetric as bm
from bisimetric.cli.distance_tables import as_csv, status_names, write_distances
from bisimetric.readers.tables import read_table

TABLE = bm.pairwise(["four-rooms:p0", "four-rooms:p1"], discount=0.5)
NAMES = ["=1+1", "b"]
DOCUMENT = {"rows": NAMES, "columns": NAMES, "value": TABLE.value.tolist()}


def test_csv_reads_back():
    """Names in the first row and column, numbers to the last bit."""
    rows = list(csv.reader(io.StringIO(as_csv(TABLE, NAMES, NAMES))))
    assert rows[0] == ["", "'=1+1", "b"]
    assert [[float(number) for number in row[1:]] for row in rows[1:]] == TABLE.value.tolist()


def test_names_and_numbers_come_back_from_files(tmp_path):
    """Formulas are text in the file, numbers below zero are not, and the reader of tables undoes the marks."""
    names = ["=1+1", "'=x", "\t@tab", "-", "+1.5", "plain", 'a,b"c']
    value = np.arange(49.0).reshape(7, 7) - 3.5
    write_distances(
        str(tmp_path / "D.csv"),
        bm.Distances(value, value, value, np.full((7, 7), bm.Status.SOLVED, dtype=object)),
        {"rows": names, "columns": names},
    )
    table = read_table(str(tmp_path / "D.csv"))
    assert (table.rows, table.columns) == (tuple(names), tuple(names))
    assert np.array_equal(table.values, value)
    text = (tmp_path / "D.csv").read_text()
    cells = [cell for row in csv.reader(io.StringIO(text)) for cell in row]
    assert not any(cell.startswith(("=", "+", "@", "\t", "\r")) for cell in cells)
    assert ",-3.5," in text


def test_all_formats(tmp_path):
    """`.npz` holds the bounds and the statuses too."""
    for ending in ("csv", "json", "npz"):
        write_distances(str(tmp_path / f"D.{ending}"), TABLE, DOCUMENT)
    assert json.loads((tmp_path / "D.json").read_text())["rows"] == NAMES
    with np.load(tmp_path / "D.npz", allow_pickle=False) as found:
        assert np.array_equal(found["lower"], TABLE.lower)
        assert found["status"].tolist() == status_names(TABLE)
        assert found["columns"].tolist() == NAMES

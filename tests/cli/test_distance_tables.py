"""Tables of distances in files: the same numbers in every format, and names that no spreadsheet calculates."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.cli.distance_tables import as_csv, inert_cell, status_names, write_distances

TABLE = bm.pairwise(["four-rooms:p0", "four-rooms:p1"], discount=0.5)
NAMES = ["=1+1", "b"]
DOCUMENT = {"rows": NAMES, "columns": NAMES, "value": TABLE.value.tolist()}


@pytest.mark.parametrize("name", ["=1", "+1", "-1", "@x", " =1"])
def test_formulas_become_text(name):
    """By an apostrophe before them; other names stay."""
    assert inert_cell(name).startswith("'")
    assert inert_cell("plain") == "plain"
    assert inert_cell("a\x1b[0mb") != "a\x1b[0mb"


def test_csv_reads_back():
    """Names in the first row and column, numbers to the last bit."""
    rows = list(csv.reader(io.StringIO(as_csv(TABLE, NAMES, NAMES))))
    assert rows[0] == ["", "'=1+1", "b"]
    assert [[float(number) for number in row[1:]] for row in rows[1:]] == TABLE.value.tolist()


def test_all_formats(tmp_path):
    """`.npz` holds the bounds and the statuses too."""
    for ending in ("csv", "json", "npz"):
        write_distances(str(tmp_path / f"D.{ending}"), TABLE, DOCUMENT)
    assert json.loads((tmp_path / "D.json").read_text())["rows"] == NAMES
    with np.load(tmp_path / "D.npz", allow_pickle=False) as found:
        assert np.array_equal(found["lower"], TABLE.lower)
        assert found["status"].tolist() == status_names(TABLE)
        assert found["columns"].tolist() == NAMES

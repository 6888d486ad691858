"""The benchmark of logs: simulated sessions, and tables of stored rows."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from benchmarks import logs

STORED = Path(logs.__file__).parent / "results" / "logs.json"


def test_sessions_follow_the_process():
    """Every move has a positive probability, and lengths vary."""
    matrix = logs.process(5, changed=True)
    walks = logs.sessions(matrix, 20, 3)
    assert len({len(walk) for walk in walks}) > 3
    assert all(matrix[x, y] > 0 for walk in walks for x, y in itertools.pairwise(walk))


def test_tables_of_the_stored_rows():
    """Three tables, and what they say about speed and accuracy."""
    rows = json.loads(STORED.read_text(encoding="utf-8"))["rows"]
    titles = [table.title for table in logs.tables(rows)]
    assert titles == ["Resamples, in cold solves", "A bootstrap by hand", "A Parquet file"]
    assert all(row["difference"] < 1e-3 for row in rows if row["kind"] == "by hand")
    (file,) = [row for row in rows if row["kind"] == "parquet"]
    assert file["cpu"] < 3 * file["groupby_cpu"]


@pytest.mark.slow
def test_resamples_by_hand_are_ours():
    """The same draws give the same distances."""
    assert logs.by_hand_task(4, 30, 4)["difference"] < 5e-3

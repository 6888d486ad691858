"""The benchmark of small chains measures what it says."""

from __future__ import annotations

import pytest

from benchmarks import reduction


@pytest.mark.slow
def test_never_farther_than_aggregate():
    """Every row appears in the table."""
    rows = reduction.measure(True, lambda _: None)
    assert all(row["reduce"] <= row["aggregate"] * (1 + 1e-6) for row in rows)
    assert sum(len(table.body) for table in reduction.tables(rows)) == len(rows) > 0

"""The benchmark of gradients measures what it says."""

from __future__ import annotations

import pytest

from benchmarks import gradients
from tests.extras import package


@pytest.mark.slow
def test_costs_and_errors():
    """Our derivatives are those of finite differences; every row appears in a table."""
    package("torch")
    rows = gradients.measure(True, lambda _: None)
    ours = [row for row in rows if row.get("method") == "bisimetric"]
    assert all(max(row["kernel_error"], row["cost_error"]) < 1e-5 for row in ours)
    assert ours
    assert sum(len(table.body) for table in gradients.tables(rows)) == len(rows)

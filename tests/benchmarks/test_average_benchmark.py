"""Average costs beside pyotc."""

from __future__ import annotations

import pytest

from benchmarks import average


def test_average_costs_beside_pyotc():
    """The table shows both methods, also where the peer came to its limit."""
    ours = {"pairs": 4, "cpu": 0.001, "value": 1.0, "error": 0.0, "note": "5 steps"}
    rows = [
        {"instance": "edges-1", "method": "ours", **ours},
        {"instance": "edges-1", "method": "pyotc", "pairs": 4, "cpu": 0.03, "value": 1.1, "error": 0.1, "note": ""},
        {"instance": "blocks-8", "method": "ours", **ours},
        {"instance": "blocks-8", "method": "pyotc", "cpu": 60.0, "value": None, "error": None, "note": "time-out"},
    ]
    (table,) = average.tables(rows)
    assert table.body[0][4:] == ["30", "0", "1.0e-01"]
    assert table.body[1][-1] == "time-out"


@pytest.mark.slow
def test_pyotc_solves_its_examples():
    """Both methods on one of them, in this process."""
    pytest.importorskip("pyotc")
    ours, peer = (average.average_task("edges-1", peer) for peer in (False, True))
    assert ours["error"] <= 1e-9
    assert peer["error"] <= 1e-6

"""Every solution has a picture and a page."""

from __future__ import annotations

import bisimetric as bm
from bisimetric._support.viewed import Viewed


def test_solutions_can_be_looked_at(tmp_path):
    """Those of chains and those of decision processes, by the same methods."""
    assert issubclass(bm.Solution, Viewed)
    assert issubclass(bm.MDPSolution, Viewed)
    solution = bm.distance("grid-3x3", "matching-four-rooms", discount=0.9)
    assert solution.plot().axes
    solution.report(tmp_path / "rooms.html", names=("grid", "rooms"))
    assert "<h1" in (tmp_path / "rooms.html").read_text(encoding="utf-8")

"""Pages of solutions over a finite horizon and in the long run."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.views.report.answers import timed_page
from bisimetric.views.report.frame import page_data
from tests.views.report.models import PROTOCOL, data_of, protocol

QUESTIONS = {
    "average": lambda a, b, cost, terminal: bm.average_distance(a, b),
    "average cost": lambda a, b, cost, terminal: bm.average_distance(a, b, cost=cost),
    "horizon": lambda a, b, cost, terminal: bm.solve(bm.HorizonProblem(a, b, horizon=7, discount=0.9)),
    "horizon cost": lambda a, b, cost, terminal: bm.solve(
        bm.HorizonProblem(a, b, horizon=3, cost=cost, terminal=terminal)
    ),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_the_page_has_the_numbers_and_a_way_to_get_them_again(kind, tmp_path):
    """Values of all pairs, the interval, the explanation, Python that runs."""
    source, target = protocol(0.05), protocol(0.2)
    cost, terminal = np.arange(25.0).reshape(5, 5), np.ones((5, 5))
    solution = QUESTIONS[kind](source, target, cost, terminal)
    solution.report(tmp_path / "x.html", names=("a", "b"))
    found = data_of(tmp_path / "x.html")
    assert found["table"]["pairs"]["value"] == solution.value.ravel().tolist()
    assert (found["headline"]["lower"], found["headline"]["upper"]) == solution.interval
    assert found["rows"] == list(PROTOCOL)
    shown = next(section for section in found["sections"] if section["key"] == "explanation")
    assert len(shown["rows"]) == len(solution.explain().parts)
    names = {"source": source, "target": target, "cost": cost, "terminal": terminal}
    exec(found["reproduce"]["python"].rpartition("\n")[0], names)
    assert names["solution"].distance == solution.distance
    assert f"{solution.distance:.6g}" in found["meaning"]


def test_without_starts():
    """The best pair in the long run; the largest distance over a horizon."""
    source, target = protocol(0.05, start=None), protocol(0.2, start=None)
    found = page_data(timed_page(bm.average_distance(source, target)))
    assert "best pair" in found["meaning"]
    found = page_data(timed_page(bm.solve(bm.HorizonProblem(source, target, horizon=2))))
    assert found["headline"]["text"].startswith("up to")
    assert next(section for section in found["sections"] if section["key"] == "explanation")["rows"] == []

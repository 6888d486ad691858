"""The answer over a finite horizon: what it says of itself, explanations, matchings, pictures, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, MissingStart

COIN = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
BENT = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], start=0)
SOLUTION = bm.solve(bm.HorizonProblem(COIN, BENT, horizon=3))


def test_by_hand():
    """1/4 at time 1 and 3/16 at time 2."""
    assert SOLUTION.distance == 0.4375
    assert SOLUTION.interval[0] <= 0.4375 <= SOLUTION.interval[1]
    assert SOLUTION.interval[1] - SOLUTION.interval[0] < 1e-13
    assert [SOLUTION.at(t).value[0, 0] for t in range(4)] == [0.4375, 0.25, 0.0, 0.0]
    assert "horizon 3" in repr(SOLUTION)
    assert "horizon 3" in SOLUTION._repr_html_()
    assert "horizon" in SOLUTION.problem._repr_html_()
    assert "occupancy" in SOLUTION.explain()._repr_html_()


@pytest.mark.parametrize("time", [-1, 4, 1.5, "0", True])
def test_times_that_are_none(time):
    """From 0 to the horizon."""
    with pytest.raises(InvalidOption, match="0 to 3"):
        SOLUTION.at(time)


def test_explanations_add_up():
    """The amounts are the distance, with costs that change and a terminal cost too."""
    costs = [np.array([[0.0, k], [2.0, 0.0]]) for k in (1.0, 5.0, 3.0)]
    solution = bm.solve(bm.HorizonProblem(COIN, BENT, horizon=3, cost=costs, terminal=np.ones((2, 2)), discount=0.5))
    explanation = solution.explain()
    assert sum(part.amount for part in explanation.parts) == pytest.approx(solution.distance, rel=1e-12)
    assert "weight" in explanation.occupancy
    assert solution.explain(start=(1, 0)).distance == pytest.approx(solution.value[1, 0], rel=1e-12)


def test_matching_and_pictures():
    """As for every answer."""
    assert SOLUTION.match().tolist() == [0, 1]
    assert SOLUTION.assignment().targets.tolist() == [0, 1]
    assert SOLUTION.assignment("coupling").targets.tolist() == [0, 1]
    assert SOLUTION.plot() is not None


def test_reports_are_written(tmp_path):
    """As for every answer."""
    SOLUTION.report(tmp_path / "x.html")
    assert [path.name for path in tmp_path.iterdir()] == ["x.html"]


def test_starts_are_needed_for_one_distance():
    """Without, the table is there."""
    solution = bm.solve(bm.HorizonProblem(bm.MarkovChain(np.eye(2), reward=[0, 1]), BENT, horizon=2))
    with pytest.raises(MissingStart):
        _ = solution.distance
    assert solution.value.shape == (2, 2)


def test_answers_are_read_only_also_after_pickle():
    """Like all answers."""
    again = pickle.loads(pickle.dumps(SOLUTION))
    assert np.array_equal(again.value, SOLUTION.value)
    assert (again.coupling[1, 0, 0] != SOLUTION.coupling[1, 0, 0]).nnz == 0
    with pytest.raises(ValueError, match="read-only"):
        again.value[0, 0] = 1.0

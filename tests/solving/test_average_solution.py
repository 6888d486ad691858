"""The answer in the long run: two distances, explanations, matchings, pictures, files."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bisimetric as bm

CLOCK = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 1], start=0, names=["tick", "tock"])


def test_from_the_starts_and_from_the_best_pair():
    """Out of phase the clocks differ all the time; the best pair is in phase."""
    late = bm.average_distance(CLOCK, CLOCK.with_start(1))
    assert (late.distance, late.interval) == (1.0, (1.0, 1.0))
    assert (late.stationary_distance, late.stationary_interval) == (0.0, (0.0, 0.0))
    assert late.best_pair == (0, 0)
    mixed = bm.average_distance(CLOCK.with_start([0.5, 0.5]), CLOCK)
    assert mixed.distance == pytest.approx(0.5)
    without = bm.average_distance([[0, 1], [1, 0]], CLOCK, cost=[[0, 1], [1, 0]])
    assert without.distance == 0.0
    assert without.has_distance
    assert "average cost per step" in repr(without)
    assert "average cost per step" in without._repr_html_()


def test_explanations_add_up():
    """Shares of time in the long run."""
    lazy = bm.MarkovChain([[0.9, 0.1], [0.1, 0.9]], reward=[0, 1])
    quick = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1])
    solution = bm.average_distance(lazy, quick)
    explanation = solution.explain()
    assert sum(part.amount for part in explanation.parts) == pytest.approx(0.4, abs=1e-9)
    assert sum(part.occupancy for part in explanation.parts) == pytest.approx(0.4, abs=1e-9)
    assert (explanation.path.parting, round(explanation.path.share, 9)) == (1, 0.4)
    assert "long run" in explanation.occupancy
    assert "together 0.4" in repr(explanation)
    assert solution.explain(start=(1, 0)).distance == pytest.approx(0.4, abs=1e-9)


def test_costs_of_zero(tmp_path):
    """Any coupling is optimal: derivatives by the cost are its shares of time, others and potentials are zero."""
    chain = bm.MarkovChain([[0.5, 0.5, 0], [0, 0, 1], [0, 1, 0]], reward=[2, 2, 2], start=0)
    solution = bm.average_distance(chain, CLOCK, cost=np.zeros((3, 2)))
    solution.save(tmp_path / "x.npz")
    rewards = bm.average_distance(chain, chain)
    for found in (solution, bm.load(tmp_path / "x.npz"), rewards):
        gradient = found.gradient()
        np.testing.assert_allclose(gradient.cost, found.coupling.occupancy())
        assert gradient.cost.sum() == pytest.approx(1.0)
        assert not gradient.source.data.any()
        assert not gradient.target.data.any()
        assert gradient.error == 0.0
        assert all(not part.any() for part in found.potentials[0, 0])
    assert rewards.gradient().source_reward.shape == (3,)


def test_matching_pictures_and_files(tmp_path):
    """Matchings, pictures, files and reports as for every answer."""
    solution = bm.average_distance(CLOCK, CLOCK)
    assert solution.match().tolist() == [0, 1]
    assert solution.assignment("coupling").targets.tolist() == [0, 1]
    assert solution.plot() is not None
    solution.save(tmp_path / "x.json")
    assert bm.load(tmp_path / "x.json").distance == solution.distance
    solution.report(tmp_path / "x.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.html", "x.json"]


def test_answers_are_read_only_also_after_pickle():
    """Like all answers; classes say where averages are equal."""
    solution = pickle.loads(pickle.dumps(bm.average_distance(CLOCK, CLOCK)))
    assert solution.classes[0, 0] == solution.classes[1, 1] != solution.classes[0, 1]
    for array in (solution.value, solution.classes):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1
    assert np.array_equal(solution.coupling.occupancy(), [[0.5, 0], [0, 0.5]])


def test_a_missing_start_is_the_best_one():
    """The start that is given counts, and the other chain takes its nearest state."""
    stays, one = bm.MarkovChain([[1, 0], [0, 1]], start=0), bm.MarkovChain([[1.0]])
    assert bm.average_distance(stays, one, cost=[[1], [0]]).interval == (1.0, 1.0)
    assert bm.average_distance(one, stays, cost=[[1, 0]]).interval == (1.0, 1.0)
    spread = bm.average_distance(stays.with_start([0.25, 0.75]), one, cost=[[1], [0]])
    assert spread.interval[0] <= 0.25 <= spread.interval[1]
    assert spread.distance == pytest.approx(0.25)
    assert spread.coupling.law(None).sum() == pytest.approx(1.0)

"""Intervals for the processes behind estimated chains."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, InvalidProblem

STATES = ["a", "b", "c"]
BEFORE = np.array([[0.8, 0.2, 0.0], [0.1, 0.8, 0.1], [0.5, 0.0, 0.5]])
AFTER = np.array([[0.5, 0.5, 0.0], [0.1, 0.6, 0.3], [0.5, 0.0, 0.5]])
DISCOUNT = 0.7


def walks(matrix, count, length, seed):
    """Sequences of states from "a"."""
    random, cumulated = np.random.default_rng(seed), matrix.cumsum(axis=1)
    state, steps = np.zeros(count, int), []
    for _ in range(length):
        steps.append(state)
        state = (random.random(count)[:, None] > cumulated[state]).sum(axis=1)
    return [[STATES[k] for k in walk] for walk in np.array(steps).T]


def solved(count, seed=0, matrices=(BEFORE, AFTER)):
    """The estimated distance from `count` sequences each."""
    logs = [walks(matrix, count, 30, seed + k) for k, matrix in enumerate(matrices)]
    chains = [bm.from_trajectories(log, states=STATES) for log in logs]
    return bm.distance(*chains, discount=DISCOUNT, cost=bm.cost.label_mismatch)


def true_distance(matrices=(BEFORE, AFTER)):
    """Between the processes that were simulated."""
    chains = [bm.MarkovChain(matrix, start=0, labels=STATES) for matrix in matrices]
    return bm.distance(*chains, discount=DISCOUNT, cost=bm.cost.label_mismatch).distance


@pytest.mark.parametrize("matrices", [(BEFORE, AFTER), (BEFORE, BEFORE)])
def test_the_true_distance_is_inside(matrices):
    """For twelve pairs of logs, of two processes and of one."""
    truth = true_distance(matrices)
    for seed in range(0, 24, 2):
        found = bm.guarantee(solved(60, seed, matrices), extrapolate=False)
        assert found.low <= truth <= found.high


def test_more_data_and_less_confidence_make_it_narrower():
    """Widths shrink about like the square root of the data."""
    few, many = (bm.guarantee(solved(count), extrapolate=False) for count in (200, 3200))
    assert many.high - many.low < 0.4 * (few.high - few.low)
    bold = bm.guarantee(solved(200), confidence=0.5, extrapolate=False)
    assert few.low < bold.low < bold.high < few.high
    sparse = bm.guarantee(solved(200), successors=[2, 3, 2], extrapolate=False)
    assert sparse.high < few.high


def test_how_much_data_it_takes():
    """With that many sequences the interval is about as wide as the distance."""
    solution = solved(40)
    found = bm.guarantee(solution)
    assert found.growth > 1
    assert found.sequences == (np.ceil(found.growth * 40),) * 2
    assert "times the data" in repr(found)
    after = bm.guarantee(solved(found.sequences[0]))
    assert after.high - after.low == pytest.approx(solution.distance, rel=0.25)
    assert bm.guarantee(solved(2_000)).growth == 1.0


def test_no_number_of_sequences_makes_zero_certain():
    """An estimated distance of zero is never wider than its interval."""
    log = [["a", "b"] * 5] * 20
    chains = [bm.from_trajectories(log) for _ in range(2)]
    found = bm.guarantee(bm.distance(*chains, discount=0.5, cost=bm.cost.label_mismatch))
    assert found.low == 0.0
    assert found.high > 0.0
    assert found.growth is None
    assert found.sequences is None


def test_what_has_no_guarantee():
    """Chains without counts, other objects, odd options."""
    solution = solved(20)
    with pytest.raises(InvalidOption, match="confidence"):
        bm.guarantee(solution, confidence=95)
    with pytest.raises(InvalidOption, match="successors"):
        bm.guarantee(solution, successors=99)
    with pytest.raises(InvalidProblem, match="from_trajectories"):
        bm.guarantee(bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.5))
    reachable = bm.distance(*solution.models, discount=DISCOUNT, cost=bm.cost.label_mismatch, pairs="reachable")
    with pytest.raises(InvalidProblem, match="pairs='all'"):
        bm.guarantee(reachable)
    with pytest.raises(InvalidProblem, match="Solution"):
        bm.guarantee(solution.distance)

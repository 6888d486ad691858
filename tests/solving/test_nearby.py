"""Distances from a neighbour's trees, to the accuracy that resamples need."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.operators.bellman import Bellman
from bisimetric.solving.nearby import near_distance, nearby_distance, one_step_error, trees_of


def problems(seed, *, starts=None, n=15):
    """A problem and one near it, with the same transitions."""
    random = np.random.default_rng(seed)
    support = random.random((n, n)) < 4 / n
    support[np.arange(n), (np.arange(n) + 1) % n] = True
    rows = [support * random.uniform(0.2, 1.0, (n, n)) for _ in range(2)]
    start = starts if starts is not None else 0
    found = []
    for noise in (0.0, 0.1):
        chains = [
            bm.MarkovChain.normalised(matrix * random.uniform(1 - noise, 1 + noise, matrix.shape), start=start)
            for matrix in rows
        ]
        found.append(bm.Problem(*chains, discount=0.9, cost=1.0 - np.eye(n)))
    return found


@pytest.mark.parametrize("starts", [None, np.full(15, 1 / 15)], ids=["a state", "a law"])
@pytest.mark.parametrize("seed", range(3))
def test_as_accurate_as_resamples_need(seed, starts):
    """Far below their spread."""
    before, after = problems(seed, starts=starts)
    found = nearby_distance(after, trees_of(bm.solve(before)))
    assert found == pytest.approx(bm.solve(after).distance, rel=5e-4)


def test_pairs_that_are_hardly_visited_may_keep_their_couplings():
    """In large problems, where that saves half of both sweeps."""
    before, after = problems(3, n=50)
    neighbour = trees_of(bm.solve(before, quotient=False))
    assert neighbour.rare.mean() > neighbour.rough.mean() > 0.2
    expected = bm.solve(after).distance
    assert nearby_distance(after, neighbour) == pytest.approx(expected, rel=1e-3)
    assert nearby_distance(after, neighbour) == nearby_distance(after, neighbour)


def test_several_steps_where_one_does_not_do():
    """They settle to far less than resamples need; how much one step misses is known."""
    before, after = problems(4, n=50)
    neighbour, bellman = trees_of(bm.solve(before, quotient=False)), Bellman.of(after)
    expected = bm.solve(after).distance
    missed = abs(nearby_distance(after, neighbour) / expected - 1)
    assert one_step_error(bellman, neighbour) == pytest.approx(missed, abs=1e-4)
    neighbour.one_step = False
    assert near_distance(bellman, neighbour) == pytest.approx(expected, rel=1e-4)


def test_other_costs_are_no_obstacle():
    """Rewards are estimated again in resamples; a larger scale does not matter."""
    before, after = problems(5)
    dearer = bm.Problem(after.source, after.target, discount=0.9, cost=3.0 * after.cost)
    assert nearby_distance(dearer, trees_of(bm.solve(before))) == pytest.approx(bm.solve(dearer).distance, rel=5e-4)


def test_without_a_neighbour_it_is_solved_afresh():
    """None, or one with other transitions."""
    (_, after), (_, other) = problems(0), problems(1)
    expected = pytest.approx(bm.solve(after).distance, rel=1e-4)
    assert nearby_distance(after, None) == expected
    assert nearby_distance(after, trees_of(bm.solve(other))) == expected


def test_nothing_to_pay_and_nowhere_to_start():
    """Zero costs need no solve; starts are needed."""
    before, _ = problems(0)
    free = bm.Problem(before.source, before.target, discount=0.9, cost=np.zeros((15, 15)))
    assert nearby_distance(free, None) == 0.0
    nowhere = bm.Problem(bm.MarkovChain(np.eye(2)), bm.MarkovChain(np.eye(2)), discount=0.9, cost=np.ones((2, 2)))
    with pytest.raises(bm.errors.MissingStart):
        nearby_distance(nowhere, None)

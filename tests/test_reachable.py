"""Distances of the pairs that the starts lead to, and of no others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

import bisimetric as bm
from bisimetric._reachable import reachable_part
from tests import strategies


def naive(problem):
    """The pairs that can be reached, by sets."""
    P, Q = problem.source.transitions.toarray() > 0, problem.target.transitions.toarray() > 0
    waiting = {
        (int(x), int(y)) for x in np.flatnonzero(problem.source.start) for y in np.flatnonzero(problem.target.start)
    }
    found = set()
    while waiting:
        x, y = waiting.pop()
        found.add((x, y))
        if problem.stop is None or not problem.stop[x, y]:
            after = {(int(i), int(j)) for i in np.flatnonzero(P[x]) for j in np.flatnonzero(Q[y])}
            waiting |= after - found
    return found


@given(strategies.tame_problems(max_states=5))
def test_the_starts_distance_is_that_of_all_pairs(problem):
    """From the first states; what is not reached is a free stop."""
    n, m = problem.shape
    chains = problem.source.with_start(0), problem.target.with_start(m - 1)
    problem = bm.Problem(*chains, discount=problem.discount, cost=problem.cost, stop=problem.stop)
    part = reachable_part(problem)
    seen = naive(problem)
    for x, y in np.ndindex(n, m):
        inside = (x, y) in seen
        assert part.stop[x, y] == (not inside or (problem.stop is not None and bool(problem.stop[x, y])))
        assert part.cost[x, y] == (problem.cost[x, y] if inside else 0.0)
    whole, some = bm.solve(problem), bm.solve(part)
    for x, y in seen:
        assert some.lower[x, y] <= whole.upper[x, y]
        assert whole.lower[x, y] <= some.upper[x, y]
    assert some.interval[0] <= whole.interval[1]
    assert whole.interval[0] <= some.interval[1]


def islands(count, side):
    """Several copies of a walk that do not lead to one another; it starts in the first."""
    one = bm.environments.four_rooms(side=side)
    matrix = sparse.block_diag([one.transitions] * count, format="csr")
    return bm.MarkovChain(matrix, reward=np.tile(one.reward, count), start=0)


@pytest.mark.parametrize("normalised", [False, True])
def test_few_pairs(normalised):
    """On islands, one in nine pairs is looked at; the answer, its normalisation and files are as usual."""
    chain, other = islands(3, 4), islands(3, 4).with_start(20)
    options = {"discount": 0.9, "normalised": normalised}
    whole, some = bm.distance(chain, other, **options), bm.distance(chain, other, pairs="reachable", **options)
    assert some.distance == pytest.approx(whole.distance, rel=1e-9)
    assert (~some.problem.stop).sum() <= some.value.size / 8
    assert not some.value[some.problem.stop].any()
    assert some.problem.normalised is normalised


def test_a_solution_of_few_pairs_is_saved_and_loaded(tmp_path):
    """Its stops go with it."""
    some = bm.distance(islands(2, 3), islands(2, 3), discount=0.9, pairs="reachable")
    some.save(tmp_path / "a.npz")
    loaded = bm.load(tmp_path / "a.npz")
    assert loaded.distance == some.distance
    assert np.array_equal(loaded.problem.stop, some.problem.stop)


def test_bad_input():
    """Other words, and chains without a start."""
    chain = islands(2, 3)
    with pytest.raises(bm.errors.InvalidOption, match="pairs is 'few', expected one of 'all', 'reachable'"):
        bm.distance(chain, chain, discount=0.9, pairs="few")
    bare = bm.MarkovChain([[1.0]], reward=[1.0])
    with pytest.raises(bm.errors.InvalidProblem, match=r"the target chain has no start.*with_start"):
        bm.distance(chain, bare, discount=0.9, pairs="reachable")

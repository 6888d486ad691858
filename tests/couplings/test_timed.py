"""Couplings of a finite horizon: laws of every step, paths, shares of time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption, MissingStart
from tests.strategies import horizon_problems

CYCLE = bm.MarkovChain(np.roll(np.eye(3), 1, axis=1), reward=[0, 1, 2], start=0, names=["a", "b", "c"])
WALK = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]], reward=[0, 1], start=0)
SOLUTION = bm.solve(bm.HorizonProblem(CYCLE, WALK, horizon=4, discount=0.5))


@given(horizon_problems(start=True))
def test_couplings_have_the_marginals_and_the_value(problem):
    """At every time and pair, the rows of the chains, and <π, V_{t+1}> = (V_t - c_t)/γ."""
    solution = bm.solve(problem)
    largest = max(float(solution.at(t).upper.max()) for t in range(problem.horizon + 1))
    for t in range(problem.horizon):
        P, Q = (chain.transitions.toarray() for chain in (problem.sources[t], problem.targets[t]))
        later = solution.at(t + 1).value
        for x, y in np.ndindex(problem.shape):
            law = solution.coupling[t, x, y].toarray()
            assert np.array_equal(law.sum(axis=1), P[x])
            assert np.array_equal(law.sum(axis=0), Q[y])
            paid = problem.costs[t][x, y] + problem.discount * (law * later).sum()
            assert abs(paid - solution.at(t).value[x, y]) <= 1e-13 * largest
    total = sum(
        problem.discount**t * (law * cost).sum()
        for t, (law, cost) in enumerate(zip(solution.coupling.laws(), (*problem.costs, problem.terminal), strict=True))
    )
    assert abs(total - solution.distance) <= 1e-12 * largest
    assert solution.coupling.occupancy().sum() == pytest.approx(1.0, abs=1e-12)


def test_places():
    """[t, x, y] by index or name, [x, y] is time 0."""
    coupling = SOLUTION.coupling
    assert (coupling["b", 1] != coupling[0, 1, 1]).nnz == 0
    for place in (0, (1,), (1, 2, 3, 4), (4, 0, 0), (-1, 0, 0), ("a", 0, 0), (0.5, 0, 0)):
        with pytest.raises(InvalidOption):
            coupling[place]
    with pytest.raises(InvalidChain):
        coupling[0, "d", 0]
    assert "4" not in repr(coupling).split("(")[0]


def test_paths():
    """As many moves as there are steps, reproducible, from any start."""
    path = SOLUTION.coupling.simulate(seed=3)
    assert path.shape == (5, 2)
    assert np.array_equal(path, SOLUTION.coupling.simulate(seed=3))
    assert np.array_equal(path[:3], SOLUTION.coupling.simulate(2, seed=3))
    assert np.array_equal(path[:1], SOLUTION.coupling.simulate(0, 3))
    for wrong in ((-1, 3), (len(path), 3), (1.5, 3), (2,)):
        with pytest.raises(InvalidOption, match="expected a whole number"):
            SOLUTION.coupling.simulate(*wrong)
    assert path[:, 0].tolist() == [0, 1, 2, 0, 1]
    assert SOLUTION.coupling.simulate(seed=3, start=("c", 1))[0].tolist() == [2, 1]
    law = np.zeros((3, 2))
    law[2, 1] = 1.0
    assert SOLUTION.coupling.simulate(seed=3, start=law)[0].tolist() == [2, 1]
    with pytest.raises(InvalidOption, match="seed"):
        SOLUTION.coupling.simulate(seed=-1)
    without = bm.solve(bm.HorizonProblem(bm.MarkovChain(np.eye(2), reward=[0, 1]), WALK, horizon=2))
    with pytest.raises(MissingStart):
        without.coupling.simulate(seed=1)

"""The most likely way to part over a finite horizon, against a search over all ways."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bisimetric as bm


def all_ways(solution):
    """The largest weight of a way to its first costly pair, and the sum of weight times distance over all ways."""
    problem, coupling = solution.problem, solution.coupling
    n, m = problem.shape
    paid = [*problem.costs, problem.terminal]
    best, total = 0.0, 0.0
    pairs = list(itertools.product(range(n), range(m)))
    law = coupling.law(None)
    ways = [(pair, float(law[pair])) for pair in pairs if law[pair] > 0]
    for time in range(problem.horizon + 1):
        value = solution.at(time).value
        later = []
        for pair, weight in ways:
            if paid[time][pair] > 0:
                best, total = max(best, weight), total + weight * value[pair]
            elif time < problem.horizon:
                after = coupling[time, *pair].toarray()
                later += [(to, weight * problem.discount * after[to]) for to in pairs if after[to] > 0]
        ways = later
    return best, total


@pytest.mark.parametrize("discount", [1.0, 0.7])
def test_it_is_the_heaviest_of_all_ways(discount):
    """On chains that begin alike."""
    rows = [[0.2, 0.8, 0], [0.1, 0.5, 0.4], [0, 0, 1]]
    source = bm.MarkovChain(rows, reward=[0, 0, 1], start=0)
    target = bm.MarkovChain([[0.4, 0.6, 0], [0.3, 0.6, 0.1], [0, 0, 1]], reward=[0, 0, 1], start=0)
    solution = bm.solve(bm.HorizonProblem([source, source, rows, rows], target, horizon=4, discount=discount))
    path = solution.explain().path
    best, total = all_ways(solution)
    assert total == pytest.approx(solution.distance, rel=1e-12)
    assert discount**path.parting * path.probability == pytest.approx(best, rel=1e-12)
    then = solution.at(path.parting).value[path.moments[path.parting].states]
    assert path.amount == pytest.approx(best * then, rel=1e-12)
    assert path.share == pytest.approx(path.amount / solution.distance, rel=1e-12)
    assert "rewards" in path.difference
    assert all(moment.cost == 0 for moment in path.moments[: path.parting])


def test_chains_that_never_part():
    """One against itself, and without a future."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    path = bm.solve(bm.HorizonProblem(chain, chain, horizon=3)).explain().path
    assert path.parting is None
    assert "never part" in repr(path)
    other = bm.MarkovChain([[0, 1], [0, 1]], reward=[0, 1], start=0)
    assert bm.solve(bm.HorizonProblem(chain, other, horizon=3, discount=0.0)).explain().path.parting is None


def test_a_terminal_cost_ends_a_way():
    """All is paid at the end."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], start=0)
    terminal = np.array([[0.0, 1.0], [1.0, 0.0]])
    other = bm.MarkovChain([[0.25, 0.75], [0, 1]], start=0)
    path = bm.solve(bm.HorizonProblem(chain, other, horizon=2, cost=np.zeros((2, 2)), terminal=terminal)).explain().path
    assert path.parting == 2
    assert path.moments[-1].cost == 1.0

"""The distance between initial laws: one more transport."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.errors import MissingStart
from tests import reference, strategies


@given(strategies.tame_problems(max_states=5, start=True))
def test_distance_equals_a_linear_program(problem):
    """min <π, V> over the couplings of the two starts, by HiGHS, at the distances found."""
    solution = bm.solve(problem)
    expected = reference.transport(problem.source.start, problem.target.start, solution.value)
    assert solution.distance == pytest.approx(expected, rel=1e-9, abs=1e-9 * solution.value.max())
    low, high = solution.interval
    assert low - 1e-10 * solution.value.max() <= expected <= high + 1e-10 * solution.value.max()


@given(strategies.tame_problems(max_states=5, start=True))
def test_the_joint_law_of_the_starts(problem):
    """coupling.law(None) couples the starts exactly and attains the distance."""
    solution = bm.solve(problem)
    law = solution.coupling.law(None)
    assert np.array_equal(law.sum(axis=1), problem.source.start)
    assert np.array_equal(law.sum(axis=0), problem.target.start)
    paid = (law * solution.value).sum()
    assert paid == pytest.approx(solution.distance, abs=1e-13 * (solution.value.max() or 1.0))


def test_single_states():
    """From one state each it is the entry of the matrix, with its own bounds."""
    problem = bm.Problem(bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0"), discount=0.9)
    solution = bm.solve(problem)
    assert solution.distance == solution.value[9, 21]
    assert solution.interval == (solution.lower[9, 21], solution.upper[9, 21])


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1.0, 1e300])
def test_any_scale(scale):
    """Starts that are laws work from the smallest costs to the largest."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=[0.3, 0.7])
    other = chain.with_start([0.9, 0.1])
    cost = bm.cost.reward_gap(chain, other)
    usual = bm.solve(bm.Problem(chain, other, discount=0.9, cost=cost))
    scaled = bm.solve(bm.Problem(chain, other, discount=0.9, cost=cost * scale))
    assert scaled.distance == pytest.approx(usual.distance * scale, rel=1e-9)
    low, high = scaled.interval
    assert high - low <= 1e-8 * scaled.distance


@pytest.mark.parametrize("seed", range(3))
def test_a_mean_is_no_larger_than_the_largest_distance(seed):
    """Not by a unit in the last place either, for all objectives; nor smaller than the smallest."""
    random = np.random.default_rng(seed)
    laws = [(random.dirichlet(np.ones(n), n), random.dirichlet(np.ones(n))) for n in (7, 6)]
    source, target = (bm.MarkovChain(rows, start=start) for rows, start in laws)
    cost = np.ones((7, 6))
    half = bm.MarkovChain(target.transitions)
    for solution in (
        bm.distance(source, target, discount=0.9, cost=cost),
        bm.average_distance(source, target, cost=cost),
        bm.average_distance(source, half, cost=cost),
        bm.average_distance(half, source, cost=cost.T),
        *(bm.solve(bm.HorizonProblem(source, target, horizon=h, cost=0 * cost, terminal=cost)) for h in (1, 2, 3)),
    ):
        assert solution.value.min() <= solution.distance <= solution.value.max()
        low, high = solution.interval
        assert solution.lower.min() <= low <= solution.distance <= high <= solution.upper.max()


def test_zero_is_exact_without_costs():
    """Where nothing costs anything, laws are at distance exactly zero like states are."""
    source = bm.MarkovChain([[1.0]], start=[1.0])
    target = bm.MarkovChain([[0.5, 0.5], [0, 1]], start=[0.5, 0.5])
    solution = bm.solve(bm.Problem(source, target, discount=0.5, cost=[[0.0, 0.0]]))
    assert solution.distance == 0.0
    assert solution.interval == (0.0, 0.0)


def test_zero_is_exact_for_equal_laws():
    """The same chain from the same law: the plan stays on the diagonal, where zero is proved."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=[0.3, 0.7])
    solution = bm.solve(bm.Problem(chain, chain, discount=0.9))
    assert solution.distance == 0.0
    assert solution.interval == (0.0, 0.0)


@pytest.mark.parametrize("role", ["source", "target"])
def test_a_missing_start_is_an_error_with_a_remedy(role):
    """The message names the chain and both ways out."""
    chain = bm.MarkovChain([[1.0]], reward=[1.0])
    started = chain.with_start(0)
    pair = (chain, started) if role == "source" else (started, chain)
    solution = bm.solve(bm.Problem(*pair, discount=0.5))
    with pytest.raises(MissingStart, match=rf"{role}.*with_start"):
        _ = solution.distance
    with pytest.raises(MissingStart):
        _ = solution.interval


def test_no_farther_than_the_farthest_states():
    """Rounding makes no probability larger than one."""
    coins = [bm.MarkovChain([[p, 1 - p]] * 2, labels=["h", "t"], start=[p, 1 - p]) for p in (0.5, 0.5 + 1e-6)]
    found = bm.bisimilarity_distance(*coins)
    assert found.interval[1] == found.distance == 1.0

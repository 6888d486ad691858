"""Ground costs by name."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.cost import cost_above, cost_below, largest_cost_error
from bisimetric.errors import InvalidProblem
from bisimetric.models.rows import UNIT_ROUNDOFF
from tests import reference


def chain(n, **options):
    """n absorbing states."""
    return bm.MarkovChain(np.eye(n), **options)


def test_reward_gap():
    """|r - r'| for every pair; it is the default."""
    source, target = chain(2, reward=[0, 3]), chain(3, reward=[1, -1, 3])
    expected = [[1, 1, 3], [2, 4, 0]]
    assert bm.cost.reward_gap(source, target).tolist() == expected
    assert bm.Problem(source, target, discount=0.5).cost.tolist() == expected
    assert repr(bm.cost.reward_gap) == "bisimetric.cost.reward_gap"


def test_label_mismatch():
    """1 where labels differ, whatever kind they are."""
    source, target = chain(3, labels=["a", {"p", "q"}, 1]), chain(3, labels=[["p", "q"], "a", 1.0])
    assert bm.cost.label_mismatch(source, target).tolist() == [[1, 0, 1], [0, 1, 1], [1, 1, 0]]


@pytest.mark.parametrize(("metric", "expected"), [("euclidean", 5.0), ("cityblock", 7.0), ("sqeuclidean", 25.0)])
def test_features(metric, expected):
    """Distances between label vectors."""
    cost = bm.cost.features(metric)(chain(1, labels=[(0.0, 0.0)]), chain(1, labels=[[3, 4]]))
    assert cost.tolist() == [[expected]]
    assert metric in repr(bm.cost.features(metric))


def test_scalar_features():
    """A number is a vector of one."""
    cost = bm.cost.features()(chain(2, labels=[1, 2]), chain(1, labels=[5]))
    assert cost.tolist() == [[4.0], [3.0]]


@pytest.mark.parametrize(
    ("cost", "source", "target", "message"),
    [
        (bm.cost.reward_gap, {}, {"reward": [1.0]}, "source chain has no reward"),
        (bm.cost.reward_gap, {"reward": [1.0]}, {}, "the target chain has no reward"),
        (bm.cost.label_mismatch, {"labels": ["a"]}, {}, "the target chain has no labels"),
        (bm.cost.features(), {}, {"labels": [1]}, "has no labels|not numeric"),
        (bm.cost.features(), {"labels": ["a"]}, {"labels": [1]}, "source chain are not numeric"),
        (bm.cost.features(), {"labels": [(1, 2)]}, {"labels": [1]}, "have 2 and 1 entries"),
        (bm.cost.features("no such"), {"labels": [1]}, {"labels": [1]}, "the metric 'no such' fails"),
        (bm.cost.reward_gap, {"reward": [1e308]}, {"reward": [-1e308]}, "overflows; divide the rewards"),
    ],
)
def test_chains_without_what_the_cost_needs(cost, source, target, message):
    """The message names the chain and what it lacks."""
    with pytest.raises(InvalidProblem, match=message):
        bm.Problem(chain(1, **source), chain(1, **target), discount=0.5, cost=cost)


def test_any_function_of_two_chains_is_a_cost():
    """Callables are called with the chains and checked like arrays."""
    source, target = chain(2), chain(1)
    problem = bm.Problem(source, target, discount=0.5, cost=lambda a, b: np.full((a.n_states, b.n_states), 2.0))
    assert problem.cost.tolist() == [[2.0], [2.0]]
    with pytest.raises(InvalidProblem, match="expected no negative cost"):
        bm.Problem(source, target, discount=0.5, cost=lambda a, b: np.full((2, 1), -1.0))


def test_which_costs_are_exact():
    """Arrays and labels always, rewards where no difference can round; the factor 1 - γ rounds."""
    coins = chain(3, reward=[0, 0.5, 2**20], labels=[0, 1, 2])
    tenths = chain(3, reward=[0.1, 0.7, 1e-17])
    assert bm.Problem(coins, coins, discount=0.5).cost_error == 0.0
    assert bm.Problem(coins, coins, discount=0.3, cost=bm.cost.label_mismatch).cost_error == 0.0
    assert bm.Problem(tenths, tenths, discount=0.3, cost=np.ones((3, 3))).cost_error == 0.0
    assert 0 < bm.Problem(tenths, tenths, discount=0.3).cost_error < 1e-15
    assert 0 < bm.Problem(coins, coins, discount=0.3, normalised=True).cost_error < 1e-15
    assert bm.Problem(coins, coins, discount=0.0, normalised=True).cost_error == 0.0
    assert 0 < bm.Problem(coins, coins, discount=0.3, cost=bm.cost.features()).cost_error < 1e-14


@given(st.lists(st.floats(-1e300, 1e300), min_size=2, max_size=4), st.floats(0.0, 1 - 1e-9), st.booleans())
def test_costs_are_off_by_their_error_at_most(rewards, discount, normalised):
    """Against rational numbers; and only equal rewards cost nothing, however small they are."""
    states = chain(len(rewards), reward=rewards, labels=rewards)
    for cost in (bm.cost.reward_gap, bm.cost.features(), bm.cost.features("cityblock")):
        problem = bm.Problem(states, states, discount=discount, cost=cost, normalised=normalised)
        low, high = (bound(problem.cost, problem.cost_error) for bound in (cost_below, cost_above))
        for x, row in enumerate(reference.exact_gaps(problem)):
            for y, gap in enumerate(row):
                assert Fraction(float(low[x, y])) <= gap <= Fraction(float(high[x, y]))
                assert (problem.cost[x, y] == 0.0) == (gap == 0)


def test_features_of_any_size():
    """Squares that vanish or overflow do no harm."""
    near, far = chain(2, labels=[(0.0, 1.0), (3e-200, 1.0)]), chain(2, labels=[(0.0, 0.0), (3e200, 4e200)])
    assert bm.cost.features()(near, near).tolist() == [[0, 3e-200], [3e-200, 0]]
    np.testing.assert_allclose(bm.cost.features()(far, far), [[0, 5e200], [5e200, 0]])


@given(st.floats(0.0, 1e300), st.integers(1, 40))
def test_costs_with_an_error(cost, roundings):
    """The bounds enclose every cost within the error, also where products underflow; a zero has none."""
    error = 2 * roundings * UNIT_ROUNDOFF
    low, high = (float(bound(np.array([cost]), error)[0]) for bound in (cost_below, cost_above))
    assert 0 <= Fraction(low) <= Fraction(cost) * (1 - Fraction(error))
    assert Fraction(high) >= Fraction(cost) * (1 + Fraction(error))
    assert largest_cost_error(cost, error) >= high - cost
    assert (low, high) == (0.0, 0.0) or cost > 0.0
    assert cost_below(np.array([cost]), 0.0)[0] == cost_above(np.array([cost]), 0.0)[0] == cost

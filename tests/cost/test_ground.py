"""Costs with names and units, their sums and rounding, and where results show them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import bisimetric as bm
from bisimetric._support import memory
from bisimetric.cost.ground import LEAST, cost_above, cost_below, kept_positive, largest_cost_error
from bisimetric.errors import InvalidOption, InvalidProblem, NotEnoughMemory
from bisimetric.models.rows import UNIT_ROUNDOFF
from tests import reference


def chain(n, **options):
    """n absorbing states."""
    return bm.MarkovChain(np.eye(n), **options)


def test_any_function_of_two_chains_is_a_cost():
    """Callables are called with the chains and checked like arrays."""
    source, target = chain(2), chain(1)
    problem = bm.Problem(source, target, discount=0.5, cost=lambda a, b: np.full((a.n_states, b.n_states), 2.0))
    assert problem.cost.tolist() == [[2.0], [2.0]]
    with pytest.raises(InvalidProblem, match="expected no negative cost"):
        bm.Problem(source, target, discount=0.5, cost=lambda a, b: np.full((2, 1), -1.0))


WEIGHTS = st.floats(1e-3, 1e3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=3), WEIGHTS, WEIGHTS, WEIGHTS)
def test_sums_are_off_by_their_error_at_most(rewards, a, b, c):
    """Against rational numbers, nested in both ways."""
    states = chain(len(rewards), reward=rewards, labels=list(range(len(rewards))))
    one = a * (b * bm.cost.reward_gap + bm.cost.label_mismatch) + bm.cost.label_mismatch * c
    problem = bm.Problem(states, states, discount=0.5, cost=one)
    low, high = (bound(problem.cost, problem.cost_error) for bound in (cost_below, cost_above))
    for x, y in np.ndindex(problem.cost.shape):
        gap = abs(Fraction(rewards[x]) - Fraction(rewards[y]))
        weight = Fraction(a) * Fraction(b)
        true = weight * gap + (Fraction(a) + Fraction(c)) * (x != y)
        assert Fraction(float(low[x, y])) * (1 - Fraction(1, 2**51)) <= true
        assert true <= Fraction(float(high[x, y])) * (1 + Fraction(1, 2**51))
        assert (problem.cost[x, y] == 0) == (true == 0)


def test_names_and_units():
    """Of sums too, and numpy's numbers are numbers."""
    both = 0.5 * bm.cost.reward_gap + bm.cost.label_mismatch
    assert (both.name, both.unit) == ("0.5·reward_gap + label_mismatch", "reward + mismatch")
    assert repr(both) == "0.5 * bisimetric.cost.reward_gap + bisimetric.cost.label_mismatch"
    assert (np.float64(2) * both).name == "reward_gap + 2·label_mismatch"
    assert (both * 2).unit == both.unit
    assert sum([bm.cost.reward_gap, bm.cost.label_mismatch]).name == "reward_gap + label_mismatch"
    assert bm.cost.features("cosine").unit == "cosine distance"


def test_functions_in_sums():
    """A function gets its own name, or one that is given."""

    def toll(source, target):
        return np.ones((source.n_states, target.n_states))

    states = chain(2, reward=[0, 2])
    assert (bm.cost.reward_gap + toll)(states, states).tolist() == [[1, 3], [3, 1]]
    assert (toll + bm.cost.reward_gap).name == "reward_gap + toll"
    named = bm.cost.function(toll, "bridge", "euros")
    assert (named.name, named.unit, named.error(states, states)) == ("bridge", "euros", 0.0)
    assert bm.Problem(states, states, discount=0.5, cost=toll).cost_name == "toll"


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (np.ones((3, 2)), r"from wrong\) has shape \(3, 2\), expected \(2, 2\)"),
        (np.ones(2), r"from wrong\) has shape \(2,\)"),
        ([[0, 1], [np.nan, 1]], r"from wrong\)\[1, 0\] is nan, expected a finite number"),
        ([[0, 1], [1, np.inf]], "is inf, expected a finite number"),
        ([[0, 1], [-2, 1]], r"\[1, 0\] is -2, expected no negative cost"),
        ("far", "from wrong"),
        (None, "from wrong"),
    ],
)
def test_what_a_function_must_not_return(returned, message):
    """The error names the function and the place, alone and in a sum."""

    def wrong(source, target):
        return returned

    states = chain(2, reward=[0, 1])
    for cost in (wrong, bm.cost.function(wrong), bm.cost.reward_gap + wrong):
        with pytest.raises(InvalidProblem, match=message):
            bm.Problem(states, states, discount=0.5, cost=cost)


def test_what_is_refused():
    """Weights that are not positive numbers, and sums with what is no cost."""
    for weight in (0, -1, np.nan, "2", None, bm.cost.reward_gap):
        with pytest.raises(InvalidOption, match="positive number"):
            bm.cost.reward_gap * weight
    for other in (1, np.ones((2, 2)), "labels"):
        with pytest.raises(InvalidOption, match="expected two costs"):
            bm.cost.reward_gap + other
    with pytest.raises(InvalidOption, match="expected a function"):
        bm.cost.function(3)


def test_results_show_the_cost(tmp_path):
    """The problem, the explanation and the file; the default and arrays need no mention."""
    states = chain(2, reward=[0, 1], labels=["a", "b"], start=[0.5, 0.5])
    moved = states.with_start(0)
    both = bm.distance(states, moved, discount=0.5, cost=2 * bm.cost.reward_gap + bm.cost.label_mismatch)
    told = "2·reward_gap + label_mismatch in reward + mismatch"
    assert told in repr(both.problem)
    assert f"; cost: {told}\n" in repr(both.explain())
    both.save(tmp_path / "both.npz")
    again = bm.load(tmp_path / "both.npz")
    assert (again.problem.cost_name, again.problem.cost_unit) == (both.problem.cost_name, both.problem.cost_unit)
    for cost in (None, np.ones((2, 2))):
        plain = bm.distance(states, moved, discount=0.5, cost=cost)
        assert "cost" not in repr(plain.problem)
        assert "cost:" not in repr(plain.explain())


def test_chains_that_lack_what_a_sum_needs():
    """As for the cost alone."""
    with pytest.raises(InvalidProblem, match="no labels"):
        bm.Problem(
            chain(1, reward=[0]), chain(1, reward=[0]), discount=0.5, cost=bm.cost.reward_gap + bm.cost.label_mismatch
        )


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


def test_positive_costs_stay_positive():
    """Zero means that the true cost is zero."""
    cost = kept_positive(np.array([0.0, 0.0, 2.0]), np.array([False, True, True]))
    assert cost.tolist() == [0.0, LEAST, 2.0]


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


@pytest.mark.parametrize("wrong", [lambda x, y: x != y, lambda x, y: 0.5])
def test_a_cost_of_two_states(wrong):
    """Is no cost of two chains; the message says so."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    with pytest.raises(InvalidProblem, match="two chains"):
        bm.Problem(chain, chain, discount=0.5, cost=wrong)


@pytest.mark.parametrize("wrong", [bm.cost.features, lambda x: x, lambda: 1])
def test_what_cannot_be_called_with_two_chains(wrong):
    """The message says what a cost is."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1])
    with pytest.raises(InvalidProblem, match="function of the source and the target"):
        bm.Problem(chain, chain, discount=0.5, cost=wrong)


@pytest.mark.parametrize("ask", ["cost", "distance", "bisimilarity"])
@pytest.mark.parametrize("name", ["reward_gap", "label_mismatch", "label_difference", "features", "emissions", "sum"])
def test_too_many_states_for_an_array_of_costs(name, ask, monkeypatch):
    """An estimate and what to do, before any cost is computed, whoever asks for it."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 10**10)
    n = 200_000
    move = sparse.csr_array((np.ones(n), (np.arange(n), np.roll(np.arange(n), 1))))
    labels = [("poisson", float(k % 2)) for k in range(n)] if name == "emissions" else [k % 2 for k in range(n)]
    large = bm.MarkovChain(move, reward=np.arange(n) % 2, labels=labels, start=0)
    costs = {"features": bm.cost.features(), "sum": bm.cost.reward_gap + bm.cost.label_mismatch}
    cost = costs.get(name) or getattr(bm.cost, name)
    asks = {
        "cost": lambda: cost(large, large),
        "distance": lambda: bm.distance(large, large, discount=0.9, cost=cost),
        "bisimilarity": lambda: bm.bisimilarity_distance(large, large, discount=0.9),
    }
    with pytest.raises(NotEnoughMemory, match=r"200000 x 200000 states needs about .* merge bisimilar states"):
        asks[ask]()

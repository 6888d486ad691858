"""Aggregation: clusters, the small chain, and bounds that always hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem, SolverFailed
from tests import reference, strategies

CHAIN = bm.MarkovChain(
    [[0.5, 0.5, 0.0, 0.0], [0.45, 0.55, 0.0, 0.0], [0.0, 0.0, 0.5, 0.5], [0.0, 0.0, 0.5, 0.5]],
    reward=[0.0, 0.01, 1.0, 1.0],
    start=[0.5, 0.25, 0.25, 0.0],
    names=["a", "b", "c", "d"],
    labels=["low", "low", "high", "high"],
)


def values(chain, discount):
    """v = r + γ P v, exactly."""
    return reference.exact_rewards(reference.marginals(chain.transitions), chain.reward, discount)


def test_by_hand():
    """Two clusters: mean rows and rewards, summed start, names and labels of first states."""
    found = bm.aggregate(CHAIN, n_states=2, discount=0.9)
    assert found.map.tolist() == [0, 0, 1, 1]
    assert found.model.transitions.toarray().tolist() == [[1, 0], [0, 1]]
    assert found.model.reward.tolist() == [0.005, 1.0]
    assert found.model.start.tolist() == [0.75, 0.25]
    assert (found.model.names, found.model.labels) == (("a", "c"), ("low", "high"))
    assert 0 < found.distance_bound < 0.01
    assert found.value_bound == pytest.approx(found.distance_bound / 0.1)
    assert "states 4 -> 2" in repr(found)


def test_epsilon_zero_is_the_quotient():
    """Only what is proved to be at zero is merged, and then nothing is lost."""
    found = bm.aggregate(CHAIN, epsilon=0.0, discount=0.9)
    assert found.map.tolist() == bm.quotient(CHAIN)[1].tolist() == [0, 1, 2, 2]
    assert found.distance_bound <= 1e-9


def test_epsilon_bounds_the_clusters():
    """No two states of a cluster are farther apart than epsilon, and a larger epsilon gives fewer states."""
    rooms = bm.environments.four_rooms(side=6)
    distances = bm.solve(bm.Problem(rooms, rooms, discount=0.9, normalised=True))
    sizes = []
    for epsilon in (0.0, 1e-3, 1e-2, 1.0):
        found = bm.aggregate(rooms, epsilon=epsilon, discount=0.9)
        together = found.map[:, None] == found.map
        assert distances.lower[together].max() <= epsilon
        sizes.append(found.model.n_states)
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 1


@pytest.mark.parametrize("n_states", [1, 7, 40])
def test_as_many_states_as_asked(n_states):
    """Exactly, also where there are ties."""
    found = bm.aggregate(bm.environments.four_rooms("p1"), n_states=n_states, discount=0.9)
    assert found.model.n_states == n_states
    assert sorted(set(found.map.tolist())) == list(range(n_states))
    if n_states == 40:
        assert found.distance_bound == found.value_bound == 0.0


def test_mixed_labels_are_dropped():
    """A cluster of two labels has none to show."""
    assert bm.aggregate(CHAIN, n_states=1, discount=0.5).model.labels is None


@given(
    chain=strategies.chains(max_states=5, reward=True),
    discount=st.one_of(strategies.tame_discounts, st.just(0.0)),
    how=st.one_of(st.floats(0.0, 2.0).map(lambda e: {"epsilon": e}), st.integers(1, 5).map(lambda k: {"n_states": k})),
)
def test_bounds_always_hold(chain, discount, how):
    """|v(s) - v̂(map s)| against exact linear solves, in rational arithmetic."""
    if how.get("n_states", 1) > chain.n_states:
        how = {"n_states": chain.n_states}
    found = bm.aggregate(chain, **how, discount=discount)
    full, small = values(chain, discount), values(found.model, discount)
    for state, cluster in enumerate(found.map):
        apart = abs(full[state] - small[cluster])
        assert apart <= Fraction(found.value_bound)
        assert (1 - Fraction(discount)) * apart <= Fraction(found.distance_bound)
    assert (found.model.transitions.sum(axis=1) == 1.0).all()


def test_one_state():
    """There is nothing to cluster."""
    found = bm.aggregate(bm.MarkovChain([[1.0]], reward=[3]), epsilon=1, discount=0.9)
    assert (found.map.tolist(), found.distance_bound) == ([0], 0.0)


@pytest.mark.parametrize("epsilon", [-0.1, float("nan"), float("inf"), "0.1", True])
def test_bad_epsilon(epsilon):
    """A number that is not negative."""
    with pytest.raises(InvalidOption, match="epsilon is"):
        bm.aggregate(CHAIN, epsilon=epsilon, discount=0.9)


@pytest.mark.parametrize("n_states", [0, 5, -1, 2.0, "2", True])
def test_bad_n_states(n_states):
    """A whole number from 1 to as many as there are."""
    with pytest.raises(InvalidOption, match=r"n_states is .* from 1 to 4"):
        bm.aggregate(CHAIN, n_states=n_states, discount=0.9)


def test_one_of_two():
    """Either how close or how many."""
    with pytest.raises(InvalidOption, match="neither of"):
        bm.aggregate(CHAIN, discount=0.9)
    with pytest.raises(InvalidOption, match="both of epsilon and n_states"):
        bm.aggregate(CHAIN, epsilon=0.1, n_states=2, discount=0.9)


def test_bad_models():
    """No reward, no model, no discount."""
    with pytest.raises(InvalidChain, match="no reward"):
        bm.aggregate(bm.MarkovChain(np.eye(2)), n_states=1, discount=0.9)
    with pytest.raises(InvalidChain, match="cannot make a model of a int"):
        bm.aggregate(3, n_states=1, discount=0.9)
    with pytest.raises(InvalidProblem, match="discount is 1"):
        bm.aggregate(CHAIN, n_states=1, discount=1.0)


@pytest.mark.slow
@settings(max_examples=700)
@given(st.data())
def test_long_search(data):
    """Bounds on chains of up to eight states, with tiny probabilities and discounts near one."""
    chain = data.draw(strategies.chains(max_states=8, reward=True))
    n_states = data.draw(st.integers(1, chain.n_states))
    check = test_bounds_always_hold.hypothesis.inner_test
    check(chain, data.draw(strategies.discounts), {"n_states": n_states})


@pytest.mark.parametrize("rewards", [[5e-324, 0, 1e-323], [0, 1, -1e13], [0.1, 0.1 + 1e-17, 0.3], [1e-200, 1, 1e200]])
@pytest.mark.parametrize("n_states", [1, 2])
def test_bounds_for_rewards_of_any_size(rewards, n_states):
    """In rational numbers, for mixed and for the smallest rewards; of a chain, and of a process."""
    chain = bm.MarkovChain([[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0, 0, 1]], reward=rewards)
    for model in (chain, bm.as_mdp(chain)):
        found = bm.aggregate(model, n_states=n_states, discount=0.3)
        small = bm.as_mdp(found.model)
        pair = [
            reference.exact_rewards(reference.marginals(one.transitions[0]), one.rewards[:, 0], 0.3)
            for one in (bm.as_mdp(chain), small)
        ]
        worst = max(abs(v - pair[1][k]) for v, k in zip(pair[0], found.map, strict=True))
        assert worst <= Fraction(found.value_bound)
        assert (1 - Fraction(0.3)) * worst <= Fraction(found.distance_bound)


def test_bounds_after_a_quotient():
    """What the quotient merged is paid for: no bound of zero for states whose rows differ, with any actions."""
    rough = np.array([[0.1, 0.2, 0.7], [0.3 + 1e-13, 0.0, 0.7 - 1e-13], [0, 0, 1]])
    chain = bm.MarkovChain(rough, reward=[0, 0, 1])
    v = reference.exact_rewards(reference.marginals(chain.transitions), chain.reward, 0.9)
    available = [[True, False], [True, False], [True, True]]
    for model in (chain, bm.as_mdp(chain), bm.MDP([rough, np.eye(3)], [[0, 0], [0, 0], [1, 1]], available=available)):
        small, classes = bm.quotient(model)
        found = bm.aggregate(small, epsilon=0.0, discount=0.9)
        tiny = bm.as_mdp(found.model)
        after = reference.exact_rewards(reference.marginals(tiny.transitions[0]), tiny.rewards[:, 0], 0.9)
        worst = max(abs(v[s] - after[found.map[classes[s]]]) for s in range(3))
        assert 0 < worst <= Fraction(found.value_bound)
        assert (1 - Fraction(0.9)) * worst <= Fraction(found.distance_bound) < 1e-10


@pytest.mark.parametrize("model", [bm.environments.four_rooms("p1"), bm.environments.four_rooms_mdp(side=4)])
def test_the_time_limit(model):
    """No answer after it; the error says so, and enough time changes nothing."""
    with pytest.raises(SolverFailed, match="raise time_limit"):
        bm.aggregate(model, n_states=5, discount=0.9, time_limit=1e-9)
    with pytest.raises(InvalidOption, match="time_limit is 0"):
        bm.aggregate(model, n_states=5, discount=0.9, time_limit=0)
    assert bm.aggregate(model, n_states=5, discount=0.9, time_limit=600.0).model.n_states == 5

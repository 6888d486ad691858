"""Aggregation of decision processes: clusters keep their actions, and bounds always hold."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.bisimulation.aggregation import _with_all_actions
from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem
from tests import reference, strategies

STAY, GO = np.eye(4), np.eye(4)[[1, 0, 3, 2]]
WALK = bm.MDP(
    [STAY, GO],
    [[0.0, 1.0], [0.02, 1.0], [0.5, 0.0], [0.5, 0.0]],
    start=[0.5, 0.25, 0.25, 0.0],
    names=["a", "b", "c", "d"],
    actions=["stay", "go"],
    available=[[True, True], [True, True], [True, False], [True, False]],
)
HOW = st.one_of(st.floats(0.0, 3.0).map(lambda e: {"epsilon": e}), st.floats(0.0, 1.0).map(lambda x: {"share": x}))


def kinds_of(mdp):
    """The states' sets of actions."""
    return [tuple(here) for here in mdp.available.tolist()]


def aggregated(mdp, how, discount):
    """An aggregation; a share stands for a number of states between the fewest and the most."""
    if "share" in how:
        fewest = len(set(kinds_of(mdp)))
        how = {"n_states": fewest + round(how["share"] * (mdp.n_states - fewest))}
    found = bm.aggregate(mdp, **how, discount=discount)
    assert found.model.n_states == how.get("n_states", found.model.n_states)
    return found


def test_process_by_hand():
    """Mean rows and rewards of every action, the fields, and a policy that names actions of the original."""
    found = bm.aggregate(WALK, n_states=2, discount=0.9)
    assert isinstance(found, bm.MDPAggregation)
    assert found.map.tolist() == [0, 0, 1, 1]
    assert [matrix.toarray().tolist() for matrix in found.model.transitions] == [np.eye(2).tolist()] * 2
    assert found.model.rewards.tolist() == [[0.01, 1.0], [0.5, 0.0]]
    assert found.model.available.tolist() == [[True, True], [True, False]]
    assert found.model.start.tolist() == [0.75, 0.25]
    assert (found.model.names, found.model.actions) == (("a", "c"), ("stay", "go"))
    assert found.policy.tolist() == [1, 1, 0, 0]
    assert found.distance_bound == pytest.approx(0.1 * 0.01 / (1 - 0.9))
    assert found.value_bound == pytest.approx(found.distance_bound / 0.1)
    assert 0 <= found.policy_loss < 1e-9
    assert repr(found).startswith(
        "MDPAggregation(states 4 -> 2, distance at most 0.01, values within 0.1, policy loses"
    )


def test_a_policy_that_loses():
    """Two states of opposite tastes, as one: the policy is wrong in one of them and loses its 1 forever, γ = ½."""
    mdp = bm.MDP([np.eye(2)] * 2, [[1.0, 0.0], [0.0, 1.0]])
    found = bm.aggregate(mdp, n_states=1, discount=0.5)
    assert found.policy[0] == found.policy[1]
    assert found.policy_loss == pytest.approx(2.0)
    earned = bm.as_mdp(mdp.under(found.policy)).optimal_policy(0.5)
    assert found.policy_loss >= (mdp.optimal_policy(0.5).upper - earned.lower).max()  # the far ends of both intervals


@pytest.mark.parametrize("third", [1 / 3, 0.1, 0.7, 1e-3])
def test_rounding_of_the_cost(third):
    """Without a future the distance is the gap between two rewards, which is rounded; the bound is not below it."""
    for k in range(1, 30):
        mdp = bm.MDP([np.eye(2)], [[k * third], [k / 7]])
        found = bm.aggregate(mdp, n_states=1, discount=0.0)
        mean = Fraction(float(found.model.rewards[0, 0]))
        gap = max(abs(Fraction(float(r)) - mean) for r in mdp.rewards[:, 0])
        assert gap <= Fraction(found.distance_bound)
        assert gap <= Fraction(found.value_bound)


def test_what_rows_have_moved_is_paid_for():
    """Also where actions were filled in; those are exact."""
    mdp = bm.MDP([np.full((3, 3), 1 / 3)] * 2, np.ones((3, 2)), available=[[True, True], [True, True], [True, False]])
    whole = _with_all_actions(mdp, np.array([0, 0, 1]))
    assert mdp.row_error[:, 0].all()
    assert whole.row_error.tolist() == [[*moved, 0.0] for moved in mdp.row_error.tolist()]


def test_different_actions_are_never_merged():
    """However large epsilon is, and where nothing else tells them apart."""
    same = bm.MDP([np.eye(3)] * 2, np.zeros((3, 2)), available=[[True, True], [True, False], [True, True]])
    found = bm.aggregate(same, epsilon=1e300, discount=0.9)
    assert found.map.tolist() == [0, 1, 0]
    assert found.distance_bound == found.value_bound == found.policy_loss == 0.0


def test_process_at_epsilon_zero_is_the_quotient():
    """Copies that lump exactly are proved to be at zero; nothing is lost."""
    rooms = bm.environments.four_rooms_mdp(side=4, slip=0.25)
    twice = bm.MDP([np.kron(m.toarray(), [[1, 0], [1, 0]]) for m in rooms.transitions], np.repeat(rooms.rewards, 2, 0))
    found = bm.aggregate(twice, epsilon=0.0, discount=0.9)
    assert found.map.tolist() == bm.quotient(twice)[1].tolist() == np.repeat(np.arange(rooms.n_states), 2).tolist()
    assert found.distance_bound == 0.0
    assert found.policy_loss <= 1e-9


def metric_between_kinds(mdp, other, discount):
    """d by value iteration with linear programs, R wherever two states have different actions."""
    differ = np.array([[mine != theirs for theirs in kinds_of(other)] for mine in kinds_of(mdp)])
    spread = np.ptp(mdp.rewards[mdp.available])
    d = np.where(differ, spread, 0.0)
    for _ in range(int(np.ceil(np.log(1e-9) / np.log(discount)))):
        moved = np.zeros(d.shape)
        for a, (P, Q) in enumerate(zip(mdp.transitions, other.transitions, strict=True)):
            gap = np.abs(np.subtract.outer(mdp.rewards[:, a], other.rewards[:, a]))
            plans = reference.transports(P.toarray(), Q.toarray(), d)
            through = (1 - discount) * gap + discount * (plans * d).sum(axis=(2, 3))
            moved = np.maximum(moved, np.where(mdp.available[:, a, None], through, 0.0))
        d = np.where(differ, spread, moved)
    return d


@settings(max_examples=25)
@given(mdp=strategies.mdps(n_actions=2, partial=True), how=HOW)
def test_the_distance_with_different_actions(mdp, how):
    """It is the one that the documentation states, by a naive value iteration."""
    found = aggregated(mdp, how, 0.3)
    truth = metric_between_kinds(mdp, found.model, 0.3)[np.arange(mdp.n_states), found.map].max()
    assert found.distance_bound == pytest.approx(truth, rel=1e-7, abs=1e-8)


@given(
    mdp=strategies.mdps(n_actions=2, max_states=4, partial=True, tiny=True),
    discount=st.one_of(strategies.tame_discounts, st.just(0.0)),
    how=HOW,
)
def test_bounds_of_processes_always_hold(mdp, discount, how):
    """|V*(s) - V̂*(map s)| and what the lifted policy loses, in rational arithmetic."""
    found = aggregated(mdp, how, discount)
    kinds = kinds_of(mdp)
    assert all(kinds[s] == kinds_of(found.model)[k] for s, k in enumerate(found.map))
    assert mdp.available[np.arange(mdp.n_states), found.policy].all()
    full, small = (reference.exact_optimal_rewards(model, discount) for model in (mdp, found.model))
    followed = mdp.under(found.policy)
    earned = reference.exact_rewards(reference.marginals(followed.transitions), followed.reward, discount)
    for state, cluster in enumerate(found.map):
        apart = abs(full[state] - small[cluster])
        assert apart <= Fraction(found.value_bound)
        assert (1 - Fraction(discount)) * apart <= Fraction(found.distance_bound)
        assert full[state] - earned[state] <= Fraction(found.policy_loss)
    loss = max(best - mine for best, mine in zip(full, earned, strict=True))
    slack = 1e-9 * max(1.0, *(abs(float(v)) for v in full))  # of the certified solves
    assert found.policy_loss <= float(loss) + slack


@settings(max_examples=30)
@given(strategies.mdps(n_actions=2), st.sampled_from((0.5, 0.9)), HOW)
def test_distances_of_processes_are_bounded(mdp, discount, how):
    """The exact metric between the two models, at every state and its cluster."""
    found = aggregated(mdp, how, discount)
    truth = reference.exact_game_distances(mdp, found.model, discount)
    exact = max(truth[state][cluster] for state, cluster in enumerate(found.map))
    assert exact <= Fraction(found.distance_bound)
    assert found.distance_bound <= float(exact) + 1e-8


@pytest.mark.parametrize("n_states", [0, 1, 5, 2.0, True])
def test_as_many_states_as_kinds(n_states):
    """Fewer would merge states with different actions."""
    with pytest.raises(InvalidOption, match="from 2 to 4"):
        bm.aggregate(WALK, n_states=n_states, discount=0.9)


def test_bad_options_of_processes():
    """As for chains, and values that overflow are refused before any work."""
    with pytest.raises(InvalidOption, match="epsilon is"):
        bm.aggregate(WALK, epsilon=-0.1, discount=0.9)
    with pytest.raises(InvalidProblem, match="discount is 1"):
        bm.aggregate(WALK, epsilon=0.1, discount=1.0)
    with pytest.raises(InvalidChain, match="a MarkovChain or an MDP"):
        bm.aggregate({1, 2}, epsilon=0.1, discount=0.9)
    with pytest.raises(InvalidProblem, match="divide the rewards"):
        bm.aggregate(bm.MDP([np.eye(1)], [[1e308]]), epsilon=0.1, discount=0.99)


@pytest.mark.slow
@settings(max_examples=400)
@given(strategies.mdps(n_actions=3, max_states=4, partial=True, tiny=True), strategies.discounts, HOW)
def test_long_search_of_processes(mdp, discount, how):
    """Bounds with three actions, tiny probabilities and discounts near one."""
    test_bounds_of_processes_always_hold.hypothesis.inner_test(mdp, discount, how)

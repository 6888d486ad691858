"""Problems over a finite horizon: what they take, and what they say of what they do not take."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidProblem

COIN = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], labels=["a", "b"], names=["toss", "done"], start=0)
BENT = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], labels=["a", "b"], start=0)
STAY = np.eye(2)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"horizon": 0}, "≥ 1"),
        ({"horizon": -3}, "≥ 1"),
        ({"horizon": 2.5}, "whole number"),
        ({"horizon": True}, "whole number"),
        ({"horizon": "3"}, "whole number"),
        ({"horizon": 10**400}, "at most"),
        ({"horizon": 3, "discount": 1.5}, r"\[0, 1\]"),
        ({"horizon": 3, "discount": -0.1}, r"\[0, 1\]"),
        ({"horizon": 3, "cost": [[1.0]]}, "shape"),
        ({"horizon": 3, "cost": [np.ones((2, 2))] * 2}, "one for each step"),
        ({"horizon": 2, "cost": [np.ones((2, 2)), -np.ones((2, 2))]}, r"cost\[1\]"),
        ({"horizon": 3, "terminal": [[1.0]]}, "terminal"),
        ({"horizon": 3, "cost": np.full((2, 2), 1e308)}, "divide"),
    ],
)
def test_what_does_not_fit(options, says):
    """One line that says what was expected."""
    with pytest.raises(InvalidProblem, match=says):
        bm.HorizonProblem(COIN, BENT, **options)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ([COIN, STAY], "one chain for each step"),
        ([COIN, STAY, STAY, STAY], "one chain for each step"),
        ([], "one chain for each step"),
        ([COIN, STAY, np.eye(3)], r"source\[2\] has 3 states"),
        ([COIN, STAY, [[0.5, 0.4], [0, 1]]], r"source\[2\].*0.9"),
        ([COIN, bm.MarkovChain(STAY, names=["done", "toss"]), STAY], "other names"),
        ("four-rooms", "as_chain"),
        (np.eye(2), "as_chain"),
    ],
)
def test_lists_of_chains_that_do_not_fit(source, says):
    """Lengths, states and rows are checked, and the message says which entry is meant."""
    with pytest.raises(InvalidProblem, match=says):
        bm.HorizonProblem(source, BENT, horizon=3)


def test_a_matrix_in_a_list_has_the_states_of_the_first_chain():
    """Rewards, labels and names carry over; later chains may have rewards of their own."""
    poor = bm.MarkovChain(STAY, reward=[0, 5])
    problem = bm.HorizonProblem([COIN, STAY, poor], BENT, horizon=3)
    assert problem.source is COIN
    assert problem.sources[1].names == COIN.names
    assert np.array_equal(problem.costs[1], problem.costs[0])
    assert problem.costs[2][1, 0] == 5.0
    assert problem.target is BENT


@pytest.mark.parametrize("rows", [[[0.5, 0.5], [0.0, 1.0]], np.eye(2), list(np.eye(2)), [(1,)]])
@pytest.mark.parametrize("horizon", [1, 2, 3])
def test_one_matrix_is_no_list_of_chains(rows, horizon):
    """As for other problems: `as_chain` makes a chain of it."""
    with pytest.raises(InvalidProblem, match=r"expected a MarkovChain.*as_chain"):
        bm.HorizonProblem(rows, BENT, horizon=horizon)


def test_decision_processes_are_told_what_makes_a_chain():
    """In all problems, and in a list."""
    mdp = bm.MDP(np.array([STAY, STAY]), np.zeros((2, 2)))
    for make in (
        lambda: bm.HorizonProblem(mdp, BENT, horizon=2),
        lambda: bm.HorizonProblem([COIN, mdp], BENT, horizon=2),
        lambda: bm.Problem(BENT, mdp, discount=0.5),
        lambda: bm.AverageProblem(mdp, BENT),
    ):
        with pytest.raises(InvalidProblem, match=r"mdp\.under\(policy\)"):
            make()


def test_values_of_one_time_prove_nothing():
    """`certify` says so, and what to do instead."""
    with pytest.raises(InvalidProblem, match=r"HorizonProblem.*solve it"):
        bm.certify(bm.HorizonProblem(COIN, BENT, horizon=2), np.zeros((2, 2)))


def test_costs_for_every_step():
    """Arrays [h, n, m], lists of arrays and functions, and single ones; all are copies and read-only."""
    stack = np.arange(8.0).reshape(2, 2, 2)
    from_stack = bm.HorizonProblem(COIN, BENT, horizon=2, cost=stack)
    from_list = bm.HorizonProblem(COIN, BENT, horizon=2, cost=[stack[0], stack[1].tolist()])
    assert all(np.array_equal(a, b) for a, b in zip(from_stack.costs, from_list.costs, strict=True))
    stack[0, 0, 0] = 7.0
    assert from_stack.cost[0, 0] == 0.0
    mixed = bm.HorizonProblem(COIN, BENT, horizon=2, cost=[bm.cost.label_mismatch, None])
    assert np.array_equal(mixed.costs[0], mixed.costs[1])
    nested = bm.HorizonProblem(COIN, BENT, horizon=2, cost=[[0.0, 1.0], [2.0, 3.0]])  # one matrix, no list of two
    assert nested.costs[0] is nested.costs[1]
    with pytest.raises(ValueError, match="read-only"):
        nested.cost[0, 0] = 1.0


def test_equal_problems_are_equal():
    """By content, also where one repeats the same chain in a list."""
    one = bm.HorizonProblem(COIN, BENT, horizon=3, terminal=np.eye(2))
    assert one == bm.HorizonProblem(COIN, BENT, horizon=3, terminal=np.eye(2))
    assert hash(one) == hash(bm.HorizonProblem(COIN, BENT, horizon=3, terminal=np.eye(2)))
    assert one != bm.HorizonProblem(COIN, BENT, horizon=4, terminal=np.eye(2))
    assert one != bm.HorizonProblem(COIN, BENT, horizon=3, terminal=2 * np.eye(2))
    assert one != bm.HorizonProblem([COIN, STAY, STAY], BENT, horizon=3, terminal=np.eye(2))
    assert "horizon 3" in repr(one)
    assert "label_mismatch" in repr(bm.HorizonProblem(COIN, BENT, horizon=3, cost=bm.cost.label_mismatch))


def test_an_error_about_a_later_chain_says_when():
    """Where a cost is made of the chains of its time."""
    plain = bm.MarkovChain(COIN.transitions)
    with pytest.raises(InvalidProblem, match="at time 1: the source chain has no reward"):
        bm.HorizonProblem([COIN, plain], COIN, horizon=2)

"""Derivatives of average costs against differences."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm

STEP = 1e-6
FORK = np.array(
    [[0.2, 0.3, 0.5, 0, 0], [0.1, 0.2, 0.3, 0.2, 0.2], [0, 0, 1, 0, 0], [0, 0, 0, 0.4, 0.6], [0, 0, 0, 0.7, 0.3]]
)


def distance(P, Q, cost):
    """From the first states."""
    chains = bm.MarkovChain(P, start=0), bm.MarkovChain(Q, start=0)
    return bm.average_distance(*chains, cost=cost, tol=1e-11, throw=False)


def direction(random, matrix):
    """A change on the support that keeps the sums of rows."""
    inside = matrix > 0
    change = random.standard_normal(matrix.shape) * inside
    return change - inside * (change.sum(axis=1) / inside.sum(axis=1))[:, None]


def slopes(P, Q, cost, seed):
    """Differences along random directions, and what the gradient says."""
    random = np.random.default_rng(seed)
    gradient = distance(P, Q, cost).gradient()
    by = random.standard_normal(cost.shape), direction(random, P), direction(random, Q)
    ends = [[(P, Q, cost + h * by[0]), (P + h * by[1], Q, cost), (P, Q + h * by[2], cost)] for h in (STEP, -STEP)]
    above, below = ([distance(*point).distance for point in side] for side in ends)
    found = gradient.cost, gradient.source.toarray(), gradient.target.toarray()
    told = [float((one * other).sum()) for one, other in zip(found, by, strict=True)]
    return (np.array(above) - below) / (2 * STEP), np.array(told), gradient


@given(st.integers(0, 10**6))
def test_differences_of_dense_chains(seed):
    """At points without ties, along changes that keep the supports."""
    random = np.random.default_rng(seed)
    P, Q, cost = random.dirichlet(np.ones(4), 4), random.dirichlet(np.ones(3), 3), 1.0 + random.random((4, 3))
    if min(P.min(), Q.min()) < 1e-3:
        return
    measured, told, gradient = slopes(P, Q, cost, seed)
    if gradient.is_unique:
        assert np.abs(measured - told).max() <= 1e-5 * (1.0 + np.abs(measured).max())
    assert gradient.cost.sum() == pytest.approx(1.0)
    assert math.isnan(gradient.discount)


def test_differences_on_the_way():
    """Which class is reached depends on transient states."""
    random = np.random.default_rng(4)
    measured, told, _ = slopes(FORK, random.dirichlet(np.ones(3), 3), 1.0 + random.random((5, 3)), 5)
    assert np.abs(measured - told).max() <= 1e-6


def test_rewards_starts_and_costs_of_zero():
    """By the rewards; starts only where there are some; zero by the probabilities where nothing costs anything."""
    lazy = bm.MarkovChain([[0.9, 0.1], [0.1, 0.9]], reward=[0, 1])
    quick = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0.25, 1.5])
    gradient = bm.average_distance(lazy, quick).gradient()
    assert gradient.source_start is None
    assert gradient.source_reward.shape == (2,)
    assert (gradient.cost * bm.cost.reward_gap(lazy, quick)).sum() == pytest.approx(
        bm.average_distance(lazy, quick).distance
    )
    assert bm.average_distance(lazy, quick).gradient(start=(0, 1)).source_start.shape == (2,)
    nothing = bm.average_distance(lazy, quick, cost=np.zeros((2, 2))).gradient()
    assert nothing.cost.sum() == pytest.approx(1.0)
    assert not nothing.source.data.any()


def test_ties_between_classes():
    """Two recurrent classes, phases or nearest states that are equally good make a kink; those of one class do not."""
    apart, one = bm.MarkovChain(np.eye(2)), bm.MarkovChain([[1.0]])
    tied = bm.average_distance(apart, one, cost=[[1.0], [1.0]]).gradient()
    assert tied.starts_tie
    assert not bm.average_distance(apart, one, cost=[[1.0], [2.0]]).gradient().starts_tie
    flip = bm.MarkovChain([[0, 1], [1, 0]])
    assert bm.average_distance(flip, flip, cost=np.ones((2, 2))).gradient().starts_tie
    begun = bm.MarkovChain(np.eye(3), start=[0.2, 0.3, 0.5])
    cost = np.array([[0.4, 0.4], [0.1, 0.2], [0.7, 0.3]])
    assert bm.average_distance(begun, apart, cost=cost).gradient().starts_tie
    assert bm.average_distance(apart, begun, cost=cost.T).gradient().starts_tie
    cost[0] = [0.4, 0.5]
    assert not bm.average_distance(begun, apart, cost=cost).gradient().starts_tie
    mixing = bm.MarkovChain([[0.5, 0.5], [0.25, 0.75]])
    assert not bm.average_distance(begun, mixing, cost=cost).gradient().starts_tie


@pytest.mark.parametrize("turned", [False, True])
def test_one_start(turned):
    """The chain without a start takes the best one; the derivative by the other's is what is nearest to each state."""
    begun, one = bm.MarkovChain(np.eye(3), start=[0.25, 0.75, 0]), bm.MarkovChain([[1.0]])
    sides, cost = (begun, one), np.array([[1.0], [2.0], [5.0]])
    gradient = bm.average_distance(*sides[:: -1 if turned else 1], cost=cost.T if turned else cost).gradient()
    mine, other = gradient.source_start, gradient.target_start
    if turned:
        mine, other = other, mine
    assert mine == pytest.approx([-0.5, 0.5, 3.5])
    assert other is None

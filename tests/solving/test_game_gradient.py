"""Derivatives of the distance between decision processes, against finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import MissingStart

STEP = 2e-6
ACTIONS = ("same", "matched")


@st.composite
def points(draw):
    """Kernels, rewards, starts and a discount in general position."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    point = {
        "P": random.dirichlet(np.ones(n), (2, n)),
        "Q": random.dirichlet(np.ones(m), (2, m)),
        "r": random.normal(size=(n, 2)),
        "q": random.normal(size=(m, 2)),
        "a": random.dirichlet(np.ones(n)),
        "b": random.dirichlet(np.ones(m)),
        "discount": draw(st.sampled_from((0.3, 0.9))),
    }
    return point, random


def solved(point, actions, available=None):
    """The metric at a point, as accurate as numbers allow."""
    source = bm.MDP(point["P"], point["r"], start=point["a"], available=available)
    target = bm.MDP(point["Q"], point["q"], start=point["b"])
    return bm.bisimulation_metric(source, target, discount=point["discount"], actions=actions, tol=1e-13, throw=False)


def derivatives(gradient):
    """By the names of a point."""
    return {
        "P": np.array([part.toarray() for part in gradient.source]),
        "Q": np.array([part.toarray() for part in gradient.target]),
        "r": gradient.source_reward,
        "q": gradient.target_reward,
        "a": gradient.source_start,
        "b": gradient.target_start,
        "discount": gradient.discount,
    }


def assert_derivatives(point, random, actions, available=None):
    """Along random directions that keep laws what they are."""
    gradient = solved(point, actions, available).gradient()
    assume(gradient.is_unique)
    for name, derivative in derivatives(gradient).items():
        here = np.asarray(point[name])
        change = random.normal(size=here.shape) * (0.01 if name == "discount" else 1.0)
        if name in "PQab":
            change = change * here
            change -= here * change.sum(axis=-1, keepdims=True)
        ahead, behind = (
            solved(point | {name: here + sign * STEP * change}, actions, available).distance for sign in (1, -1)
        )
        terms = derivative * change
        close = 1e-6 * np.abs(terms).sum() + 1e-13 * (1 + ahead) / STEP
        assert (ahead - behind) / (2 * STEP) == pytest.approx(terms.sum(), abs=close)


@given(points(), st.sampled_from(ACTIONS))
def test_finite_differences(point, actions):
    """By everything, through the decisive actions."""
    assert_derivatives(*point, actions)


def test_missing_actions():
    """Rows of actions that are not available have no entries, and their rewards no derivative."""
    random = np.random.default_rng(7)
    point = {
        "P": random.dirichlet(np.ones(3), (2, 3)),
        "Q": random.dirichlet(np.ones(2), (2, 2)),
        "r": random.normal(size=(3, 2)),
        "q": random.normal(size=(2, 2)),
        "a": np.eye(3)[0],
        "b": np.eye(2)[1],
        "discount": 0.9,
    }
    available = np.array([[True, True], [False, True], [True, False]])
    gradient = solved(point, "matched", available).gradient()
    assert np.diff(gradient.source[0].indptr).tolist() == [3, 0, 3]
    assert np.diff(gradient.source[1].indptr).tolist() == [3, 3, 0]
    assert gradient.source_reward[1, 0] == 0.0
    for name in ("r", "q"):
        change = random.normal(size=point[name].shape)
        ahead, behind = (
            solved(point | {name: point[name] + sign * STEP * change}, "matched", available).distance
            for sign in (1, -1)
        )
        slope = (derivatives(gradient)[name] * change).sum()
        assert (ahead - behind) / (2 * STEP) == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("actions", ACTIONS)
def test_no_discount(actions):
    """At discount 0 the derivative by the discount is the next step's distance less this one's."""
    random = np.random.default_rng(1)
    point = {
        "P": random.dirichlet(np.ones(3), (2, 3)),
        "Q": random.dirichlet(np.ones(3), (2, 3)),
        "r": random.normal(size=(3, 2)),
        "q": random.normal(size=(3, 2)),
        "a": np.eye(3)[0],
        "b": np.eye(3)[1],
        "discount": 0.0,
    }
    gradient = solved(point, actions).gradient()
    ahead = solved(point | {"discount": 1e-7}, actions).distance
    assert (ahead - solved(point, actions).distance) / 1e-7 == pytest.approx(gradient.discount, rel=1e-4)
    assert not any(part.data.any() for part in gradient.source)


def test_ties_and_starts():
    """Actions that tie are seen; without starts there is an error with the remedy."""
    row = [[0.5, 0.5], [0.25, 0.75]]
    mdp = bm.MDP([row, row], [[0, 0], [1, 1]], start=0)
    other = bm.MDP([[[0.3, 0.7], [0.2, 0.8]]] * 2, [[3, 3], [5, 5]])
    solution = bm.bisimulation_metric(mdp, other.with_start(1), discount=0.5)
    assert solution.gradient().tied[0, 1]
    assert not solution.gradient().is_unique
    without = bm.bisimulation_metric(mdp, other, discount=0.5)
    with pytest.raises(MissingStart, match="with_start"):
        without.gradient()
    assert without.gradient(start=(0, 1)).cost.sum() == pytest.approx(1.0)
    assert without.gradient(start=np.full((2, 2), 0.25)).source_start is None

"""The distance of a small chain, and its derivatives."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import bisimetric as bm
from bisimetric.learning.small import Objective, SmallChain
from tests import strategies


def answer(chain, small):
    """The certified solution."""
    return bm.distance(chain, small.chain(), discount=0.8, normalised=True)


@settings(max_examples=15)
@given(
    strategies.chains(max_states=4, min_states=2, reward=True, start=True, tiny=False),
    strategies.chains(max_states=3, min_states=1, reward=True, start=True, tiny=False),
)
def test_as_the_solution_says(chain, other):
    """Distance and derivatives agree with those of a certified solve, also from the trees of another chain."""
    objective, small = Objective(chain, 0.8), SmallChain.of(other)
    for one in (small, small.spread(0.3), small):
        certified = answer(chain, one)
        slack = 1e-6 * float(certified.upper.max())
        found = objective.slopes(one)
        assert found.distance == pytest.approx(certified.distance, abs=slack)
        assert objective.distance(one) == pytest.approx(certified.distance, abs=slack)
        assert found.visits.sum() == pytest.approx(1.0)
        gap = np.abs(chain.reward[:, None] - one.reward)
        assert (found.visits * gap).sum() == pytest.approx(certified.distance, abs=slack)
    assert objective.best <= objective.distance(small)


def test_derivatives():
    """Along a change of laws and rewards the distance changes as they say."""
    random = np.random.default_rng(3)
    chain = bm.environments.random_sparse_chain(9, 3, seed=1).with_start(0)
    objective = Objective(chain, 0.8)
    small = SmallChain(random.dirichlet(np.ones(3), 4), np.array([0.21, 0.52, 0.83]))
    change = random.normal(size=(4, 3))
    change -= change.mean(axis=1, keepdims=True)
    slopes, tiny = objective.slopes(small), 1e-5
    ahead, behind = (
        answer(chain, SmallChain(small.laws + side * change, small.reward + side)).distance for side in (tiny, -tiny)
    )
    predicted = (slopes.laws * change).sum() + slopes.reward.sum()
    assert (ahead - behind) / (2 * tiny) == pytest.approx(predicted, rel=1e-4)


def test_laws_without_specks():
    """What is left keeps its proportions."""
    small = SmallChain(np.array([[0.5, 0.25, 0.25], [1, 0, 0], [0, 1, 0], [0, 0, 1]]), np.zeros(3))
    laws = small.without(np.array([[False, False, True]] + [[False] * 3] * 3)).laws
    assert laws[0] == pytest.approx([2 / 3, 1 / 3, 0])
    assert small.spread(0.3).laws[1] == pytest.approx([0.8, 0.1, 0.1])

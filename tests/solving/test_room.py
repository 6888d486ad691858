"""Too little memory is told from the chains alone, before costs are made."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support import memory
from bisimetric.errors import NotEnoughMemory
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import bytes_between, tree_bytes
from bisimetric.problems import discounted
from bisimetric.solving.room import require_room

MANY, OTHER = (bm.environments.random_sparse_chain(1000, 4, seed=seed).with_start(0) for seed in (1, 2))
RING = np.roll(np.eye(600), 1, axis=1)


@pytest.fixture
def little(monkeypatch):
    """A machine with 17 MB, on which no cost is made."""
    monkeypatch.setattr(memory, "available_bytes", lambda: 17 * 10**6)

    def made(*_):
        raise AssertionError("the cost was made")

    monkeypatch.setattr(discounted, "ground_cost", made)


@pytest.mark.parametrize("pairs", ["all", "reachable"])
def test_refused_before_costs_are_made(little, pairs):
    """With the bytes that it takes, and what to do."""
    with pytest.raises(NotEnoughMemory, match="1000 x 1000"):
        bm.distance(MANY, OTHER, discount=0.9, pairs=pairs)


@pytest.mark.parametrize("other", [None, OTHER])
def test_a_metric_is_refused_too(little, other):
    """Of one chain, where half of the pairs are solved, and of two."""
    with pytest.raises(NotEnoughMemory, match="1000 x 1000"):
        bm.bisimulation_metric(MANY, other, discount=0.9)


@pytest.mark.parametrize("cost", [None, bm.cost.reward_gap, bm.cost.label_mismatch])
def test_bisimilar_states_may_be_merged(little, cost):
    """So a problem with few classes is not refused by the number of its states."""
    ring = bm.MarkovChain(RING, reward=np.zeros(600), labels=["a"] * 600)
    require_room(ring, ring, cost, None)
    striped = bm.MarkovChain(RING, reward=np.arange(600) % 3, labels=[str(k % 3) for k in range(600)])
    require_room(striped, ring, cost, None)
    apart = bm.MarkovChain(RING, reward=np.arange(600), labels=[str(k) for k in range(600)])
    with pytest.raises(NotEnoughMemory):
        require_room(apart, apart.with_start(0), cost, None)


def test_what_only_the_costs_say(little):
    """Costs of the user, and solvers without trees, are left to the solve."""
    require_room(MANY, OTHER, np.zeros((1000, 1000)), None)
    require_room(MANY, OTHER, None, "sinkhorn-bellman")


@pytest.mark.parametrize("n", [5, 60, 400])
def test_no_more_than_the_solve_says(n):
    """The estimate from the chains is at most that of the operator, and near it where chains differ."""
    chains = [bm.environments.random_sparse_chain(n, 4, seed=seed) for seed in (1, 2)]
    bellman = Bellman.of(bm.Problem(*chains, discount=0.9))
    told, needed = bytes_between(*(chain.transitions for chain in chains)), tree_bytes(bellman, may_round=True)
    assert 0.4 * needed <= told <= needed
    longer = bm.environments.random_sparse_chain(n + 1, 4, seed=3)
    bellman = Bellman.of(bm.Problem(chains[0], longer, discount=0.9))
    needed = tree_bytes(bellman, may_round=True)
    assert 0.95 * needed <= bytes_between(chains[0].transitions, longer.transitions) <= needed

"""How rows are shared out, and what is fetched."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support import memory
from bisimetric.errors import NotEnoughMemory
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import new_trees, outline_of_trees, tree_bytes
from bisimetric.sharding.shard import Shard
from bisimetric.sharding.shards import Room, split_rows
from tests.sharding.here import PROBLEMS, ShardsHere


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("count", [1, 2, 3, 1000])
def test_rows_are_shared_out_evenly(name, count):
    """Every row once, no empty share, and no share larger than its part by more than a row."""
    bellman = Bellman.on_open_pairs(PROBLEMS[name])
    shares = split_rows(bellman, count)
    assert shares[0][0] == 0
    assert shares[-1][1] == bellman.shape[0]
    assert [end for _, end in shares[:-1]] == [begin for begin, _ in shares[1:]]
    assert all(begin < end for begin, end in shares)
    assert len(shares) <= count
    outline = outline_of_trees(bellman)
    ends = np.append(outline.offset, outline.code.size)
    sizes = [ends[end] - ends[begin] for begin, end in shares]
    assert max(sizes) <= outline.code.size / count + np.diff(ends).max()


@pytest.mark.parametrize("name", ["rooms", "many stops", "dense"])
def test_trees_are_fetched_in_order(name):
    """As they are without shards; again only after a sweep."""
    bellman = Bellman.on_open_pairs(PROBLEMS[name])
    shards, value, trees = ShardsHere(bellman, 3), bellman.scaled_cost(), new_trees(bellman)
    bellman.improve(value, trees, cold=True)
    shards.sweep(value, True, 0.0)
    fetched = shards.fetch_trees()
    assert shards.fetch_trees() is fetched
    for name in ("offset", "code", "shift", "used"):
        assert np.array_equal(getattr(fetched, name), getattr(trees, name))
    shards.sweep(value, False, 0.0)
    assert shards.fetch_trees() is not fetched
    flows = shards.fetch_trees(with_flows=True)
    assert flows.weight.shape == flows.target.shape == trees.weight.shape


def test_a_value_travels_once():
    """Several questions about the same one share it."""
    shards = ShardsHere(Bellman.of(PROBLEMS["rooms"]), 2)
    value = np.ones((2, 2))
    assert shards.share(value) is shards.share(value)
    assert shards.share(value.copy()) is not shards.share(value)


def test_workers_of_one_machine_share_its_memory():
    """Their needs are added up, machine by machine."""
    bellman = Bellman.of(PROBLEMS["rooms"])
    shards, needed = ShardsHere(bellman, 4), tree_bytes(bellman, may_round=True)
    shards.require_room(bellman, [Room("here", needed)] * 4)
    shards.require_room(bellman, [Room("here", None)] * 4)
    half = needed // 2 + needed // 8
    shards.require_room(bellman, [Room("here", half), Room("there", half)] * 2)
    with pytest.raises(NotEnoughMemory, match="4 workers are on here"):
        shards.require_room(bellman, [Room("here", half)] * 4)


def test_a_share_of_a_large_dense_problem_is_estimated(monkeypatch):
    """Its bytes times its cells have more than 63 bits."""
    chain = bm.MarkovChain(np.full((1500, 1500), 1 / 1500), reward=np.arange(1500.0))
    bellman = Bellman.of(bm.Problem(chain, chain, discount=0.9))
    whole = tree_bytes(bellman, may_round=True)
    assert 0.49 * whole < tree_bytes(bellman, may_round=True, rows=(0, 750)) < 0.51 * whole
    monkeypatch.setattr(memory, "available_bytes", lambda: whole // 3)
    with pytest.raises(NotEnoughMemory, match="1500 x 1500"):
        Shard(bellman, (0, 750))

"""How rows are shared out, and what is fetched."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import new_trees, outline_of_trees
from bisimetric.sharding.shards import split_rows
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

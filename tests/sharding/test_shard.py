"""What one worker does, against the whole."""

from __future__ import annotations

import numpy as np
import pytest

from bisimetric.kernels.layout import HINT_RUN
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.modes import Preconditioner
from bisimetric.operators.trees import new_trees
from bisimetric.sharding.shard import Shard
from tests.sharding.here import PROBLEMS


def both(name, rows):
    """The whole and a shard of it, after a cold and a warm sweep; with the value and the last two sweeps."""
    bellman = Bellman.on_open_pairs(PROBLEMS[name])
    value = bellman.scaled_cost()
    trees, shard = new_trees(bellman), Shard(bellman, rows)
    bellman.improve(value, trees, cold=True)
    shard.sweep(value, True, 0.0)
    value = np.sqrt(value)
    return bellman, trees, shard, value, bellman.improve(value, trees, cold=False), shard.sweep(value, False, 0.0)


@pytest.mark.parametrize("rows", [(0, 3), (3, 11), (11, 12)])
@pytest.mark.parametrize("name", ["rooms", "many stops", "dense", "wide", "self"])
def test_its_rows_are_those_of_the_whole(name, rows):
    """Residuals, products and trees, to the last bit."""
    bellman, trees, shard, _, whole, swept = both(name, rows)
    own = slice(*(bellman.pairs.listed.row[list(rows)]))
    assert np.array_equal(swept.residual, whole.residual[own])
    assert whole.lowest <= swept.lowest
    assert swept.highest <= whole.highest
    assert swept.largest == whole.largest
    vector = np.random.default_rng(0).random(bellman.pairs.size)
    out = np.empty(vector.size)
    Evaluation(bellman)._product(trees)(vector, out, vector)
    assert np.array_equal(shard.product(vector), out[own])
    part = shard.trees(False)
    assert np.array_equal(part.used, trees.used[own])
    cells = slice(trees.offset[rows[0]], np.append(trees.offset, trees.code.size)[rows[1]])
    assert np.array_equal(part.code, trees.code[cells])
    assert part.target.size == part.weight.size == 0
    assert shard.trees(True).weight.size == part.code.size


def test_flows_of_shards_add_up():
    """Exactly, however the rows are split, also within clusters."""
    bellman, trees, _, value, _, _ = both("sluggish", (0, 1))
    modes = Preconditioner(bellman, trees, dense=False)
    whole = modes._flows(trees)
    assert modes.quickness.size
    for cut in (1, 4, 14):
        parts = []
        for rows in ((0, cut), (cut, bellman.shape[0])):
            shard = Shard(bellman, rows)
            shard.sweep(bellman.scaled_cost(), True, 0.0)
            shard.sweep(value, False, 0.0)
            parts.append(shard.flows(modes.modes, True))
        assert np.array_equal(parts[0][0] + parts[1][0], whole)
        assert np.array_equal(np.concatenate([quickness for _, quickness in parts]), modes.quickness)


@pytest.mark.parametrize("name", ["rooms", "wide", "self"])
def test_only_own_rows_are_written(name):
    """So the rest takes no memory; a few pairs before may be, from which new trees start."""
    bellman, _, shard, _, _, _ = both(name, (9, 15))
    weight, own = shard._trees.weight.copy(), shard._cells
    assert weight[own].any()
    weight[own] = 0.0
    assert np.count_nonzero(weight) <= HINT_RUN * sum(bellman.longest)
    shard.product(np.ones(bellman.pairs.size))
    out = shard._out.copy()
    out[shard._own] = 0.0
    assert not out.any()

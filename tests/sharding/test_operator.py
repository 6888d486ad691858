"""The operator, evaluation and witness over shards, against those of one process."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.certificates.check import check
from bisimetric.operators import trees as operator_trees
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.trees import TreeWitness, new_trees, outline_of_trees
from bisimetric.sharding import operator
from bisimetric.sharding.operator import ShardedBellman, ShardedEvaluation, ShardedWitness
from tests.sharding.here import PROBLEMS, ShardsHere


def both(name, count=3):
    """The operator alone and over shards, with trees of the same sweep."""
    alone = Bellman.on_open_pairs(PROBLEMS[name])
    sharded = ShardedBellman.over(ShardsHere(alone, count), alone)
    value, trees = alone.scaled_cost(), new_trees(alone)
    outline = outline_of_trees(alone)
    sweeps = alone.improve(value, trees, cold=True), sharded.improve(value, outline, cold=True)
    return alone, sharded, value, trees, outline, sweeps


@pytest.mark.parametrize("name", PROBLEMS)
def test_sweeps(name):
    """The same residual and the same bounds."""
    *_, (one, other) = both(name)
    assert np.array_equal(one.residual, other.residual)
    assert (one.lowest, one.highest, one.largest) == (other.lowest, other.highest, other.largest)
    assert (one.pivots == 0) == (other.pivots == 0)


@pytest.mark.parametrize("name", ["rooms", "many stops", "self"])
def test_products_and_matrices(name, monkeypatch):
    """The same vector, the same inner products, and Π itself where that fits."""
    alone, sharded, _, trees, outline, _ = both(name)
    random = np.random.default_rng(0)
    vector, other = random.random((2, alone.pairs.size))
    found = []
    for evaluation, of in ((Evaluation(alone), trees), (ShardedEvaluation(sharded), outline)):
        out = np.empty(vector.size)
        found.append((evaluation._product(of)(vector, out, other), out, evaluation._matrix(of)))
    assert found[0][0] == found[1][0]
    assert np.array_equal(found[0][1], found[1][1])
    assert (found[0][2] != found[1][2]).nnz == 0
    monkeypatch.setattr(operator, "storable", lambda entries, size: False)
    assert ShardedEvaluation(sharded)._matrix(outline) is None


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_checker_says_the_same(name):
    """Of couplings at the shards and of the same couplings here, before and at rest."""
    problem = PROBLEMS[name]
    alone, sharded, value, trees, outline, _ = both(name)
    witness = ShardedWitness(sharded, value, outline)
    here, there = (check(problem, alone, value, one) for one in (TreeWitness(alone, value, trees), witness))
    assert np.array_equal(here.lower, there.lower)
    assert np.array_equal(here.upper, there.upper)
    size = alone.pairs.size
    expected = TreeWitness(alone, value, trees)
    for one, other in zip(expected.cells(0, size), witness.cells(0, size), strict=True):
        assert np.array_equal(one, other)
    rest = witness.at_rest()
    assert type(rest.bellman) is Bellman
    for one, other in zip(
        expected.at_rest().cells(0, problem.cost.size), rest.cells(0, problem.cost.size), strict=True
    ):
        assert np.array_equal(one, other)


def test_a_wrong_coupling_at_a_shard_is_refused(monkeypatch):
    """One bad report of any shard is enough."""
    alone, sharded, value, _, outline, _ = both("rooms")
    shard = sharded.shards._shards[1]
    found = shard.check(value)
    found.reports[-1] = found.reports[-1]._replace(marginal_error=0.1)
    monkeypatch.setattr(shard, "check", lambda value: found)
    with pytest.raises(bm.errors.InvalidWitness, match=r"off by 0\.1"):
        check(PROBLEMS["rooms"], alone, value, ShardedWitness(sharded, value, outline))


def test_an_outline_takes_no_memory():
    """It has the size of the trees, and holds nothing."""
    alone = Bellman.of(PROBLEMS["rooms"])
    outline = outline_of_trees(alone)
    assert outline.code.size == operator_trees.tree_cells(alone)
    assert outline.code.strides == (0,)
    assert outline.used.size == outline.target.size == outline.weight.size == 0

"""The solver over shards in this process: the same bits as on one machine, whatever the number of workers."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric._support import memory
from bisimetric.errors import InvalidOption, MissingExtra, NotEnoughMemory
from bisimetric.operators import evaluation, trees
from bisimetric.problems.bisimilarity import BisimilarityProblem
from bisimetric.sharding import operator
from tests.sharding.here import PROBLEMS, ShardedHere, rooms, same_bits
from tests.strategies import problems


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_same_bits_as_without_shards(name):
    """Sweeps, evaluations, the checker's word and the estimate."""
    problem = PROBLEMS[name]
    alone = bm.solve(problem)
    for workers in (1, 2, 5):
        assert same_bits(bm.solve(problem, ShardedHere(workers=workers)), alone)


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("name", ["rooms", "many stops", "sluggish", "self"])
def test_the_same_bits_where_vectors_travel(name, compact, monkeypatch):
    """As for large problems: products, and the preconditioner, by the shards; trees in the compact layout too."""
    monkeypatch.setattr(trees, "COMPACT_FROM", 0 if compact else 2**60)
    for module in (evaluation, operator):
        monkeypatch.setattr(module, "ONE_CALL", 0)
    monkeypatch.setattr(evaluation, "SLOW_MODES_FROM", 1)
    monkeypatch.setattr(evaluation, "WORTH_MODES", 1)
    problem = PROBLEMS[name]
    alone = bm.solve(problem)
    for workers in (1, 3):
        assert same_bits(bm.solve(problem, ShardedHere(workers=workers)), alone)


@pytest.mark.slow
def test_systems_that_are_factorised(monkeypatch):
    """Where BiCGSTAB fails the coupling is fetched; two long cycles need that."""
    for module in (evaluation, operator):
        monkeypatch.setattr(module, "ONE_CALL", 0)
    cycles = []
    for n in (31, 37):
        rows = 0.001 * np.eye(n) + 0.999 * np.roll(np.eye(n), 1, axis=1)
        cycles.append(bm.MarkovChain.normalised(rows, reward=np.arange(n) == 0))
    problem = bm.Problem(*cycles, discount=0.9999)
    fetched = []
    matrix = operator.ShardedEvaluation._matrix
    monkeypatch.setattr(operator.ShardedEvaluation, "_matrix", lambda self, of: fetched.append(1) or matrix(self, of))
    assert same_bits(bm.solve(problem, ShardedHere(workers=3)), bm.solve(problem))
    assert fetched


@given(problems(), st.integers(1, 4))
def test_any_problem(problem, workers):
    """Ties, deterministic and duplicate rows, stops, costs from 1e-300 to 1e300."""
    assert same_bits(bm.solve(problem, ShardedHere(workers=workers)), bm.solve(problem))


def test_answers_are_whole():
    """Couplings, explanations and files need no workers."""
    problem = rooms(5)
    found, alone = bm.solve(problem, ShardedHere()), bm.solve(problem)
    pair = problem.source.n_states - 1, 0
    assert str(found.coupling[pair]) == str(alone.coupling[pair])
    assert found.solver == "sharded-policy-iteration"


def test_a_guess_and_a_time_limit():
    """As in every solver."""
    problem = rooms(7)
    alone = bm.solve(problem)
    again = bm.solve(problem, ShardedHere(), initial=alone)
    assert same_bits(again, bm.solve(problem, initial=alone))
    short = bm.solve(problem, ShardedHere(), time_limit=1e-9, throw=False)
    assert short.status is bm.Status.TIME_LIMIT
    assert (short.lower <= alone.upper).all()
    assert (alone.lower <= short.upper).all()


@pytest.mark.parametrize(
    "options", [{"workers": 0}, {"workers": 1.5}, {"threads": 0}, {"address": 6379}, {"accuracy": 2}]
)
def test_bad_options(options):
    """Named in the error."""
    with pytest.raises(InvalidOption, match=next(iter(options))):
        bm.ShardedPolicyIteration(**options)


def test_without_ray(monkeypatch):
    """The extra is named."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtra, match=r"bisimetric\[ray\]"):
        bm.solve(rooms(4), "sharded-policy-iteration")


def test_without_a_discount():
    """Distances without a discount have no shards."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], labels=["a", "b"])
    with pytest.raises(InvalidOption, match="needs a discount"):
        bm.solve(BisimilarityProblem(chain, chain), ShardedHere())


def test_too_little_memory(free_memory):
    """An estimate before anything is allocated or started."""
    problem = rooms(7)
    free_memory(10_000)
    with pytest.raises(NotEnoughMemory, match="values at"):
        bm.solve(problem, bm.ShardedPolicyIteration(), quotient=False)
    assert memory.available_bytes() == 10_000

"""Chunks of pairs: what is solved together, and how a chunk travels."""

from __future__ import annotations

import math
import pickle
import time

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.threads import deadline
from bisimetric.many.chunks import CHUNK_STATES, SHARES, Chunk, answer_task, chunks, in_own_order, solve_chunk, task_of
from bisimetric.many.question import Pair, PairQuestion
from tests.many.pair_samples import random_chains

USUAL = PairQuestion(0.9, None, False, bm.PolicyIteration(), None)


def pairs_of(made):
    """All pairs of a list."""
    return [Pair(i, j, made[i], made[j]) for i in range(len(made)) for j in range(i + 1, len(made))]


def sizes(pairs, works=None, **options):
    """How many pairs every chunk has."""
    return [len(chunk.pairs) for chunk in chunks(pairs, works or [1] * len(pairs), **options)]


def test_small_pairs_are_together_whatever_the_workers():
    """Up to a number of states; without batches they are shared out."""
    pairs = pairs_of([bm.MarkovChain([[1.0]], reward=[k], start=0) for k in range(95)])
    for workers in (1, 2, 5):
        assert sizes(pairs, batched=True, workers=workers) == [CHUNK_STATES, len(pairs) - CHUNK_STATES]
    assert max(sizes(pairs, batched=False, workers=2)) == 32  # by work
    assert set(sizes(pairs, batched=False, workers=1)) == {1}


def test_runs_shuffle_chunks_of_similar_work():
    """The heaviest come first all the same; a seed decides the order, and no chunk changes."""
    works = [100, 60, *range(31, 15, -1), 3]
    one_each = [Chunk((k,), ()) for k in range(len(works))]
    first, again, second = ([*in_own_order(one_each, works, seed)] for seed in (1, 1, 2))
    assert first == again != second
    for found in (first, second):
        assert sorted(found) == one_each
        assert found[:2] == one_each[:2]
        assert found[-1] == one_each[-1]


def test_every_worker_gets_several_chunks():
    """Few pairs are not put together, nor are heavy ones."""
    pairs = pairs_of(random_chains(sizes=(9, 10, 11, 12)))
    assert sizes(pairs, batched=True, workers=2) == [1] * 6
    many = pairs * 100
    assert max(sizes(many, batched=True, workers=2)) <= len(many) // (2 * SHARES)
    assert sizes(many, [10**9] * len(many), batched=True, workers=2) == [1] * len(many)


def test_all_pairs_are_there_once():
    """In order."""
    pairs = pairs_of(random_chains(sizes=(3, 9, 4, 12, 5)))
    found = chunks(pairs, [1] * 10, batched=True, workers=2)
    assert [number for chunk in found for number in chunk.numbers] == list(range(10))
    assert [pair for chunk in found for pair in chunk.pairs] == pairs


def test_one_failing_pair_of_a_chunk_costs_nothing_else():
    """It has its error, the others their numbers."""
    made = random_chains()
    bare = Pair(2, 3, made[2], bm.MarkovChain([[1.0]], start=0))
    chunk = Chunk((4, 5, 6), (*pairs_of(made)[:2], bare))
    good, also, bad = solve_chunk(USUAL, chunk)
    assert [good.number, also.number, bad.number] == [4, 5, 6]
    assert good.error is None
    assert also.numbers.value == pytest.approx(bm.distance(made[0], made[2], discount=0.9).distance, rel=1e-8)
    assert bad.numbers is None
    assert bad.error.pair == (2, 3)


def test_a_task_stops_at_its_deadline():
    """What has not been begun has no outcome."""
    made = random_chains(sizes=(9, 10, 11))
    chunk = Chunk((0, 1, 2), tuple(pairs_of(made)))
    with deadline(1000.0):
        task, failed = task_of(USUAL, chunk)
    assert failed == []
    assert 900 < task.until - time.time() < 1100
    assert len(pickle.loads(answer_task(pickle.dumps(USUAL), task))) == 3
    late = task._replace(until=time.time() - 1.0)
    assert pickle.loads(answer_task(pickle.dumps(USUAL), late)) == []
    assert task_of(USUAL, chunk)[0].until == math.inf


def test_costs_of_functions_travel_as_arrays():
    """Pairs for which the function fails do not."""
    made = random_chains()

    def cost(source, target):
        if target is made[3]:
            raise ZeroDivisionError("three")
        return np.ones((source.n_states, target.n_states))

    question = PairQuestion(0.9, cost, False, bm.PolicyIteration(), None)
    task, failed = task_of(question, Chunk(tuple(range(6)), tuple(pairs_of(made))))
    assert [outcome.error.pair for outcome in failed] == [(0, 3), (1, 3), (2, 3)]
    assert [place[1:] for place in task.places] == [(0, 1), (0, 2), (1, 2)]
    assert all((pair.problem.cost == 1).all() for pair in pickle.loads(task.chunk).pairs)

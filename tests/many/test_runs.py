"""Who solves the pairs: this process or several, with the same bits, and what is said when one of them cannot go on."""

from __future__ import annotations

import math
import os
import pickle
import sys
import threading
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, PairFailed, PairwiseInterrupted, ToleranceNotReached
from bisimetric.many.chunks import Chunk, SentChunk, answer_task
from bisimetric.many.question import Pair, PairQuestion
from tests.many.pair_samples import LARGER, SIZES, Hasty, random_chains, solver_for_workers, squared_gap, tables


def test_a_function_is_called_once_for_every_entry(tmp_path):
    """With a store, too."""
    calls = []

    def cost(source, target):
        calls.append((source.n_states, target.n_states))
        return squared_gap(source, target)

    bm.pairwise(random_chains(), discount=0.9, cost=cost, store=tmp_path)
    assert sorted(calls) == sorted((n, m) for n in SIZES for m in SIZES)


# ------------------------------------------------------------------ workers


class Locked:
    """A cost that no other process can have."""

    def __init__(self):
        self.lock = threading.Lock()
        self.calls = 0

    def __call__(self, source, target):
        self.calls += 1
        return squared_gap(source, target)


def test_workers_give_the_same_bits(monkeypatch):
    """Heaviest pairs first, with progress; solvers that cannot be imported may print, and have one thread."""

    def begin():
        print("between the answers", flush=True)
        assert os.environ["BISIMETRIC_THREADS"] == "1"

    monkeypatch.setenv("BISIMETRIC_THREADS", "2")
    made = random_chains(sizes=(10, 9, 14, 11, 12))
    alone, together = [], []
    first = bm.pairwise(made, discount=0.9, on_pair=alone.append)
    solver = solver_for_workers(begin)
    second = bm.pairwise(made, discount=0.9, n_jobs=2, on_pair=together.append, solver=solver)
    np.testing.assert_array_equal(tables(first), tables(second))
    np.testing.assert_array_equal(first.status, second.status)
    assert [pair.done for pair in alone] == [pair.done for pair in together] == list(range(1, 11))
    assert {pair.total for pair in together} == {10}
    assert {(pair.i, pair.j) for pair in together} == {(pair.i, pair.j) for pair in alone}
    weights = [made[pair.i].n_states * made[pair.j].n_states for pair in alone]
    assert weights == sorted(weights, reverse=True)
    assert os.environ["BISIMETRIC_THREADS"] == "2"


def test_a_run_that_fails_breaks_no_other(tmp_path):
    """It misses a tolerance while another waits for its workers; the cost of that one need not be picklable."""
    made, seen, cost = random_chains(sizes=LARGER), [], Locked()

    def fail(pair):
        seen.append(pair)
        if len(seen) == 1:
            with pytest.raises(ToleranceNotReached, match=r"^pair \(\d, \d\): .* 1e-30") as caught:
                bm.pairwise(made, discount=0.9, tol=1e-30, n_jobs=2, store=tmp_path)
            assert str(caught.value).startswith(f"pair {caught.value.pair}:")
            assert (caught.value.distances.upper > 0).sum() == 12
            solution = caught.value.solution
            assert set(solution.value.shape) == {made[k].n_states for k in caught.value.pair}
            assert 0.0 < solution.relative_gap < 1e-9

    found = bm.pairwise(made, discount=0.9, cost=cost, n_jobs=2, on_pair=fail)
    assert len(seen) == 6
    assert cost.calls == 16
    np.testing.assert_array_equal(tables(found), tables(bm.pairwise(made, discount=0.9, cost=squared_gap)))


@pytest.mark.slow
def test_a_lost_worker_is_said():
    """A process that ends without a word, as when memory runs out."""
    with pytest.raises(PairFailed, match="use fewer n_jobs") as caught:
        bm.pairwise(random_chains(), discount=0.9, solver=solver_for_workers(partial(os._exit, 3)), n_jobs=2)
    i, j = caught.value.pair
    assert str(caught.value).startswith(f"pair ({i}, {j}), chain {i + 1} and chain {j + 1}: ")


def test_a_function_that_fails_the_second_time(monkeypatch):
    """Without room for its costs it is called again by this process, when a worker needs them."""
    monkeypatch.setattr("bisimetric.many.plan.KEPT_BYTES", 0)
    calls = []

    def cost(source, target):
        calls.append(os.getpid())
        if len(calls) > 16:
            raise ZeroDivisionError("again")
        return squared_gap(source, target)

    with pytest.raises(PairFailed, match=r"\(1, 3\).*: ZeroDivisionError") as caught:
        bm.pairwise(random_chains(sizes=LARGER), discount=0.9, cost=cost, n_jobs=2)
    assert set(calls) == {os.getpid()}
    assert (caught.value.distances.status == bm.Status.FAILED).sum() == 12


def test_no_process_can_be_started(monkeypatch):
    """As where the number of processes is limited."""
    monkeypatch.setattr("multiprocessing.spawn.get_executable", lambda: "/nowhere/python")
    with pytest.raises(PairFailed, match="use fewer n_jobs") as caught:
        bm.pairwise(random_chains(sizes=LARGER), discount=0.9, n_jobs=2)
    assert caught.value.pair is None


def test_no_thread_can_be_started(monkeypatch):
    """Then the process that was started is ended."""

    def refuse(*arguments):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("bisimetric.many.worker.start_new_thread", refuse)
    with pytest.raises(PairFailed, match="can't start new thread"):
        bm.pairwise(random_chains(sizes=LARGER), discount=0.9, n_jobs=2)


def test_what_cannot_be_pickled_is_refused_first(tmp_path):
    """By name and with a remedy, before a cost is computed or a store made; one process needs no pickle."""

    @dataclass(frozen=True, slots=True)
    class Guarded(bm.PolicyIteration):
        lock: object = field(default_factory=threading.Lock)

    class Held(bm.MarkovChain):
        pass

    made = random_chains()
    held = Held(made[1].transitions, reward=made[1].reward, start=0)
    object.__setattr__(held, "file", sys.stdout)

    def refused(match, *lists, **options):
        with pytest.raises(InvalidOption, match=match + r".*; use n_jobs=1"):
            bm.pairwise(*lists, discount=0.9, n_jobs=2, store=tmp_path / "new", cost=_unwanted, **options)
        assert not (tmp_path / "new").exists()

    refused(r"solver is a Guarded that cannot be sent to another process \(TypeError: .*lock", made, solver=Guarded())
    refused(r"chains\[1\] is a Held", [made[0], held])
    refused(r"others\[0\] is a Held", made, [held])
    alone = bm.pairwise([made[0], held], discount=0.9, solver=Guarded())
    np.testing.assert_allclose(tables(alone), tables(bm.pairwise([made[0], held], discount=0.9)), rtol=1e-8)


def _unwanted(source, target):
    pytest.fail("a cost was computed")


@pytest.mark.parametrize("broken", ["question", "pair", "solution"])
def test_what_does_not_arrive(broken):
    """Inside a worker: what cannot be read is a failure of the pair, and a solution that cannot be sent is left out."""
    question = PairQuestion(0.9, None, False, bm.PolicyIteration(), 1e-30)
    chunk = Chunk((7,), (Pair(0, 1, *random_chains()[:2]),))
    if broken == "solution":
        question = replace(question, solver=_Private())
    sent = {"question": pickle.dumps(question), "pair": pickle.dumps(chunk)}
    if broken in sent:
        sent[broken] = sent[broken].replace(b"bisimetric", b"bisimetrix")
    (outcome,) = pickle.loads(answer_task(sent["question"], SentChunk(sent["pair"], ((7, 0, 1),), math.inf)))
    assert outcome.number == 7
    assert (outcome.numbers is None) == (broken != "solution")
    assert outcome.error.pair == (0, 1)
    if broken == "solution":
        assert isinstance(outcome.error, ToleranceNotReached)
        assert outcome.error.solution is None
    else:
        assert isinstance(outcome.error, PairFailed)
        assert "pair (0, 1): ModuleNotFoundError: No module named 'bisimetrix'" in str(outcome.error)


class _Private(bm.PolicyIteration):
    """Its solutions cannot be pickled."""

    name = type("Unknown", (str,), {})("private")


# ------------------------------------------------------------------ errors and Ctrl-C


def test_an_error_names_its_pair():
    """With its indices, its kind and its cause."""
    made = random_chains()
    made[3] = bm.MarkovChain(made[3].transitions, start=0)
    with pytest.raises(PairFailed, match=r"3\), .*: ZeroDivisionError") as caught:
        bm.pairwise(made[:2], made, discount=0.9, cost=_picky)
    assert caught.value.pair[1] == 3


def _picky(source, target):
    if target.reward is None:
        raise ZeroDivisionError("no reward")
    return np.abs(np.subtract.outer(source.reward, target.reward))


def test_a_missed_tolerance_is_an_error(tmp_path):
    """Of the heaviest pair that missed it, with what it reached; all others are solved, and stay in the store."""
    made = random_chains()
    easy = [bm.MarkovChain(np.eye(20), reward=np.zeros(20), start=k) for k in range(2)]  # heavy, but at no cost
    options = {"discount": 0.9, "tol": 1e-8, "solver": Hasty(), "store": tmp_path}
    seen = []
    with pytest.raises(ToleranceNotReached, match=r"^pair \(1, 2\): .*; raise tol") as caught:
        bm.pairwise([*made[:2], *easy], on_pair=seen.append, **options)
    assert caught.value.pair == (1, 2)
    assert caught.value.solution.relative_gap > 1e-8
    assert len(seen) == 6
    assert (caught.value.distances.status == bm.Status.STEP_LIMIT).sum() == 10
    bm.pairwise(easy, **(options | {"on_pair": lambda pair: pytest.fail("solved again")}))


def test_an_interrupt_says_how_far_it_came():
    """Raised between two pairs here; SIGINT for real is in test_pairwise_runs.py."""

    def stop(pair):
        if pair.done == 4:
            raise KeyboardInterrupt

    with pytest.raises(PairwiseInterrupted, match="after 4 of 6 pairs; ") as caught:
        bm.pairwise(random_chains(), discount=0.9, on_pair=stop)
    assert (caught.value.done, caught.value.total) == (4, 6)
    assert (caught.value.distances.status == bm.Status.INTERRUPTED).sum() == np.isnan(caught.value.distances).sum() == 4


def test_an_interrupt_while_chains_are_made():
    """By a generator, for example."""

    def slow():
        raise KeyboardInterrupt
        yield

    with pytest.raises(PairwiseInterrupted, match="before the first pair"):
        bm.pairwise(slow(), discount=0.9)


def test_an_interrupt_in_a_slow_cost():
    """Before the first pair: the same kind of exception."""

    def slow(source, target):
        raise KeyboardInterrupt

    with pytest.raises(PairwiseInterrupted, match="while costs were computed") as caught:
        bm.pairwise(random_chains(), discount=0.9, cost=slow)
    assert (caught.value.done, caught.value.total) == (0, 0)

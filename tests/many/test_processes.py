"""Worker processes: a lost one is replaced, and nothing but its chunk is answered with the reason."""

from __future__ import annotations

import os
import time
from _thread import interrupt_main
from functools import partial
from threading import Timer

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.threads import deadline
from bisimetric.many import worker
from bisimetric.many.chunks import Chunk
from bisimetric.many.processes import MOST_LOSSES, Processes, ThisProcess
from bisimetric.many.question import Pair, PairQuestion
from tests.many.pair_samples import LARGER, random_chains, solver_for_workers

pytestmark = pytest.mark.slow  # processes of their own


def question(solver):
    """About chains, by this solver."""
    return PairQuestion(0.9, None, False, solver, None)


def singles(count):
    """Chunks of one pair each."""
    made = random_chains(sizes=LARGER)
    return [Chunk((k,), (Pair(0, 1 + k % 3, made[0], made[1 + k % 3]),)) for k in range(count)]


@pytest.fixture
def large(monkeypatch):
    """A question and chunks that fill every pipe, and a function that says what workers do instead of solving."""
    rows = np.full((300, 300), 1 / 300)
    chain = bm.MarkovChain(rows, reward=np.arange(300), start=0)
    asked = PairQuestion(0.9, np.ones((300, 300)), False, bm.PolicyIteration(), None)
    chunks = [Chunk((k,), (Pair(0, 1, chain, chain),)) for k in range(6)]
    return asked, chunks, lambda instead: monkeypatch.setattr(worker, "START_WORKER", instead)


def test_the_time_is_over_before_workers_read(large):
    """Sending does not outlast the deadline."""
    asked, chunks, do = large
    do("import time; time.sleep(60)")
    began = time.monotonic()
    with deadline(0.1):
        assert list(Processes(2).answers(asked, chunks)) == []
    assert time.monotonic() - began < 30.0


def test_ctrl_c_before_workers_read(large):
    """Sending does not hold it back."""
    asked, chunks, do = large
    do("import time; time.sleep(60)")
    began = time.monotonic()
    Timer(0.5, interrupt_main).start()
    with pytest.raises(KeyboardInterrupt):
        list(Processes(2).answers(asked, chunks))
    assert time.monotonic() - began < 30.0


def test_workers_that_end_in_the_middle_of_a_message(large):
    """Every chunk is answered."""
    asked, chunks, do = large
    do("import os; os.read(0, 5); os._exit(7)")
    found = list(Processes(2).answers(asked, chunks))
    assert sorted(answer.chunk.numbers for answer in found) == [chunk.numbers for chunk in chunks]
    assert all(answer.outcomes is None and "exit code 7" in answer.why for answer in found)


def test_workers_that_all_end_are_not_started_forever():
    """Every chunk is answered, none has outcomes."""
    chunks = singles(12)
    found = list(Processes(2).answers(question(solver_for_workers(partial(os._exit, 3))), chunks))
    assert {answer.chunk.numbers for answer in found} == {chunk.numbers for chunk in chunks}
    assert all(answer.outcomes is None and "exit code 3" in answer.why for answer in found)


def test_a_worker_that_ends_once(tmp_path):
    """Its chunk is lost, the others are solved."""

    def end_once():
        try:
            os.close(os.open(tmp_path / "ended", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        os._exit(9)

    found = list(Processes(2).answers(question(solver_for_workers(end_once)), singles(8)))
    assert sum(answer.outcomes is None for answer in found) == 1 < MOST_LOSSES
    assert len(found) == 8


def test_the_time_is_over():
    """What workers are at is left behind, here too."""

    def wait():
        time.sleep(60.0)

    for way, solver in ((Processes(2), solver_for_workers(wait)), (ThisProcess(), bm.PolicyIteration())):
        began = time.monotonic()
        with deadline(0.01):
            time.sleep(0.02)
            assert list(way.answers(question(solver), singles(4))) == []
        assert time.monotonic() - began < 30.0

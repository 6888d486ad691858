"""A worker process by itself: it answers, it ends, and what cannot travel is said before."""

from __future__ import annotations

import pickle
import threading
from queue import SimpleQueue

import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, PairFailed
from bisimetric.many import worker as worker_module
from bisimetric.many.chunks import Chunk, SentChunk, portable, task_of
from bisimetric.many.question import Pair, PairQuestion
from bisimetric.many.worker import Worker, without_ctrl_c

WAIT = 60.0  # seconds after which a worker is taken for lost


def test_what_cannot_travel_is_said():
    """With the remedy, before any process is started."""
    assert pickle.loads(portable({"a": 1}, "cost")) == {"a": 1}
    with pytest.raises(InvalidOption, match="solver is a lock that cannot be sent"):
        portable(threading.Lock(), "solver")


def test_a_pair_that_cannot_be_read_fails_alone():
    """The process answers with the error of that pair, waits for the next, and ends when told to."""
    arrived = SimpleQueue()
    with without_ctrl_c():
        worker = Worker(b"no pickle", arrived)
    try:
        chain = bm.MarkovChain([[1.0]])
        question = PairQuestion(0.9, None, False, bm.PolicyIteration(), None)
        for number in (3, 4):
            chunk = Chunk((number,), (Pair(0, number, chain, chain, None),))
            worker.send(chunk, task_of(question, chunk)[0])
            owner, (outcome,) = arrived.get(timeout=WAIT)
            assert owner is worker
            assert outcome.number == number
            assert isinstance(outcome.error, PairFailed)
            assert f"(0, {number})" in str(outcome.error)
    finally:
        worker.end()
    assert arrived.get(timeout=WAIT) == (worker, None)
    assert "its worker process was ended" in worker.ending()


def test_nobody_waits_for_a_process_that_reads_late(monkeypatch):
    """Messages larger than a pipe are on their way while the process is still starting; ending it drops them."""
    monkeypatch.setattr(worker_module, "START_WORKER", "import time; time.sleep(20)")
    large, arrived = bytes(2**22), SimpleQueue()
    with without_ctrl_c():
        worker = Worker(large, arrived)
    for number in range(2):
        worker.send(Chunk((number,), ()), SentChunk(large, ((number, 0, 1),), 0.0))
    assert worker.end() != 0  # it was still asleep
    assert arrived.get(timeout=WAIT) == (worker, None)

"""Blocks and threads: everything is done once, whoever does it."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from bisimetric._support import blocks
from bisimetric._support import threads as threads_module
from bisimetric._support.blocks import PARALLEL_FROM, SHORT_WORK, for_each_block, for_even_split


@pytest.mark.parametrize("threads", ["1", "2", "5"])
@pytest.mark.parametrize(("size", "unit", "largest"), [(1, 1, 10), (1000, 1, 7), (1000, 30, 2**30), (999, 1000, 1)])
def test_blocks_cover_everything_once(monkeypatch, threads, size, unit, largest):
    """Ranges are disjoint, cover 0..size, begin at multiples of `unit` and are no longer than asked."""
    monkeypatch.setenv("BISIMETRIC_THREADS", threads)
    done = np.zeros(size, int)
    lock = threading.Lock()

    def work(first, last):
        with lock:
            done[first:last] += 1
        return first, last

    ranges = for_each_block(work, size, unit=unit, largest=largest)
    assert (done == 1).all()
    assert all(first % unit == 0 for first, _ in ranges)
    assert max(last - first for first, last in ranges) <= max(largest, unit)


@pytest.mark.parametrize(("begin", "size"), [(0, 5), (32, 64), (64, 1000), (96, 97), (32, 32)])
@pytest.mark.parametrize("serial_below", [0, 100])
def test_blocks_from_a_later_begin(begin, size, serial_below):
    """Ranges cover begin..size, and are cut where they would be from 0 on."""
    ranges = sorted(for_each_block(lambda i, j: (i, j), size, begin=begin, unit=32, serial_below=serial_below))
    assert [k for first, last in ranges for k in range(first, last)] == list(range(begin, size))
    assert all(first % 32 == 0 for first, _ in ranges)


def test_block_lengths_follow_the_clock(monkeypatch):
    """Fast work is handed out in longer and longer ranges."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "1")
    lengths = [last - first for first, last in for_each_block(lambda i, j: (i, j), 100_000)]
    assert lengths[:4] == [1, 8, 64, 512]


@pytest.mark.parametrize("threads", ["1", "2", "3"])
@pytest.mark.parametrize("cost", [0, PARALLEL_FROM, 100 * PARALLEL_FROM])
@pytest.mark.parametrize("size", [1, 2, 100])
def test_even_splits_cover_everything_once(monkeypatch, threads, cost, size):
    """Every entry belongs to one part; where threads do not pay there is only one."""
    monkeypatch.setenv("BISIMETRIC_THREADS", threads)
    done = np.zeros(size, int)
    parts = []
    lock = threading.Lock()

    def work(first, last):
        with lock:
            done[first:last] += 1
            parts.append((first, last))

    for_even_split(work, size, cost=cost)
    assert (done == 1).all()
    assert (len(parts) == 1) == (threads == "1" or not cost or size == 1)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_errors_stop_the_rest(monkeypatch, threads):
    """The error comes out, no block begins afterwards, and none is still running."""
    monkeypatch.setenv("BISIMETRIC_THREADS", threads)
    monkeypatch.setattr(blocks, "BLOCK_SECONDS", 0.0)
    running = 0
    begun = 0
    lock = threading.Lock()

    def work(first, last):
        nonlocal running, begun
        with lock:
            running += 1
            begun += 1
        try:
            if first == 5:
                raise KeyboardInterrupt
        finally:
            with lock:
                running -= 1

    with pytest.raises(KeyboardInterrupt):
        for_each_block(work, 10_000)
    assert running == 0
    assert begun < 10_000


def test_errors_in_an_even_split(monkeypatch):
    """Whichever part fails, the error comes out, and no part begins or is running afterwards."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "3")
    for bad in (0, 40, 99):
        begun, ended = [], []

        def work(first, last, bad=bad, begun=begun, ended=ended):
            begun.append(first)
            try:
                if first <= bad < last:
                    raise ZeroDivisionError
            finally:
                ended.append(first)

        with pytest.raises(ZeroDivisionError):
            for_even_split(work, 100, cost=PARALLEL_FROM)
        assert sorted(ended) == sorted(begun)
        assert len(begun) == len(set(begun))


@pytest.mark.parametrize("cost", [PARALLEL_FROM, 10 * PARALLEL_FROM])
def test_parts_of_an_even_split_become_shorter(cost, monkeypatch):
    """So that threads end together; none but the last is shorter than what is worth sharing."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "2")
    parts = []
    for_even_split(lambda first, last: parts.append((first, last)), 1000, cost=cost)
    lengths = [last - first for first, last in parts]
    assert max(lengths) <= 1000 // 2
    assert max(lengths) > min(lengths)
    assert sorted(lengths)[1] >= 1000 * SHORT_WORK // cost


def test_every_thread_keeps_its_end_of_the_work(monkeypatch):
    """The caller begins at the front and the helper at the back, in pass after pass, so caches stay warm."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "2")
    caller = threading.get_ident()
    first_of_caller, last_of_helper = [], []

    def work(first, last):
        if threading.get_ident() == caller:
            first_of_caller.append(first)
            helper_began.wait(10)
        else:
            helper_began.set()
            last_of_helper.append(last)

    for _ in range(3):
        helper_began = threading.Event()
        blocks._is_new(work.__code__)
        for_even_split(work, 1000, cost=PARALLEL_FROM)
        assert first_of_caller[0] == 0
        assert last_of_helper[0] == 1000
        first_of_caller.clear()
        last_of_helper.clear()


def test_the_system_refuses_new_threads(monkeypatch):
    """The caller does all the work, once."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "3")
    blocks._helpers.cache_clear()

    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads_module, "start_new_thread", refused)
    done = np.zeros(1000, int)

    def work(first, last):
        done[first:last] += 1

    blocks.for_each_block(work, 1000, largest=10)
    blocks.for_even_split(work, 1000, cost=10**6)
    blocks.for_even_split(work, 1000, cost=10**6)
    monkeypatch.undo()
    blocks._helpers.cache_clear()
    assert (done == 3).all()


STRUCK_WHILE_WAITING = """
import signal, sys, threading, time
from bisimetric._support import blocks
from bisimetric._support import threads as threads_module

signal.signal(signal.SIGINT, signal.default_int_handler)
caller, ended = threading.get_ident(), []

def work(first, last):
    if threading.get_ident() != caller:
        time.sleep(0.5)
    else:
        time.sleep(0.1)  # the helper gets the other part
    ended.append(first)

for presses in (1, 3):
    ended.clear()
    blocks._is_new(work.__code__)
    for k in range(presses):
        threading.Timer(0.2 + 0.05 * k, signal.raise_signal, [signal.SIGINT]).start()
    try:
        blocks.for_even_split(work, 2, cost=10**6)
        sys.exit("not interrupted")
    except KeyboardInterrupt:
        assert len(ended) == 2, ended
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals as Unix has them")
def test_ctrl_c_while_the_caller_waits_for_a_helper():
    """It is not lost, and the helper has ended when it comes out, even if it is pressed again and again."""
    environment = {**os.environ, "BISIMETRIC_THREADS": "2"}
    done = subprocess.run(
        [sys.executable, "-c", STRUCK_WHILE_WAITING], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr

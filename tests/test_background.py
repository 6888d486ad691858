"""Calls in other threads, and Ctrl-C at any moment of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from bisimetric._background import Aside, Helpers


def test_results_and_errors_come_back():
    """From another thread."""
    where = Aside(threading.get_ident).result()
    assert where != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        Aside(divmod, 1, 0).result()


def test_helpers_are_reused():
    """Four calls by two threads, which are the same ones as before."""
    helpers, met, seen = Helpers(), threading.Barrier(3), set()

    def call():
        seen.add(threading.get_ident())
        met.wait(60)

    for _ in range(2):
        helpers.ask(call, 2)
        met.wait(60)
    assert len(seen) == 2


def run(code: str) -> str:
    """What a process of its own prints."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_exit_waits_for_a_call():
    """It is finished; helpers are not waited for."""
    code = """
import time
from bisimetric._background import Aside, Helpers
Helpers().ask(lambda: time.sleep(1000), 2)
Aside(lambda: (time.sleep(0.5), print("finished", flush=True)))
time.sleep(0.1)
print("exit", flush=True)
"""
    assert run(code) == "exit\nfinished\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_exit_of_a_fork_waits_for_nothing():
    """The call that is under way is the parent's."""
    code = """
import os, sys, time
from bisimetric._background import Aside
call = Aside(time.sleep, 2)
time.sleep(0.1)
begin = time.perf_counter()
child = os.fork()
if child == 0:
    sys.exit()
assert os.waitpid(child, 0)[1] == 0
assert time.perf_counter() - begin < 1
"""
    run(code)


STORM = """
import os, signal, threading, time
import numpy as np
from bisimetric import _parallel
from bisimetric._background import Aside

signal.signal(signal.SIGINT, signal.default_int_handler)
counts = np.zeros(1000, int)
ready, over = threading.Event(), threading.Event()

def work(first, last):
    counts[first:last] += 1

def storm():
    ready.wait()
    while not over.is_set():
        time.sleep(0.0003)
        os.kill(os.getpid(), signal.SIGINT)

def calm(call):
    # Until it comes through.
    while True:
        try:
            return call()
        except KeyboardInterrupt:
            pass

threading.Thread(target=storm, daemon=True).start()
ready.set()
hits, end = 0, time.monotonic() + 3
while True:
    try:
        while time.monotonic() < end:
            _parallel.for_even_split(work, 1000, cost=10**6)
            Aside(int).result()
        break
    except KeyboardInterrupt:
        hits += 1
calm(over.set)
calm(lambda: time.sleep(0.1))
assert hits > 10, hits
threads = set()
for _ in range(100):
    _parallel.for_even_split(lambda i, j: (threads.add(threading.get_ident()), time.sleep(0.002)), 2, cost=10**6)
assert len(threads) == 2, threads
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals as Unix has them")
def test_a_storm_of_interrupts(monkeypatch):
    """Afterwards the helper still helps, and the process ends."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "2")
    run(STORM)

"""Calls in other threads, and Ctrl-C at any moment of them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from bisimetric._support import threads
from bisimetric._support.threads import Helpers, call_in_thread


def test_results_and_errors_come_back():
    """From another thread."""
    assert call_in_thread(threading.get_ident) != threading.get_ident()
    with pytest.raises(ZeroDivisionError):
        call_in_thread(divmod, 1, 0)


def test_fewer_threads_than_wished(monkeypatch):
    """Those that can be had are used; where there are none a call is made in place."""
    usual, left = threads.start_new_thread, [2]

    def limited(*args):
        if not left[0]:
            raise RuntimeError("can't start new thread")
        left[0] -= 1
        return usual(*args)

    monkeypatch.setattr(threads, "start_new_thread", limited)
    helpers, met = Helpers(), threading.Barrier(3)
    for _ in range(2):
        helpers.ask(lambda: met.wait(60) and None, 4)
        met.wait(60)
    assert call_in_thread(threading.get_ident) == threading.get_ident()


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
import signal, threading, time
from bisimetric._support.threads import Helpers, call_in_thread
signal.signal(signal.SIGINT, signal.default_int_handler)
Helpers().ask(lambda: time.sleep(1000), 2)
threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
try:
    call_in_thread(lambda: (time.sleep(1), print("finished", flush=True)))
except KeyboardInterrupt:
    print("exit", flush=True)
"""
    assert run(code) == "exit\nfinished\n"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_exit_of_a_fork_waits_for_nothing():
    """The call that is under way is the parent's."""
    code = """
import os, sys, threading, time
from bisimetric._support.threads import call_in_thread
begun, go_on = threading.Event(), threading.Event()
threading.Thread(target=call_in_thread, args=(lambda: (begun.set(), go_on.wait()),), daemon=True).start()
begun.wait()
child = os.fork()
if child == 0:
    sys.exit()
assert os.waitpid(child, 0)[1] == 0  # for ever, if the child waited for the call
go_on.set()
"""
    run(code)


STORM = """
import signal, threading, time
from bisimetric._support import blocks
from bisimetric._support.threads import call_in_thread

def work(first, last):
    time.sleep(0.0002)

def attempt():
    blocks.for_even_split(work, 1000, cost=10**6)
    call_in_thread(int)

def strike(signum, frame):
    while frame is not None and frame.f_code is not attempt.__code__:
        frame = frame.f_back
    if frame is not None:  # only there is it caught
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, strike)
signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
hits = 0
while hits < 200:
    try:
        attempt()
    except KeyboardInterrupt:
        hits += 1
signal.setitimer(signal.ITIMER_REAL, 0)
threads = set()
for _ in range(100):
    blocks.for_even_split(lambda i, j: (threads.add(threading.get_ident()), time.sleep(0.002)), 2, cost=10**6)
assert len(threads) >= 2, threads
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals as Unix has them")
def test_a_storm_of_interrupts(monkeypatch):
    """Afterwards the helper still helps, and the process ends."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "2")
    run(STORM)

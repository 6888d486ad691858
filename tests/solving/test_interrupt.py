"""Ctrl-C stops a solve wherever it is, within the step under way, and the exception carries a certified solution.

SIGINT is sent for real, in a process of its own. A whole solve tells how long its steps take; then the same solve is
interrupted at several moments. The certified solutions of one problem, however early they were cut off, must agree
with each other and with the gap between the values, below which no distance lies.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals as Unix has them")

SCRIPT = """
import json, os, signal, sys, threading, time
import numpy as np
from scipy.sparse import eye_array, linalg
import bisimetric as bm

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background would ignore it
SIDE, MORE = json.loads(sys.argv[1])

rooms = bm.environments.four_rooms
chains = [rooms(side=SIDE, goal=goal) for goal in ("north-west", "south-east")]
problem = bm.Problem(*chains, discount=0.95)
values = [linalg.spsolve((eye_array(c.n_states) - 0.95 * c.transitions).tocsc(), c.reward) for c in chains]
gap = abs(np.subtract.outer(*values))
lower, upper = gap, np.full(gap.shape, np.inf)
bm.solve(bm.Problem(rooms(side=3), rooms(side=3, goal="all"), discount=0.9))  # kernels are loaded

begin, ends = time.perf_counter(), []
bm.solve(problem, quotient=False, on_step=lambda step: ends.append(time.perf_counter() - begin))
whole = time.perf_counter() - begin
moments = [0.3 * ends[0], 0.8 * ends[0], 0.5 * (ends[0] + ends[1]), 0.6 * whole]

def press(*delays):
    begun.wait()  # starting a thread may take long on a busy machine
    for delay in delays:
        time.sleep(delay)
        pressed.append(len(seen))
        os.kill(os.getpid(), signal.SIGINT)

for moment in moments:
    seen, pressed, caught, begun = [], [], None, threading.Event()
    pressing = threading.Thread(target=press, args=(moment, *MORE))
    pressing.start()
    try:
        begun.set()
        bm.solve(problem, quotient=False, on_step=seen.append)
    except bm.errors.SolveInterrupted as error:
        caught = error
    except KeyboardInterrupt:  # the solve had just ended
        pass
    for _ in range(10):  # all of them have come
        try:
            pressing.join()
            time.sleep(0.01)
        except KeyboardInterrupt:
            pass
    if caught is None:
        continue
    solution = caught.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert (solution.lower <= solution.value).all() and (solution.value <= solution.upper).all()
    lower, upper = np.maximum(lower, solution.lower), np.minimum(upper, solution.upper)
    assert (lower <= upper + 1e-9 * gap.max()).all(), moment
    print(json.dumps([pressed[0], len(solution.history), solution.relative_gap]), flush=True)
"""


def interrupts(side: int, *more: float, threads: int, timeout: float) -> list[list[Any]]:
    """Interrupt a solve at four moments, and each time again after the delays in `more`.

    [steps reported when Ctrl-C was pressed, steps in the solution, its relative gap], for each time.
    """
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([side, more])],
        env={**os.environ, "BISIMETRIC_THREADS": str(threads)},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize(
    ("side", "threads"),
    [(16, 2), pytest.param(32, 1, marks=pytest.mark.slow), pytest.param(55, 2, marks=pytest.mark.slow)],
)
def test_everywhere(side, threads):
    """In the start, in the first sweep and later; the largest has 9.2 million pairs, 2 GB."""
    found = interrupts(side, threads=threads, timeout=1500)
    assert len(found) >= 2
    for pressed, stopped, gap in found:
        assert stopped <= pressed + 1
        assert gap <= 1


def test_impatience():
    """More Ctrl-C while the first one takes effect: nothing is written behind the solution's back."""
    assert interrupts(12, 0.001, 0.0, threads=2, timeout=120)


CHECKS = """
import os, signal, threading, time
import bisimetric as bm

signal.signal(signal.SIGINT, signal.default_int_handler)
rooms = bm.environments.four_rooms
problem = bm.Problem(rooms(side=12), rooms(side=12, goal="all"), discount=0.95)
solution = bm.solve(problem)
bm.certify(problem, solution.value)  # kernels are loaded

def interrupt(delay):
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGINT)

caught = 0
for k in range(20):
    try:
        threading.Thread(target=interrupt, args=(0.0005 * (k + 1),)).start()
        while True:
            bm.certify(problem, solution.value)
    except KeyboardInterrupt:
        caught += 1
assert caught == 20
"""


def test_during_certify():
    """Nearly all of the time passes inside kernels, which must come back whole whatever happened meanwhile."""
    done = subprocess.run([sys.executable, "-c", CHECKS], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


FIRST = """
import os, signal, sys, threading, time
import bisimetric as bm

signal.signal(signal.SIGINT, signal.default_int_handler)
AFTER = sys.argv[1]

def interrupt():
    while AFTER not in sys.modules:
        time.sleep(0.001)
    if AFTER == "bisimetric.kernels.evaluation":
        from numba.core import event
        started = threading.Semaphore(0)
        class Started(event.Listener):
            def on_start(self, event):
                started.release()
            def on_end(self, event):
                pass
        event.register("numba:compile", Started())
        for _ in range(int(sys.argv[2])):
            started.acquire()
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGINT)

rooms = bm.environments.four_rooms
problem = bm.Problem(rooms(side=16), rooms(side=16, goal="all"), discount=0.9)
threading.Thread(target=interrupt).start()
try:
    bm.solve(problem)
    sys.exit("not interrupted")
except bm.errors.SolveInterrupted as error:
    solution = error.solution
assert solution.status is bm.Status.INTERRUPTED
exact = bm.solve(problem)
assert exact.status is bm.Status.SOLVED
assert (solution.lower <= exact.upper).all() and (exact.lower <= solution.upper).all()
"""


@pytest.mark.parametrize(
    ("after", "compilations", "empty_cache"),
    [
        ("numba", 0, False),
        pytest.param("bisimetric.kernels.evaluation", 1, True, marks=pytest.mark.slow),
        pytest.param("bisimetric.kernels.evaluation", 8, True, marks=pytest.mark.slow),
    ],
    ids=["loading", "first-kernel", "largest-kernel"],
)
@pytest.mark.parametrize("threads", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_while_kernels_are_loaded_or_compiled(tmp_path, after, compilations, empty_cache, threads):
    """The caller does not wait for them, and they are whole when they are needed again."""
    environment = {**os.environ, "BISIMETRIC_THREADS": threads}
    if empty_cache:
        environment["BISIMETRIC_CACHE_DIR"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", FIRST, after, str(compilations)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr

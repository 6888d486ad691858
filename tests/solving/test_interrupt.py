"""Ctrl-C stops a solve within about a second wherever it is, and the exception carries a certified solution.

SIGINT is sent for real, by a timer in a process of its own that knows which part of the solve is under way. The
certified solutions of one problem, however early they were cut off, must agree with each other and with the gap
between the values, below which no distance lies.
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
from bisimetric.certificates import check
from bisimetric.operators import evaluation
from bisimetric.operators.bellman import Bellman

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background would ignore it
SIDE, PHASES = json.loads(sys.argv[1])
waiting, sent = None, []

def watch(owner, attribute, name):
    usual = getattr(owner, attribute)
    def watched(*args, **options):
        arrive(name(options) if callable(name) else name)
        return usual(*args, **options)
    setattr(owner, attribute, watched)

def arrive(phase):
    global waiting
    if waiting is not None and waiting[0] == phase:
        delays, waiting = waiting[1:], None
        threading.Thread(target=interrupt, args=delays).start()

def interrupt(*delays):
    for delay in delays:
        time.sleep(delay)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

watch(evaluation, "independent_value", "start")
watch(Bellman, "improve", lambda options: "cold" if options["cold"] else "warm")
watch(evaluation.Evaluation, "solve", "evaluation")
watch(check, "check", "check")

rooms = bm.environments.four_rooms
chains = [rooms(side=SIDE, goal=goal) for goal in ("north-west", "south-east")]
problem = bm.Problem(*chains, discount=0.95)
values = [linalg.spsolve((eye_array(c.n_states) - 0.95 * c.transitions).tocsc(), c.reward) for c in chains]
gap = abs(np.subtract.outer(*values))
lower, upper = gap, np.full(gap.shape, np.inf)
bm.solve(bm.Problem(rooms(side=3), rooms(side=3, goal="all"), discount=0.9))  # kernels are loaded

for phase, *delays in PHASES:
    sent.clear()
    waiting = phase, *delays
    caught = None
    try:
        try:
            bm.solve(problem, tol=1000.0 if phase == "check" else None, quotient=False)
            sys.exit(f"{phase}: not interrupted")
        except bm.errors.SolveInterrupted as error:
            caught, stopped = error, time.perf_counter()
        while len(sent) < len(delays):
            time.sleep(0.01)
    except KeyboardInterrupt:  # the solve had stopped before a second one came
        pass
    solution = caught.solution
    certified = time.perf_counter()
    assert solution.status is bm.Status.INTERRUPTED
    assert (solution.lower <= solution.value).all() and (solution.value <= solution.upper).all()
    lower, upper = np.maximum(lower, solution.lower), np.minimum(upper, solution.upper)
    assert (lower <= upper + 1e-9 * gap.max()).all(), phase
    report = phase, stopped - sent[0], certified - max(stopped, sent[-1]), solution.relative_gap, len(solution.history)
    print(json.dumps(report), flush=True)
"""
PATIENCE = 1.5  # seconds to stop: about one, on a busy machine


def interrupts(side: int, phases: list[tuple[Any, ...]], *, threads: int, timeout: float) -> list[list[Any]]:
    """[phase, seconds to stop, seconds to certify, relative gap, steps] for each of the phases."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, json.dumps([side, phases])],
        env={**os.environ, "BISIMETRIC_THREADS": str(threads)},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    reports = [json.loads(line) for line in done.stdout.splitlines()]
    assert [report[0] for report in reports] == [phase[0] for phase in phases]
    return reports


@pytest.mark.parametrize("threads", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_thousand_states(threads):
    """In the evaluation of the start, the first sweep, an evaluation, a later sweep and the final check."""
    phases = [("start", 0.05), ("cold", 0.1), ("evaluation", 0.05), ("warm", 0.1), ("check", 0.05)]
    for phase, stop, certify, gap, steps in interrupts(32, phases, threads=threads, timeout=240):
        assert stop < PATIENCE, phase
        assert certify < 30, phase
        assert gap <= 1
        assert steps == {"start": 0, "cold": 0}.get(phase, 1) or phase == "warm"


def test_impatience():
    """More Ctrl-C while the first one takes effect: nothing is written behind the solution's back."""
    interrupts(20, [("cold", 0.02, 0.001), ("warm", 0.02, 0.0005), ("evaluation", 0.01, 0.0)], threads=2, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("threads", [2])
def test_three_thousand_states(threads):
    """9.2 million pairs, 2 GB: in every phase."""
    names = ("start", "cold", "evaluation", "warm", "check")
    phases = [(name, 0.5) for name in names]
    for phase, stop, _, gap, _ in interrupts(55, phases, threads=threads, timeout=1500):
        assert stop < 2 * PATIENCE, phase
        assert gap <= 1


CHECKS = """
import os, signal, threading, time
import bisimetric as bm
from bisimetric.certificates import check
from bisimetric.operators import evaluation
from bisimetric.operators.bellman import Bellman
from bisimetric.couplings.witness import StoredWitness
from bisimetric.operators.trees import TreeWitness, new_trees

signal.signal(signal.SIGINT, signal.default_int_handler)
rooms = bm.environments.four_rooms
bellman = Bellman.of(bm.Problem(rooms(side=20), rooms(side=20, goal="all"), discount=0.95))
value, trees = bellman.scaled_cost(), new_trees(bellman)
bellman.improve(value, trees, cold=True)
witness = StoredWitness(TreeWitness(bellman, value, trees).cells(0, bellman.pairs.size))
check.check_application(bellman, value, witness, 0.0)  # kernels are loaded

def interrupt(delay):
    time.sleep(delay)
    os.kill(os.getpid(), signal.SIGINT)

caught = 0
for k in range(20):
    try:
        threading.Thread(target=interrupt, args=(0.0005 * (k + 1),)).start()
        while True:
            check.check_application(bellman, value, witness, 0.0)
    except KeyboardInterrupt:
        caught += 1
assert caught == 20
"""


def test_during_a_check():
    """Nearly all of the time passes inside one kernel, which must come back whole whatever happened meanwhile."""
    done = subprocess.run([sys.executable, "-c", CHECKS], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr


FIRST = """
import os, signal, sys, threading, time
import bisimetric as bm

signal.signal(signal.SIGINT, signal.default_int_handler)
AFTER = sys.argv[1]
sent = []

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
    sent.append(time.perf_counter())
    os.kill(os.getpid(), signal.SIGINT)

rooms = bm.environments.four_rooms
problem = bm.Problem(rooms(side=16), rooms(side=16, goal="all"), discount=0.9)
threading.Thread(target=interrupt).start()
try:
    bm.solve(problem)
    sys.exit("not interrupted")
except bm.errors.SolveInterrupted as error:
    print(time.perf_counter() - sent[0])
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
    assert float(done.stdout) < PATIENCE

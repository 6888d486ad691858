"""Runs over many pairs that are killed, interrupted or not alone, each in a process of its own.

Signals are real. A run says every pair that it has finished, so the test knows what must be in the store.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.many.store import numbers_of, records_of

pytestmark = [
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="signals and /proc as Linux has them"),
    pytest.mark.slow,  # processes of their own
]

COUNT = 9  # chains
TOTAL = COUNT * (COUNT - 1) // 2

SCRIPT = """
import hashlib, signal, sys, time
import bisimetric as bm

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background would ignore it
store, n_jobs, count, size, pause = sys.argv[1], *map(float, sys.argv[2:])

def say(pair):
    print("pair", pair.done, pair.total, flush=True)
    time.sleep(pause)

make = bm.environments.random_sparse_chain
chains = [make(int(size) + k, 3, seed=k) for k in range(int(count))]
print("begin", flush=True)
try:
    found = bm.pairwise(chains, discount=0.95, store=store or None, n_jobs=int(n_jobs), on_pair=say)
    arrays = found.value, found.lower, found.upper
    print("digest", hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest())
except KeyboardInterrupt as error:
    print("stopped", type(error).__name__, error.done, error.total, str(error), flush=True)
"""


def start(store, *, n_jobs=1, count=COUNT, size=4, pause=0.0):
    """A run in a session of its own."""
    arguments = [str(argument) for argument in (store, n_jobs, count, size, pause)]
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def read_pairs(process, count):
    """Wait for that many finished pairs."""
    lines = [process.stdout.readline() for _ in range(count + 1)]
    assert all(line.startswith("pair") for line in lines[1:]), [*lines, process.stderr.read()]


def kill(process):
    """kill -9; how many finished pairs it said in all."""
    os.kill(process.pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    return out.count("pair")


def left_in_session(leader):
    """Processes that a session still has, except zombies."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, session = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(session) == leader and state != "Z":
            found.append(stat.parent.name)
    return found


def wait_for_the_end_of(leader):
    """Until nothing of the session is left."""
    until = time.monotonic() + 60
    while left_in_session(leader):
        assert time.monotonic() < until, "workers go on"
        time.sleep(0.05)


def unbroken():
    """The chains, and their table without a store."""
    chains = [bm.environments.random_sparse_chain(4 + k, 3, seed=k) for k in range(COUNT)]
    return chains, bm.pairwise(chains, discount=0.95)


def check_resumed(store, *, at_least, at_most=TOTAL):
    """A run goes on in this process: the same bits, and only what is missing is computed."""
    chains, expected = unbroken()
    found = [record for journal in store.glob("*.pairs") for record in records_of(journal)]
    records = len({record[:32] for record in found if numbers_of(record) is not None})
    assert at_least <= records <= at_most
    seen = []
    found = bm.pairwise(chains, discount=0.95, store=store, on_pair=seen.append)
    for name in ("value", "lower", "upper"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert [pair.done for pair in seen] == list(range(records + 1, TOTAL + 1))


@pytest.mark.slow
def test_killed_again_and_again(tmp_path):
    """Three runs, each killed after a few pairs more; the fourth ends with the bits of an unbroken one."""
    store = tmp_path / "store"
    said = 0
    for pairs in (1, 6, 12):
        process = start(store, pause=0.05)
        read_pairs(process, pairs)
        said += pairs + kill(process)
    check_resumed(store, at_least=said, at_most=TOTAL - 1)
    assert len(list(store.glob("*.pairs"))) == 4


def test_killed_with_workers(tmp_path):
    """The workers end too, and what was said is kept."""
    store = tmp_path / "store"
    process = start(store, n_jobs=2, pause=0.05)
    read_pairs(process, 5)
    said = 5 + kill(process)
    wait_for_the_end_of(process.pid)
    check_resumed(store, at_least=said)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_killed_at_any_instant(tmp_path, seed):
    """While it is loading (the first three), solving or writing."""
    store = tmp_path / "store"
    process = start(store)
    assert process.stdout.readline() == "begin\n"
    if seed >= 3:
        assert process.stdout.readline().startswith("pair")
    time.sleep(np.random.default_rng(seed).uniform(0.0, 0.05))
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    out, _ = process.communicate(timeout=60)
    check_resumed(store, at_least=out.count("pair"))


@pytest.mark.slow
def test_two_runs_at_once(tmp_path):
    """On one store: the same result for both, and for one that comes after them, which computes nothing."""
    store = tmp_path / "store"
    runs = [start(store, pause=0.01) for _ in range(2)]
    digests = []
    for run in runs:
        out, err = run.communicate(timeout=120)
        assert run.returncode == 0, err
        digests.append(out.splitlines()[-1])
    assert digests[0].startswith("digest")
    assert digests[0] == digests[1]
    chains, expected = unbroken()
    found = bm.pairwise(chains, discount=0.95, store=store, on_pair=lambda pair: pytest.fail("computed again"))
    np.testing.assert_array_equal(found.upper, expected.upper)
    np.testing.assert_array_equal(found.lower, expected.lower)


@pytest.mark.parametrize(
    ("n_jobs", "whole_group"),
    [(1, False), pytest.param(2, False, marks=pytest.mark.slow), (2, True)],
    ids=["alone", "workers", "workers-terminal"],
)
def test_ctrl_c(tmp_path, n_jobs, whole_group):
    """Stops before the end, says how far it came, keeps that, ends its workers, and prints nothing."""
    store = tmp_path / "store"
    process = start(store, n_jobs=n_jobs, pause=0.1)
    read_pairs(process, 3)
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    _, kind, done, total, message = out.splitlines()[-1].split(" ", 4)
    assert kind == "PairwiseInterrupted"
    assert int(done) < int(total) == TOTAL
    assert message == f"interrupted after {done} of {total} pairs; the same call goes on from there"
    assert err == ""
    wait_for_the_end_of(process.pid)
    check_resumed(store, at_least=int(done), at_most=int(done))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_ctrl_c_in_a_long_pair(n_jobs):
    """Nothing is finished yet, and it stops all the same; workers may still be starting."""
    process = start("", n_jobs=n_jobs, count=3, size=1500)
    assert process.stdout.readline() == "begin\n"
    time.sleep(1.5)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    _, kind, done, total, _ = out.splitlines()[-1].split(" ", 4)
    assert (kind, done) == ("PairwiseInterrupted", "0")
    assert total in ("0", "3")  # on a busy machine costs may still be computed
    assert err == ""
    wait_for_the_end_of(process.pid)

"""Solving from threads, forks and spawned processes, with and without a cache: right answers, never a hang."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

PRELUDE = """
import os, sys, threading, multiprocessing
import numpy as np
import bisimetric as bm

def problem(side=16, goal="north-east", discount=0.9):
    rooms = bm.environments.four_rooms
    return bm.Problem(rooms(side=side, goal="north-west"), rooms(side=side, goal=goal), discount=discount)

def answer(*args):
    return bm.solve(problem(*args), tol=1e-6).value.tobytes()
"""


def run(code: str, *, timeout: float = 120, **environment: str) -> subprocess.CompletedProcess[str]:
    """A script in a process of its own, which must end in time."""
    return subprocess.run(
        [sys.executable, "-c", PRELUDE + textwrap.dedent(code)],
        env={**os.environ, "BISIMETRIC_THREADS": "2", **environment},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def check(done: subprocess.CompletedProcess[str]) -> None:
    """The script ended well and said so."""
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "right"


def test_several_threads_at_once() -> None:
    """Different problems solved from four Python threads give the bits of a serial run."""
    check(
        run("""
        goals = ["north-east", "south-west", "south-east", "all"]
        alone = [answer(16, goal) for goal in goals]
        found = {}
        threads = [threading.Thread(target=lambda g=g: found.__setitem__(g, answer(16, g))) for g in goals]
        [t.start() for t in threads]
        [t.join() for t in threads]
        print("right" if [found[g] for g in goals] == alone else "wrong")
        """)
    )


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_after_a_solve() -> None:
    """The child of a process that solved with threads solves too, and the parent goes on."""
    check(
        run("""
        before = answer()
        pid = os.fork()
        if pid == 0:
            os._exit(0 if answer() == before else 1)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        print("right" if status == 0 and answer() == before else f"wrong: child ended with {status}")
        """)
    )


def test_spawned_processes(tmp_path: Path) -> None:
    """Workers started afresh give the parent's bits."""
    script = tmp_path / "spawned.py"
    script.write_text(
        PRELUDE
        + textwrap.dedent("""
        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(2) as pool:
                found = pool.starmap(answer, [(16,), (16,)], chunksize=1)
            print("right" if found == [answer()] * 2 else "wrong")
        """)
    )
    environment = {**os.environ, "BISIMETRIC_THREADS": "2"}
    check(subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=120))


SMALL = 'print("right" if bm.solve(problem(4)).status is bm.Status.SOLVED else "wrong")'


def test_no_writable_cache() -> None:
    """Where no cache folder can be made, kernels are compiled and the line on stderr says why."""
    done = run(SMALL, BISIMETRIC_CACHE_DIR=os.path.join(os.devnull, "nowhere"))
    check(done)
    assert done.stderr.count("\n") == 1
    assert "in every process" in done.stderr


@pytest.mark.slow
def test_damaged_cache_files(tmp_path: Path) -> None:
    """Cache files that are cut short, emptied or garbage are compiled again."""
    check(run(SMALL, BISIMETRIC_CACHE_DIR=str(tmp_path)))
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert len(files) > 5
    for k, path in enumerate(files):
        path.write_bytes((b"", b"garbage", path.read_bytes()[:-20])[k % 3])
    check(run(SMALL, BISIMETRIC_CACHE_DIR=str(tmp_path)))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="no file size limits there")
def test_a_full_disk(tmp_path: Path) -> None:
    """A cache that can't be written to does not stop a solve."""
    limit = "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    limit += "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    check(run(limit + SMALL, BISIMETRIC_CACHE_DIR=str(tmp_path)))


@pytest.mark.parametrize("wish", ["0", "-1", "two", "²"])
def test_a_wrong_number_of_threads(wish: str) -> None:
    """BISIMETRIC_THREADS is checked."""
    done = run(
        """
        try:
            answer(4)
        except bm.errors.InvalidOption as error:
            print("right" if "BISIMETRIC_THREADS" in str(error) else error)
        """,
        BISIMETRIC_THREADS=wish,
    )
    check(done)

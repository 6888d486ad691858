"""One measurement in a fresh process: CPU and wall seconds of a call, and the peak memory of the process."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ONE_THREAD = {f"{library}_NUM_THREADS": "1" for library in ("NUMBA", "OMP", "OPENBLAS", "MKL")}
# POT looks for other array libraries on every call; hiding them makes it faster.
POT_WITH_NUMPY_ONLY = {f"POT_BACKEND_DISABLE_{library}": "1" for library in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")}
REPEATS = 40  # batches of fast work, at most
BATCH = 0.05  # CPU seconds of a batch at least: the clock of a process with a time limit ticks in milliseconds
ENOUGH = 2.0  # CPU seconds after which work is not repeated any more
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The result of `work`, with CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def repeated(work: Callable[[], Any], enough: float = ENOUGH) -> tuple[Any, list[dict[str, float]]]:
    """The result, and the seconds per call in each of several batches, which take `enough` CPU seconds or one call."""
    runs: list[dict[str, float]] = []
    result, spent, calls = None, 0.0, 1
    while not runs or (len(runs) < REPEATS and spent < enough):
        result = None  # frees the previous result
        result, seconds = timed(lambda: _last_of(work, calls))  # noqa: B023
        spent += seconds["cpu"]
        if not runs and seconds["cpu"] < BATCH and spent < enough:
            calls *= 4
        else:
            runs.append({clock: value / calls for clock, value in seconds.items()})
    return result, runs


def quickest(work: Callable[[], Any], enough: float = ENOUGH) -> tuple[Any, float]:
    """The result, and the CPU seconds of a call in the fastest batch: never 0, however coarse the clock is."""
    result, runs = repeated(work, enough)
    return result, min(run["cpu"] for run in runs)


def _last_of(work: Callable[[], Any], calls: int) -> Any:
    for _ in range(calls - 1):
        work()
    return work()


def peak_bytes() -> int:
    """Peak resident memory of this process."""
    # getrusage includes the memory of the parent at the fork; the mark of the kernel does not.
    if found := _status("VmHWM:"):
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_bytes() -> int:
    """Resident memory of this process now, or its peak where the system reports no more."""
    return _status("VmRSS:") or peak_bytes()


def _status(field: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), 0)


@contextmanager
def limits(cpu_seconds: float | None, memory_bytes: int | None) -> Iterator[None]:
    """Inside, the system ends this process at the CPU limit and refuses memory beyond the memory limit."""
    wishes = {
        resource.RLIMIT_CPU: None if cpu_seconds is None else math.ceil(time.process_time() + cpu_seconds),
        resource.RLIMIT_AS: memory_bytes,
    }
    before = {kind: resource.getrlimit(kind) for kind in wishes}
    for kind, wish in wishes.items():
        if wish is not None:
            resource.setrlimit(kind, (wish, before[kind][1]))
    try:
        yield
    finally:
        for kind, limit in before.items():
            resource.setrlimit(kind, limit)


def in_fresh_process(task: str, arguments: dict[str, Any], threads: int = 1) -> dict[str, Any]:
    """Run `benchmarks.tasks.TASK(**arguments)` in a process of its own and return what it returns.

    A process that came to its limit gives {"status": "time-out"}, one that crashed "crashed". One that somebody else
    ended gives "interrupted", which says nothing about what it was to measure.
    """
    done = _run(task, arguments, threads)
    if done.returncode < 0:
        return _ended(done.returncode)
    done.check_returncode()
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])  # Ray prints lines of its own before it
    return result


def rows_of_fresh_process(task: str, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows of a task that yields them one by one; if its process did not end well, the last one says how.

    Such a task announces what it is about to measure by a row with the status "begun", which its result replaces. The
    last row of a process that ended before it announced anything has nothing but "status" and "detail".
    """
    done = _run(task, arguments, 1, stderr=subprocess.PIPE)
    rows: list[dict[str, Any]] = []
    for line in done.stdout.splitlines():
        if rows and rows[-1]["status"] == "begun":
            rows.pop()
        rows.append(json.loads(line))
    begun = rows.pop() if rows and rows[-1]["status"] == "begun" else {}
    if done.returncode < 0:
        rows.append(begun | _ended(done.returncode))
    elif done.returncode > 0:
        said = done.stderr.strip().splitlines()
        rows.append(begun | {"status": "failed", "detail": said[-1] if said else f"exit status {done.returncode}"})
    return rows


def _run(
    task: str, arguments: dict[str, Any], threads: int, stderr: int | None = None
) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ, BISIMETRIC_THREADS=str(threads), **ONE_THREAD, **POT_WITH_NUMPY_ONLY)
    command = [sys.executable, "-m", "benchmarks.tasks", task, json.dumps(arguments)]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=stderr, text=True, check=False)


def _ended(code: int) -> dict[str, str]:
    """What the signal that ended a process means, in words."""
    if code == -signal.SIGXCPU:
        return {"status": "time-out"}
    ended_by = signal.Signals(-code)
    return {"status": "crashed" if ended_by in CRASHES else "interrupted", "detail": ended_by.name}

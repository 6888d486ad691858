"""One measurement in a fresh process: CPU and wall seconds of a callable, and the process' peak memory."""

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
# POT looks for other array libraries on every call: without them it is faster.
POT_WITH_NUMPY_ONLY = {f"POT_BACKEND_DISABLE_{library}": "1" for library in ("PYTORCH", "JAX", "CUPY", "TENSORFLOW")}
CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The result of `work`, with CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def peak_bytes() -> int:
    """Peak resident memory of this process."""
    # getrusage counts what the parent had when it started this process, the kernel's own mark does not.
    if found := _status("VmHWM:"):
        return found
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def resident_bytes() -> int:
    """Resident memory of this process now, or its peak where the system does not tell."""
    return _status("VmRSS:") or peak_bytes()


def _status(field: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(field)), 0)


@contextmanager
def limits(cpu_seconds: float | None, memory_bytes: int | None) -> Iterator[None]:
    """Inside, the system ends this process when it has used that much CPU, and refuses it more memory."""
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
    environment = dict(os.environ, BISIMETRIC_THREADS=str(threads), **ONE_THREAD, **POT_WITH_NUMPY_ONLY)
    command = [sys.executable, "-m", "benchmarks.tasks", task, json.dumps(arguments)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode == -signal.SIGXCPU:
        return {"status": "time-out"}
    if done.returncode < 0:
        ended_by = signal.Signals(-done.returncode)
        return {"status": "crashed" if ended_by in CRASHES else "interrupted", "detail": ended_by.name}
    done.check_returncode()
    result: dict[str, Any] = json.loads(done.stdout)
    return result

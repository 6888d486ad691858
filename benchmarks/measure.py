"""One measurement in a fresh process: CPU and wall seconds of a callable, and the process' peak memory."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """The result of `work`, with CPU and wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall}


def peak_bytes() -> int:
    """Peak resident memory of this process."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def in_fresh_process(task: str, arguments: dict[str, Any], threads: int = 1) -> dict[str, Any]:
    """Run `benchmarks.tasks.TASK(**arguments)` in a process of its own and return what it returns."""
    environment = dict(os.environ, BISIMETRIC_THREADS=str(threads), NUMBA_NUM_THREADS="1", OMP_NUM_THREADS="1")
    command = [sys.executable, "-m", "benchmarks.tasks", task, json.dumps(arguments)]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result

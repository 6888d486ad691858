"""Work on ranges of rows in short blocks, by several threads of this process.

Kernels release the interpreter lock, so plain Python threads suffice. That leaves out numba's own threading
layers, which abort the process when they are entered from two threads or after a fork. Blocks last about a
tenth of a second, so Ctrl-C takes effect between two of them; blocks under way are waited for, so that no
array is written after the exception.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import pairwise
from typing import TypeVar

from bisimetric._errors import InvalidOption

THREADS_VARIABLE = "BISIMETRIC_THREADS"
BLOCK_SECONDS = 0.05  # aim for the length of a block
PARALLEL_FROM = 50_000  # array entries from which a second thread pays for its start
Result = TypeVar("Result")


def thread_count() -> int:
    """Threads to use: BISIMETRIC_THREADS, or as many as this process may run on."""
    wish = os.environ.get(THREADS_VARIABLE, "")
    if not wish:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if not wish.isdigit() or int(wish) < 1:
        raise InvalidOption(f"{THREADS_VARIABLE} is {wish!r}, expected a positive whole number")
    return int(wish)


@lru_cache(maxsize=1)
def _pool(pid: int, threads: int) -> ThreadPoolExecutor:
    """One pool per process: after a fork the child makes its own."""
    return ThreadPoolExecutor(threads, thread_name_prefix="bisimetric")


def for_each_block(
    work: Callable[[int, int], Result],
    size: int,
    *,
    unit: int = 1,
    largest: int = 2**30,
    serial_below: int = 0,
) -> list[Result]:
    """Call work(first, last) on ranges that cover 0..size, cut at multiples of `unit`; results in no fixed order.

    `largest`: no longer ranges than this, except for a single unit. `serial_below`: a size that is not worth
    a second thread.
    """
    queue = _Queue(size, unit, max(1, largest // unit))
    threads = min(thread_count(), queue.units)
    if threads == 1 or size < serial_below:
        return queue.drain(work)
    pool = _pool(os.getpid(), threads)
    drains = [pool.submit(queue.drain, work) for _ in range(threads)]
    try:
        return [result for drain in drains for result in drain.result()]
    except BaseException:
        queue.close()
        for drain in drains:
            drain.exception()  # waits
        raise


class _Queue:
    """Hands out ranges, as long as the last one suggests for BLOCK_SECONDS."""

    def __init__(self, size: int, unit: int, largest: int) -> None:
        self._size = size
        self._unit = unit
        self._largest = largest
        self.units = -(-size // unit)
        self._next = 0
        self._grab = 1
        self._lock = threading.Lock()

    def close(self) -> None:
        with self._lock:
            self._next = self.units

    def _take(self) -> tuple[int, int] | None:
        with self._lock:
            first = self._next
            if first >= self.units:
                return None
            self._next = min(first + self._grab, self.units)
            return first, self._next

    def drain(self, work: Callable[[int, int], Result]) -> list[Result]:
        results = []
        while (taken := self._take()) is not None:
            begin = time.perf_counter()
            results.append(work(taken[0] * self._unit, min(taken[1] * self._unit, self._size)))
            spent = time.perf_counter() - begin
            fitting = (taken[1] - taken[0]) * BLOCK_SECONDS / max(spent, 1e-6)
            with self._lock:
                self._grab = max(1, min(int(fitting), 8 * self._grab, self._largest))
        return results


def for_even_split(work: Callable[[int, int], None], size: int, *, cost: int) -> None:
    """Call work(first, last) once per thread on even parts of 0..size; `cost` in array entries says if threads pay."""
    parts = min(thread_count(), size) if cost >= PARALLEL_FROM else 1
    if parts == 1:
        work(0, size)
        return
    edges = [size * k // parts for k in range(parts + 1)]
    pool = _pool(os.getpid(), parts)
    tasks = [pool.submit(work, first, last) for first, last in pairwise(edges[1:])]
    try:
        work(edges[0], edges[1])
    finally:
        for task in tasks:
            task.exception()  # waits
    for task in tasks:
        task.result()

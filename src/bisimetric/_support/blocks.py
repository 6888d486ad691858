"""Work on ranges of rows in short blocks, by several threads of this process.

Kernels release the interpreter lock, so plain Python threads suffice. numba's own threading layers are not used: they
abort the process when they are entered from two threads or after a fork. The caller works on blocks too, and helpers
join it where they can. So the work is done also where no helper runs: at the exit of the interpreter, in a forked
child, or where no thread can be started. Blocks last about a tenth of a second, and Ctrl-C takes effect between two of
them; the caller waits for running blocks, so that no array is written after the exception. Only the caller runs the
first block, because that may compile a kernel, and Ctrl-C does not wait for a compilation.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from queue import SimpleQueue
from types import CodeType
from typing import Generic, TypeVar

from bisimetric._support.threads import DEADLINE, Helpers, OutOfTime
from bisimetric._support.watching import WATCHER
from bisimetric.errors import InvalidOption

THREADS_VARIABLE = "BISIMETRIC_THREADS"
_limit: ContextVar[int | None] = ContextVar("limit", default=None)  # on the threads of a `with one_thread()` block
BLOCK_SECONDS = 0.05  # intended length of a block
CLOCK_SECONDS = 1e-6  # what a clock may not tell from no time at all
PARALLEL_FROM = 300_000  # array entries from which a second thread saves time
SHORT_WORK = 100_000  # array entries that are not worth sharing
Result = TypeVar("Result")


def thread_count() -> int:
    """Threads to work with: BISIMETRIC_THREADS, or one on every processor that this process may run on."""
    limit = _limit.get()
    if limit is not None:
        return limit
    wish = os.environ.get(THREADS_VARIABLE, "")
    if not wish:
        return processors()
    if not (wish.isascii() and wish.isdigit()) or int(wish) < 1:
        raise InvalidOption(f"{THREADS_VARIABLE} is {wish!r}, expected a positive whole number")
    return int(wish)


@contextmanager
def one_thread() -> Iterator[None]:
    """Work with one thread inside; other threads of the program are not concerned."""
    token = _limit.set(1)
    try:
        yield
    finally:
        _limit.reset(token)


def processors() -> int:
    """Those that this process may run on."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@lru_cache(maxsize=1)
def _helpers(pid: int) -> Helpers:
    """The helpers of this process; a forked child has its own."""
    return Helpers()


def for_each_block(
    work: Callable[[int, int], Result],
    size: int,
    *,
    begin: int = 0,
    unit: int = 1,
    largest: int = 2**30,
    serial_below: int = 0,
    compiled: bool = False,
) -> list[Result]:
    """Call work(first, last) on ranges that cover begin..size, cut at multiples of `unit`; results in no fixed order.

    `begin` is a multiple of `unit`. No range is longer than `largest`, except for a single unit. A length below
    `serial_below` is done by this thread in one range. `compiled` says that the kernel has run before, so that all
    threads may begin at once.
    """
    if time.perf_counter() > DEADLINE.get():
        raise OutOfTime
    length = size - begin
    if length < serial_below and length <= largest:
        return [work(begin, size)]
    threads = min(thread_count(), -(-length // unit))
    queue = _Queue(work, size, unit, max(1, largest // unit), threads, begin)
    if threads > 1 and length >= serial_below:
        if not compiled:
            queue.step()
        return _together(queue, threads)
    queue.drain()
    return queue.results


def for_even_split(work: Callable[[int, int], None], size: int, *, cost: int) -> None:
    """Call work(first, last) on parts of 0..size; `cost` in array entries says if threads pay.

    Parts become shorter towards the end, so that threads end together although helpers wake up later, or share their
    processors with others.
    """
    if time.perf_counter() > DEADLINE.get():
        raise OutOfTime
    threads = min(thread_count(), size) if cost >= PARALLEL_FROM else 1
    if threads == 1:
        work(0, size)
        return
    queue = _Queue(work, size, 1, size, threads, shortest=max(1, size * SHORT_WORK // cost))
    if _is_new(work.__code__):
        queue.drain()
    _together(queue, threads)


_seen: set[CodeType] = set()  # code that has run; decides which thread compiles, and changes no result


def _is_new(code: CodeType) -> bool:
    """Whether this process runs the code for the first time, so that a kernel may have to be compiled."""
    new = code not in _seen
    _seen.add(code)
    return new


def _together(queue: _Queue[Result], threads: int) -> list[Result]:
    """Run all ranges of a queue on the caller and up to threads - 1 helpers; returns the results."""
    try:
        _helpers(os.getpid()).ask(queue.help, threads - 1)
        queue.drain()
    finally:
        while True:
            try:
                queue.close()
                break
            except KeyboardInterrupt as struck:  # wait on: helpers still write
                queue.errors.append(struck)
    for error in queue.errors:
        raise error
    return queue.results


class _Queue(Generic[Result]):
    """Hands out every range once; the time of the last one and what is left decide how long the next one is.

    The caller begins at the front and helpers at the back, so that in pass after pass a core finds most of its rows in
    its own cache.
    """

    def __init__(
        self,
        work: Callable[[int, int], Result],
        size: int,
        unit: int,
        largest: int,
        threads: int = 1,
        begin: int = 0,
        shortest: int | None = None,
    ) -> None:
        """Ranges of `shortest` units or more if that is given; else the clock decides how long they are."""
        self._work = work
        self._begin = begin
        self._size = size
        self._unit = unit
        self._largest = largest
        self._shares = 2 * threads if threads > 1 else 1
        self.units = -(-(size - begin) // unit)
        self.results: list[Result] = []
        self.errors: list[BaseException] = []  # errors of helpers, and interrupts of the caller while it waits for them
        self._rest: SimpleQueue[tuple[int, int]] = SimpleQueue()  # one entry, the units left; held to take a range
        self._rest.put((0, self.units))
        self._shortest = shortest or 1
        self._grab = largest if shortest else 1
        self._closed = False
        self._helping: set[int] = set()  # threads still at work
        self._left: SimpleQueue[None] = SimpleQueue()  # an entry for every thread that has left

    def step(self, *, helper: bool = False) -> bool:
        """Work on one range, at the front of what is left or, as a helper, at its back; False if none is left."""
        front, back = self._rest.get()
        fair = max(self._shortest, (back - front) // self._shares)  # of what is left, so that threads end together
        length = 0 if self._closed else min(self._grab, fair, back - front)
        first, last = (back - length, back) if helper else (front, front + length)
        left = (front, first) if helper else (last, back)
        self._rest.put(left)
        if first >= last:
            return False
        begin = time.perf_counter()
        if begin > DEADLINE.get():
            raise OutOfTime
        begin_at, end_at = (min(self._begin + unit * self._unit, self._size) for unit in (first, last))
        self.results.append(self._work(begin_at, end_at))
        fitting = (last - first) * BLOCK_SECONDS / max(time.perf_counter() - begin, CLOCK_SECONDS)
        self._grab = max(1, min(int(fitting), 8 * self._grab, self._largest))
        watcher = WATCHER.get()  # of the caller's thread; helpers have none
        if watcher is not None:
            watcher.worked(1.0 - (left[1] - left[0]) / self.units)
        return True

    def drain(self) -> None:
        """Work until no range is left."""
        while self.step():
            pass

    def help(self) -> None:
        """Work on ranges in a helper thread until none is left or the interpreter exits."""
        me = threading.get_ident()
        self._helping.add(me)
        try:
            while threading.main_thread().is_alive() and self.step(helper=True):
                pass
        except BaseException as error:
            self.errors.append(error)
            self._closed = True
        finally:
            self._helping.discard(me)
            self._left.put(None)

    def close(self) -> None:
        """Hand out no more ranges and wait for the helpers at work; helpers that come later find nothing to do."""
        self._closed = True
        self._rest.put((0, 0))  # Ctrl-C may have interrupted the thread that held the entry
        while self._helping:
            self._left.get()

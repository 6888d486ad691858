"""Other threads, such that Ctrl-C can't spoil them.

Ctrl-C strikes the main thread between two steps of Python code, also inside `threading` and `concurrent.futures`,
whose locks then are never given back: a worker waits for ever, and the exit of the interpreter waits for the worker.
Here are only raw threads and simple queues, whose operations are single steps.
"""

from __future__ import annotations

import atexit
import math
import os
import time
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

POLL_SECONDS = 0.05  # between looks for Ctrl-C where the system does not report it to one who waits
DEADLINE: ContextVar[float] = ContextVar("DEADLINE", default=math.inf)  # time.perf_counter() at which work must stop
Result = TypeVar("Result")


class OutOfTime(Exception):
    """The deadline has passed; raised between two blocks of work, as Ctrl-C is."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Work inside stops with `OutOfTime` after this time, at the latest when the block of work in hand is done."""
    token = DEADLINE.set(min(DEADLINE.get(), time.perf_counter() + seconds))
    try:
        yield
    finally:
        DEADLINE.reset(token)


def require_time() -> None:
    """Raise if the deadline has passed."""
    if time.perf_counter() > DEADLINE.get():
        raise OutOfTime


def call_in_thread(call: Callable[..., Result], *args: Any) -> Result:
    """The outcome of a call in a thread of its own; in this one where no other can be had.

    Ctrl-C and a deadline end the waiting, not the call. The exit of the interpreter waits for the end of the call.
    """
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    try:
        start_new_thread(_answer, (answers, call, args))
    except RuntimeError:
        return call(*args)
    while True:
        with suppress(Empty):
            result, error = answers.get(timeout=POLL_SECONDS)
            break
        require_time()
    if error is not None:
        raise error
    return result  # type: ignore[no-any-return]


def _answer(
    answers: SimpleQueue[tuple[Any, BaseException | None]], call: Callable[..., Any], args: tuple[Any, ...]
) -> None:
    _unfinished.add(get_ident())
    try:
        answer: tuple[Any, BaseException | None] = call(*args), None
    except BaseException as error:
        answer = None, error
    _unfinished.discard(get_ident())
    answers.put(answer)


class Helpers:
    """Threads that wait for something to do as long as the process lives; nobody waits for them."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads = 0

    def ask(self, call: Callable[[], None], times: int) -> None:
        """So many threads shall make this call, which must not raise; fewer where no more can be had."""
        with suppress(RuntimeError):
            while self._threads < times:
                start_new_thread(self._serve, ())
                self._threads += 1
        for _ in range(min(times, self._threads)):
            self._calls.put(call)

    def _serve(self) -> None:
        while True:
            self._calls.get()()


_unfinished: set[int] = set()  # threads with a call that is under way
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unfinished.clear)


@atexit.register
def _wait_for_calls() -> None:
    with suppress(KeyboardInterrupt):
        while _unfinished:
            time.sleep(POLL_SECONDS)

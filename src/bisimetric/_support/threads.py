"""Calls in other threads that Ctrl-C cannot leave in a broken state.

Ctrl-C interrupts the main thread between two steps of Python code, also inside `threading` and `concurrent.futures`.
Their locks are then never released: a worker waits forever, and the exit of the interpreter waits for the worker. So
this module uses only raw threads and simple queues, whose operations are single steps.
"""

from __future__ import annotations

import atexit
import math
import os
import time
from _thread import get_ident, start_new_thread
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar, copy_context
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from bisimetric.errors import SolverFailed

POLL_SECONDS = 0.05  # between two checks for Ctrl-C, which on some systems does not end a wait
DEADLINE: ContextVar[float] = ContextVar("DEADLINE", default=math.inf)  # time.perf_counter() at which work must stop
Result = TypeVar("Result")


class OutOfTime(Exception):
    """The deadline has passed; raised between two blocks of work, as Ctrl-C is."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Stop the work inside with `OutOfTime` after this time, at the end of the current block of work."""
    token = DEADLINE.set(min(DEADLINE.get(), time.perf_counter() + seconds))
    try:
        yield
    finally:
        DEADLINE.reset(token)


@contextmanager
def within(seconds: float, what: str) -> Iterator[None]:
    """The same for work that has no answer after this time: raises `SolverFailed`, which names the limit."""
    try:
        with deadline(seconds):
            yield
    except OutOfTime:
        raise SolverFailed(f"{what} takes longer than {seconds:g} seconds; raise time_limit") from None


@contextmanager
def no_deadline() -> Iterator[None]:
    """Inside, no deadline of the surrounding work counts."""
    token = DEADLINE.set(math.inf)
    try:
        yield
    finally:
        DEADLINE.reset(token)


def seconds_left() -> float:
    """Until the deadline; inf without one."""
    return DEADLINE.get() - time.perf_counter()


def require_time() -> None:
    """Raise if the deadline has passed."""
    if time.perf_counter() > DEADLINE.get():
        raise OutOfTime


def call_in_thread(call: Callable[..., Result], *args: Any) -> Result:
    """Run a call in a new thread, or in this one if none can be started, and return its result.

    Ctrl-C and a deadline end the waiting, not the call. The exit of the interpreter waits for the end of the call.
    """
    answers: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
    try:
        start_new_thread(copy_context().run, (_answer, answers, call, args))
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
    """Threads that wait for calls as long as the process lives; its exit does not wait for them."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads = 0

    def ask(self, call: Callable[[], None], times: int) -> None:
        """Run `call` on up to `times` threads, fewer where no more can be started; it must not raise."""
        with suppress(RuntimeError):
            while self._threads < times:
                start_new_thread(self._serve, ())
                self._threads += 1
        for _ in range(min(times, self._threads)):
            self._calls.put(call)

    def _serve(self) -> None:
        while True:
            self._calls.get()()


_unfinished: set[int] = set()  # threads with a running call
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unfinished.clear)


@atexit.register
def _wait_for_calls() -> None:
    with suppress(KeyboardInterrupt):
        while _unfinished:
            time.sleep(POLL_SECONDS)

"""Other threads, such that Ctrl-C can't spoil them.

Ctrl-C strikes the main thread between two steps of Python code, also inside `threading` and `concurrent.futures`,
whose locks then are never given back: a worker waits for ever, and the exit of the interpreter waits for the worker.
Here are only raw threads and simple queues, whose operations are single steps.
"""

from __future__ import annotations

import atexit
import os
import time
from _thread import get_ident, start_new_thread
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

POLL_SECONDS = 0.05  # between looks for Ctrl-C where the system does not report it to one who waits
Result = TypeVar("Result")


class Aside(Generic[Result]):
    """A call in a thread of its own, out of the reach of Ctrl-C; the exit of the interpreter waits for its end.

    RuntimeError where no thread can be started.
    """

    def __init__(self, call: Callable[..., Result], *args: Any) -> None:
        self._answer: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()
        start_new_thread(self._run, (call, args))
        atexit.unregister(_wait_for_all)
        atexit.register(_wait_for_all)  # again: before the exit of modules that have been imported since

    def result(self) -> Result:
        """What the call returned or raised, once. Ctrl-C ends the waiting, not the call."""
        while True:
            with suppress(Empty):
                result, error = self._answer.get(timeout=POLL_SECONDS)
                break
        if error is not None:
            raise error
        return result  # type: ignore[no-any-return]

    def _run(self, call: Callable[..., Result], args: tuple[Any, ...]) -> None:
        _unfinished.add(get_ident())
        try:
            answer: tuple[Any, BaseException | None] = call(*args), None
        except BaseException as error:
            answer = None, error
        _unfinished.discard(get_ident())
        self._answer.put(answer)


class Helpers:
    """Threads that wait for something to do as long as the process lives; nobody waits for them."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._threads = 0

    def ask(self, call: Callable[[], None], times: int) -> None:
        """So many threads shall make this call, which must not raise. RuntimeError where they can't be started."""
        while self._threads < times:
            start_new_thread(self._serve, ())
            self._threads += 1
        for _ in range(times):
            self._calls.put(call)

    def _serve(self) -> None:
        while True:
            self._calls.get()()


_unfinished: set[int] = set()  # threads with a call that is under way
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_unfinished.clear)


def _wait_for_all() -> None:
    while _unfinished:
        time.sleep(POLL_SECONDS)

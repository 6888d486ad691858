"""CPU seconds of a call, on one thread, warm.

A call that is short is repeated: the clock of a process may tick in milliseconds. Threads of the linear-algebra
library count as CPU time of the process while they wait, so where `threadpoolctl` is installed (scikit-learn brings
it) they are switched off.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import TypeVar

from bisimetric._support.cores import one_thread

BATCH = 0.05  # CPU seconds at least in one go
GROWTH = 4  # of the number of calls in a go that was too short
Result = TypeVar("Result")


def cpu_seconds(work: Callable[[], Result]) -> tuple[Result, float]:
    """The result, and the CPU seconds of one call, by the first go that takes long enough."""
    calls = 1
    while True:
        began = time.process_time()
        for _ in range(calls):
            result = work()
        spent = time.process_time() - began
        if spent >= BATCH:
            return result, spent / calls
        calls *= GROWTH


@contextmanager
def single_threaded() -> Iterator[None]:
    """Inside, this package and the linear algebra below it work with one thread."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:
        limits = nullcontext()
    else:
        limits = threadpool_limits(1)
    with limits, one_thread():
        yield

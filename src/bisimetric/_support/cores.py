"""How many processors this process may use, and how many threads it works with."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from bisimetric._support.cgroups import control_groups
from bisimetric.errors import InvalidOption

THREADS_VARIABLE = "BISIMETRIC_THREADS"
_limit: ContextVar[int | None] = ContextVar("limit", default=None)  # on the threads of a `with one_thread()` block


def thread_count() -> int:
    """Threads to work with: BISIMETRIC_THREADS, or one on every processor that this process may run on."""
    limit = _limit.get()
    if limit is not None:
        return limit
    wish = os.environ.get(THREADS_VARIABLE, "")
    if not wish:
        return _processors()
    if not (wish.isascii() and wish.isdigit()) or int(wish) < 1:
        raise InvalidOption(f"{THREADS_VARIABLE} is {wish!r}, expected a positive whole number")
    return int(wish)


@contextmanager
def one_thread() -> Iterator[None]:
    """Work with one thread inside; other threads of the program are not affected."""
    token = _limit.set(1)
    try:
        yield
    finally:
        _limit.reset(token)


def core_count() -> int:
    """Processors that this process may use: those that it may run on, limited by the share of its control groups."""
    shares = [_share(*group) for group in control_groups("cpu")]
    return min([_processors(), *(math.ceil(share) for share in shares if share is not None)])


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _share(group: Path, version: int) -> float | None:
    """The processors that a group may use at a time; None without a limit."""
    try:
        if version == 2:
            quota, period = (group / "cpu.max").read_text().split()
        else:
            quota, period = ((group / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        share = int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):  # no such group, or "max"
        return None
    return share if share > 0 else None

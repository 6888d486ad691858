"""Who looks on while something is computed: a watcher in the context, which every solve and every long sweep tells.

So a progress line needs no argument on the way down, and covers solves inside of others too.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Watcher(Protocol):
    """Is told how the work goes, by the thread that works; it must be quick and must not raise."""

    def began(self) -> None:
        """A solve has begun."""
        ...

    def stepped(self, step: int, gap: float, estimate: float | None) -> None:
        """A step of the solver is over; it believes that max(upper - lower) is `gap`, and estimates the distance."""
        ...

    def certified(self, interval: tuple[float, float] | None, gap: float) -> None:
        """The checker has proved bounds: on the distance between the starts, if any, and max(upper - lower)."""
        ...

    def worked(self, share: float) -> None:
        """So much of a piece of work, such as a sweep over all pairs, is done; a smaller number begins a new one."""
        ...


WATCHER: ContextVar[Watcher | None] = ContextVar("WATCHER", default=None)


@contextmanager
def watched(watcher: Watcher | None) -> Iterator[None]:
    """Tell this watcher about the work inside; None tells nobody."""
    token = WATCHER.set(watcher)
    try:
        yield
    finally:
        WATCHER.reset(token)

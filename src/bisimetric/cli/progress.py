"""A line on stderr that shows what is being done during long work, with the certified interval as it shrinks.

It appears after `DELAY` seconds and only on a terminal that can redraw a line. rich redraws it in its own thread; the
kernels release the interpreter lock, so this works during a solve. Everything inside the `with` block is watched, also
solves of which a command does not know (`_support/watching`). Intervals are intersected: each of them holds.
"""

from __future__ import annotations

import math
import os
import sys
import time
from contextlib import ExitStack
from threading import Timer
from typing import TYPE_CHECKING

from bisimetric._support.watching import watched
from bisimetric.cli.messages import digits, duration, is_quiet

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner

DELAY = 1.5  # seconds before the line appears
REDRAWS = 8  # redraws of the line per second
LONG_WORK = 1.0  # seconds after which the share of a sweep is shown
WIDEST_DIGITS = 28  # characters of an interval; a wider one is shown by its gap


class Progress:
    """A context in which the line is shown; it watches the work inside."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._doing = ""
        self._timer: Timer | None = None
        self._live: Live | None = None
        self._context = ExitStack()
        self.began()

    def __enter__(self) -> Progress:
        if not is_quiet() and is_terminal():
            self._context.enter_context(watched(self))
            self._timer = Timer(DELAY, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._context.close()
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._live is not None:
            self._live.stop()

    def doing(self, what: str) -> None:
        """Begin a new phase."""
        self._doing = what
        self.began()

    def began(self) -> None:
        """Forget what was said about another solve."""
        self._step: tuple[int, float, float | None] | None = None  # number, gap and estimate
        self._interval = -math.inf, math.inf
        self._gap = math.inf  # certified
        self._share, self._work_began = 1.0, math.inf

    def stepped(self, step: int, gap: float, estimate: float | None) -> None:
        """Take note of a solver step."""
        self._step, self._share, self._work_began = (step, gap, estimate), 1.0, math.inf

    def certified(self, interval: tuple[float, float] | None, gap: float) -> None:
        """Take note of certified bounds."""
        self._gap = min(self._gap, gap)
        if interval is not None:
            self._interval = max(self._interval[0], interval[0]), min(self._interval[1], interval[1])

    def worked(self, share: float) -> None:
        """Take note of a part of a sweep."""
        if share <= self._share:
            self._work_began = time.perf_counter()
        self._share = share

    def line(self) -> str:
        """The line as it is now."""
        step = self._step  # another thread may replace it
        parts = [self._doing]
        if step is not None:
            parts.append(f"step {step[0]}")
        parts += self._known()
        if step is not None and math.isfinite(step[1]):
            parts.append(f"gap {step[1]:.0e}" if step[2] is None else f"about {step[2]:.4g} ± {step[1]:.0e}")
        now = time.perf_counter()
        if self._share < 1.0 and now - self._work_began > LONG_WORK:
            parts.append(f"sweep {self._share:.0%}")
        seconds = now - self._began
        parts.append(f"{seconds:.0f} s" if seconds < 60 else duration(seconds))
        return ", ".join(parts)

    def _known(self) -> list[str]:
        """The certified interval, or how wide all intervals are at most."""
        low, high = self._interval
        high = max(low, high)  # both hold: only rounding can exchange them
        if math.isfinite(low) and math.isfinite(high):
            shown = digits((low + high) / 2, low, high).interval
            return [f"certified {shown}"] if len(shown) <= WIDEST_DIGITS else [f"certified ± {(high - low) / 2:.1e}"]
        return [f"certified within {self._gap:.1e}"] if math.isfinite(self._gap) else []

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner
        from rich.text import Text

        spinner = Spinner("dots")

        def redrawn() -> Spinner:
            spinner.update(text=Text(self.line(), no_wrap=True, overflow="ellipsis"))
            return spinner

        console = Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._live = Live(
            console=console, get_renderable=redrawn, transient=True, refresh_per_second=REDRAWS, redirect_stdout=False
        )
        self._live.start(refresh=True)


def is_terminal() -> bool:
    """Whether stderr is a terminal on which a line can be drawn again."""
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

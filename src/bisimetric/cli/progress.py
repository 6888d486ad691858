"""A line on stderr that shows what is being done during long work: phase, step, gap, seconds.

It appears after `DELAY` seconds and only on a terminal. rich redraws it in its own thread; the kernels release the
interpreter lock, so this works during a solve.
"""

from __future__ import annotations

import os
import sys
import time
from threading import Timer
from typing import TYPE_CHECKING

from bisimetric.cli.messages import is_quiet

if TYPE_CHECKING:
    from rich.live import Live
    from rich.spinner import Spinner

    from bisimetric.solving.history import Step

DELAY = 1.5  # seconds before the line appears
REDRAWS = 8  # redraws of the line per second


class Progress:
    """A context in which the line is shown."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._doing = ""
        self._step: Step | None = None
        self._timer: Timer | None = None
        self._live: Live | None = None

    def __enter__(self) -> Progress:
        if not is_quiet() and sys.stderr.isatty() and os.environ.get("TERM") != "dumb":
            self._timer = Timer(DELAY, self._show)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer.join()
        if self._live is not None:
            self._live.stop()

    def doing(self, what: str) -> None:
        """Begin a new phase."""
        self._doing, self._step = what, None

    def on_step(self, step: Step) -> None:
        """Take note of a solver step."""
        self._step = step

    def line(self) -> str:
        """The line as it is now."""
        step = self._step  # another thread may replace it
        parts = [self._doing]
        if step is not None:
            parts.append(f"step {step.step}")
            parts.append(f"gap {step.gap:.1e}")
        parts.append(f"{time.perf_counter() - self._began:.0f} s")
        return ", ".join(parts)

    def _show(self) -> None:
        from rich.console import Console
        from rich.live import Live
        from rich.spinner import Spinner

        spinner = Spinner("dots")

        def redrawn() -> Spinner:
            spinner.update(text=self.line())
            return spinner

        console = Console(stderr=True, markup=False, emoji=False, highlight=False)
        self._live = Live(
            console=console, get_renderable=redrawn, transient=True, refresh_per_second=REDRAWS, redirect_stdout=False
        )
        self._live.start(refresh=True)

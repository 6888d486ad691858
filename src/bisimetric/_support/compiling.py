"""A clock that stands still while kernels are compiled, so that a first solve takes as long as the next one."""

from __future__ import annotations

import time
from typing import Any


class Stopwatch:
    """Adds up the seconds inside `with` blocks; a block inside another one counts once. One thread at a time."""

    def __init__(self) -> None:
        self.total = 0.0
        self._depth = 0
        self._began = 0.0

    def __enter__(self) -> None:
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def __exit__(self, *_: Any) -> None:
        self._depth -= 1
        if self._depth == 0:
            self.total += time.perf_counter() - self._began


COMPILING = Stopwatch()  # loads numba, compiles kernels, or reads compiled ones


class Clock:
    """Seconds since it was made, without those for compilation; they never decrease."""

    def __init__(self) -> None:
        self._began = time.perf_counter()
        self._compiled = COMPILING.total
        self._last = 0.0

    def seconds(self) -> float:
        """Up to now."""
        now = time.perf_counter() - self._began - (COMPILING.total - self._compiled)
        self._last = max(self._last, now)
        return self._last

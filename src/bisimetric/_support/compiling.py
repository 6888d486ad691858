"""The seconds that compilation takes; histories leave them out, so that a first solve takes as long as the next."""

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

"""The time limit of one solve: how long steps may go on, so that the certificate at the end is in time as well.

A certificate takes about as long each time, so the first one is timed. Where a solve has used more than a hundredth of
its time before the first step, it looks at its first iterate for that purpose; later steps then end so early that a
certificate fits behind them. It may take `GRACE` longer than the limit. One that does not fit even then is given up,
and the answer is what holds before any solver has begun.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

from bisimetric._support.blocks import BLOCK_SECONDS
from bisimetric._support.compiling import COMPILING
from bisimetric._support.threads import DEADLINE, deadline

GRACE = 0.1  # seconds, for the last block of work, the certificate and the answer
GRACE_SHARE = 0.2  # the same as a share of the limit, if that is more
UNTIMED_SHARE = 0.01  # of the limit: a first iterate that is ready by then has a certificate that is cheap enough
CERTIFICATE_SHARE = 0.7  # of the grace, by which the last certificate has to be ready; the answer comes after it
CERTIFICATE_MARGIN = 1.25  # time to reserve for a certificate, relative to the last one


class Clock:
    """Runs from the start of a solve; `seconds` is its time limit, inf for none."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._began, self._compiled = time.perf_counter(), COMPILING.total
        self._surrounding = DEADLINE.get()
        self._certificate: float | None = None  # seconds that the last one took

    @property
    def is_limited(self) -> bool:
        """Whether the solve has a time limit of its own, besides that of surrounding work."""
        return self._seconds < math.inf

    @property
    def elapsed(self) -> float:
        """Seconds since the start, without those that compiling took."""
        return time.perf_counter() - self._began - (COMPILING.total - self._compiled)

    @property
    def is_over(self) -> bool:
        """Whether no further step may begin."""
        return time.perf_counter() > min(self._surrounding, self._last_step())

    @property
    def wants_certificate(self) -> bool:
        """Whether one should be made now, to know how long that takes."""
        used = time.perf_counter() - self._began
        return self.is_limited and self._certificate is None and used > UNTIMED_SHARE * self._seconds

    def work(self) -> AbstractContextManager[None]:
        """What is inside ends with `OutOfTime` when steps should."""
        return deadline(self._last_step() - time.perf_counter()) if self.is_limited else nullcontext()

    @contextmanager
    def certificate(self) -> Iterator[None]:
        """Time a certificate; it ends with `OutOfTime` if it does not fit."""
        began = time.perf_counter()
        token = DEADLINE.set(self._end()) if self.is_limited else None
        try:
            yield
        finally:
            if token is not None:
                DEADLINE.reset(token)
        self._certificate = time.perf_counter() - began

    def _grace(self) -> float:
        return max(GRACE, GRACE_SHARE * self._seconds)

    def _end(self) -> float:
        """When the last certificate has to be ready."""
        return min(self._surrounding, self._began + self._seconds + CERTIFICATE_SHARE * self._grace())

    def _last_step(self) -> float:
        """When steps have to end, so that a block of work under way and a certificate fit behind them."""
        reserved = BLOCK_SECONDS + CERTIFICATE_MARGIN * (self._certificate or 0.0)
        return self._began + self._seconds + min(0.0, CERTIFICATE_SHARE * self._grace() - reserved)

"""What a solve tells those who look on: its steps, and now and then a certified interval.

The interval before the first step is what holds a priori. Later the checker looks at iterates for the watcher's sake.
A look takes about as long as a later step between grids, and a tenth of one between dense chains. The first comes
early, because what holds a priori says little; others wait until all looks together take at most `LOOK_SHARE` of the
time. In between the solver's own estimate and gap are told, which cost nothing and are not certified. Looks for a
watcher are told and forgotten: neither the answer nor its history depends on them. Solvers that are looked at anyway,
the approximate ones, get no further looks.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bisimetric._support.watching import WATCHER
from bisimetric.certificates.interval import Bounds
from bisimetric.certificates.starts import between_starts
from bisimetric.solvers.base import Iterate
from bisimetric.solving.history import Step
from bisimetric.solving.question import Question

LOOK_SHARE = 0.04  # of the time of a solve that looks for a watcher may take
FIRST_LOOK_SHARE = 0.1  # of the time so far that the first look may take
LOOK_PER_STEP = 0.25  # time of the first look relative to that of the step before, as a guess
NO_LOOK_BEFORE = 1.0  # seconds


class StepWatch:
    """Tells the watcher in the context about one solve: now what is known a priori, then its steps."""

    def __init__(self, question: Question[Any, Any, Any, Any]) -> None:
        watcher = WATCHER.get()
        assert watcher is not None
        watcher.began()
        known, laws = question.a_priori(), question.starts()
        found = None if laws is None else between_starts(known, *laws)
        watcher.certified(None if found is None else (found.lower, found.upper), known.gap)
        self._question, self._watcher = question, watcher
        self._began = self._last = time.perf_counter()
        self._spent = 0.0  # seconds, on looks
        self._look_seconds: float | None = None  # of the last look

    def after(self, step: Step, iterate: Iterate[Any], bounds: Bounds | None) -> None:
        """A step is over; `bounds` are those of a look that the loop has taken."""
        self._watcher.stepped(step.step, step.gap, self._estimate(iterate))
        if bounds is not None:
            self._watcher.certified(step.interval, bounds.gap)
        elif self._has_time():
            self._look(iterate)
        self._last = time.perf_counter()

    def _estimate(self, iterate: Iterate[Any]) -> float | None:
        """The solver's own value at the starts, if both models begin in one state."""
        laws = self._question.starts()
        if laws is None or not self._question.values_are_distances or any(np.count_nonzero(law) != 1 for law in laws):
            return None
        scale: float = self._question.operator.scale
        return float(iterate.value[int(laws[0].argmax()), int(laws[1].argmax())]) / scale

    def _has_time(self) -> bool:
        """Whether a look now keeps within its share; approximate solvers have looks of their own."""
        now = time.perf_counter()
        if self._question.solver.default_tol == 0.0 or now - self._began < NO_LOOK_BEFORE:
            return False
        if self._look_seconds is None:
            return LOOK_PER_STEP * (now - self._last) <= FIRST_LOOK_SHARE * (now - self._began)
        return self._spent + self._look_seconds <= LOOK_SHARE * (now - self._began)

    def _look(self, iterate: Iterate[Any]) -> None:
        begin = time.perf_counter()
        bounds = self._question.check(iterate)
        self._watcher.certified(self._question.between_starts(bounds, iterate).get("interval"), bounds.gap)
        self._look_seconds = time.perf_counter() - begin
        self._spent += self._look_seconds

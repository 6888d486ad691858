"""What `bisimetric distance` has to tell, before it is known whether as text or as JSON."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np

from bisimetric.cli._verdict import Verdict
from bisimetric.solving.solution import Solution
from bisimetric.views.explanation import Explanation

TOP = 8  # pairs listed, of the explanation or of the closest


@dataclass(frozen=True, slots=True)
class PairDistance:
    """The distance between two states."""

    source: str
    target: str
    distance: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The distances between all states, in short."""

    n_pairs: int
    zero_pairs: int  # at a proved distance of zero
    smallest: PairDistance
    median: PairDistance
    largest: PairDistance
    closest: tuple[PairDistance, ...]  # of those not at zero, nearest first


@dataclass(frozen=True, slots=True)
class Expense:
    """What it took, from reading the input to the answer."""

    cpu: float  # seconds
    wall: float  # seconds
    memory: int | None  # bytes at the peak, where the system tells


class Meter:
    """Measures an `Expense` from when it is made."""

    def __init__(self) -> None:
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    def read(self) -> Expense:
        """What was spent so far."""
        return Expense(time.process_time() - self._cpu, time.perf_counter() - self._wall, _peak_memory())


@dataclass(frozen=True, slots=True)
class Outcome:
    """A solution with what is told about it: an explanation if both chains have starts, else a summary."""

    source: str  # as the user wrote it
    target: str
    cost: str
    solution: Solution
    explanation: Explanation | None
    summary: Summary | None
    expense: Expense
    limit: float | None
    verdict: Verdict | None


def has_starts(solution: Solution) -> bool:
    """Whether there is one distance to speak of."""
    return solution.problem.source.start is not None and solution.problem.target.start is not None


def summarise(solution: Solution) -> Summary:
    """The distances between all states, in short."""
    flat = solution.value.ravel()
    middle = (len(flat) - 1) // 2
    apart = np.flatnonzero(flat > 0.0)
    near = apart[np.argpartition(flat[apart], TOP)[:TOP]] if len(apart) > TOP else apart
    near = near[np.lexsort((near, flat[near]))]
    return Summary(
        len(flat),
        int(np.count_nonzero(solution.upper == 0.0)),
        pair_at(solution, int(flat.argmin())),
        pair_at(solution, int(np.argpartition(flat, middle)[middle])),
        pair_at(solution, int(flat.argmax())),
        tuple(pair_at(solution, int(place)) for place in near),
    )


def pair_at(solution: Solution, place: int) -> PairDistance:
    """The distance at a flat index."""
    x, y = divmod(place, solution.problem.shape[1])
    names = solution.problem.source.name_of(x), solution.problem.target.name_of(y)
    numbers = (float(bound[x, y]) for bound in (solution.value, solution.lower, solution.upper))
    return PairDistance(*names, *numbers)


def _peak_memory() -> int | None:
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024

"""Which problems are solved side by side: small ones, with equal discounts and cost errors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from bisimetric.certificates.interval import SUBNORMAL_BELOW
from bisimetric.models.rows import Mask, offsets
from bisimetric.operators.side_by_side import scales
from bisimetric.problems.discounted import Problem
from bisimetric.problems.side_by_side import ManyProblems

MOST_TOGETHER, FEWEST_TOGETHER = 256, 64  # problems in one batch: 12 milliseconds for four states, and 3
BATCHES = 16  # of a list that is long enough: threads then end at about the same time
MOST_BATCHED_PAIRS = 64  # of states, in a problem that belongs into a batch; larger ones have little to gain


def fitting(problems: Sequence[object], wave: Iterable[int] | None = None) -> list[int]:
    """The places of problems that are small and plain enough for a batch, and whose costs lose nothing when scaled.

    `wave` are the places to look at, by default all.
    """
    places = [
        place
        for place, problem in (enumerate(problems) if wave is None else ((k, problems[k]) for k in wave))
        if type(problem) is Problem
        and problem.cost.size <= MOST_BATCHED_PAIRS
        and problem.discount > 0.0
        and not problem.uncertain
    ]
    exact: list[bool] = []
    for first in range(0, len(places), MOST_TOGETHER):
        exact += _scale_exactly([problems[place] for place in places[first : first + MOST_TOGETHER]]).tolist()  # type: ignore[misc]
    return [place for place, is_exact in zip(places, exact, strict=True) if is_exact]


def _scale_exactly(problems: Sequence[Problem]) -> Mask:
    """[problems], whether a power of two brings the costs into the range of kernels and back without rounding."""
    counts = np.array([problem.cost.size for problem in problems])
    at, cost = offsets(counts), np.concatenate([problem.cost for problem in problems], axis=None)
    large_enough = np.maximum.reduceat(cost, at[:-1]) >= SUBNORMAL_BELOW
    scale = np.repeat(scales(np.where(np.repeat(large_enough, counts), cost, 1.0), at), counts)
    exact: Mask = np.logical_and.reduceat(cost * scale / scale == cost, at[:-1])
    return large_enough & exact


def batches(problems: Sequence[Problem], places: Sequence[int]) -> Iterator[tuple[list[int], ManyProblems]]:
    """The problems at these places, put together; those that stop somewhere have batches of their own.

    A problem that is the only one of its kind is in none.
    """
    found: dict[tuple[float, float, bool], list[int]] = {}
    for place in places:
        problem = problems[place]
        found.setdefault((problem.discount, problem.cost_error, problem.stop is not None), []).append(place)
    size = min(MOST_TOGETHER, max(FEWEST_TOGETHER, len(places) // BATCHES))
    for alike in found.values():
        for first in range(0, len(alike), size):
            some = alike[first : first + size]
            if len(some) > 1:
                yield some, ManyProblems([problems[place] for place in some])

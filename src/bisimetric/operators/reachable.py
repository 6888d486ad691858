"""The part of a problem that the distance between the starts depends on.

A pair (x', y') can follow (x, y) under some coupling if and only if P(x'|x) > 0 and Q(y'|y) > 0. Pairs that cannot be
reached from the starts do not change their distance, so the reduced problem stops there at no cost, and an exact solver
works on the other pairs only.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric.errors import InvalidProblem
from bisimetric.models.chain import MarkovChain
from bisimetric.operators.bellman import as_rows
from bisimetric.problems.discounted import Problem

BYTES_PER_QUEUED_PAIR = 20  # the queue, the mask of seen pairs, and the problem's new cost and stops


def reachable_part(problem: Problem) -> Problem:
    """The problem with a free stop at every pair that the starts do not lead to, marked as not solved."""
    if problem.uncertain:
        raise InvalidProblem(
            "a chain has row_error or start_error, so it may lead to any state; pairs='all' solves every pair"
        )
    starts = problem.source.start, problem.target.start
    for role, start in zip(("source", "target"), starts, strict=True):
        if start is None:
            raise InvalidProblem(
                f"the {role} chain has no start, so no pair is reachable from it; "
                "chain.with_start(...) sets one, pairs='all' solves every pair"
            )
    require_room_for_reachable(problem.source, problem.target, beside=0)
    stop = np.zeros((0, 0), np.bool_) if problem.stop is None else problem.stop.copy()
    seen = reached(problem, stop)
    ended = ~seen if problem.stop is None else ~seen | problem.stop
    cost = np.where(seen, problem.cost, 0.0)
    return problem.part(problem.source, problem.target, cost, ended, unsolved=~seen)


def require_room_for_reachable(source: MarkovChain, target: MarkovChain, *, beside: int) -> None:
    """Raise before anything is allocated if finding the reachable pairs, `beside` bytes a pair, takes too much."""
    n, m = source.n_states, target.n_states
    needed = (BYTES_PER_QUEUED_PAIR + beside) * n * m
    memory.require(needed, f"finding the reachable of {n} x {m} pairs", "compare parts of the chains")


def reached(problem: Problem, stop: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The pairs that the starts lead to; `stop` is writable, and empty where nothing stops."""
    n, m = problem.shape
    seen = np.zeros((n, m), np.bool_)
    assert problem.source.start is not None
    assert problem.target.start is not None
    seen[np.ix_(problem.source.start > 0.0, problem.target.start > 0.0)] = True
    first = np.flatnonzero(seen)
    queue = np.empty(n * m, np.int64)
    queue[: len(first)] = first
    source, target = as_rows(problem.source.transitions), as_rows(problem.target.transitions)
    begin, filled = 0, len(first)
    while begin < filled < n * m:
        begin, filled = kernels.listing.reach(begin, queue, filled, stop, source, target, seen)
    return seen

"""Solving many pairs of chains, in this process or in worker processes.

A worker gets one pair at a time, or a few if they are short, so that it does not wait for this process. A user's cost
function is called in this process only: workers get the array that it returned.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from numbers import Integral
from queue import Empty, SimpleQueue

from bisimetric._support.cores import core_count
from bisimetric._support.threads import POLL_SECONDS
from bisimetric.errors import InvalidOption, PairFailed
from bisimetric.many.question import Pair, PairOutcome, PairQuestion, name_pair_in_errors, solve_pair
from bisimetric.many.worker import Worker, portable, without_ctrl_c

SHORT_SECONDS = 0.05  # pairs below this are short: waiting for the next one takes a notable part of their time
AHEAD = 4  # short pairs that a worker holds at a time


def outcomes(question: PairQuestion, pairs: Sequence[Pair], workers: int) -> Generator[PairOutcome, None, None]:
    """Yield the outcomes of all pairs as they arrive, in order if this process solves all; raises the first error."""
    solving = _by_workers(question, pairs, workers) if workers > 1 else _by_this_process(question, pairs)
    with closing(solving) as arriving:
        for outcome in arriving:
            if outcome.error is not None:
                raise outcome.error
            yield outcome


def checked_n_jobs(n_jobs: object) -> int:
    """A number of processes, or -1 for one on every core."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or not (int(n_jobs) >= 1 or n_jobs == -1):
        raise InvalidOption(f"n_jobs is {n_jobs!r}, expected a number of processes ≥ 1, or -1 for one on every core")
    return int(n_jobs)


def worker_count(n_jobs: int, pairs: int) -> int:
    """The number of processes to use; 1 stands for this one."""
    if n_jobs == 1 or pairs < 2:
        return 1
    return min(core_count() if n_jobs == -1 else n_jobs, pairs)


def _by_this_process(question: PairQuestion, pairs: Sequence[Pair]) -> Generator[PairOutcome, None, None]:
    for number, pair in enumerate(pairs):
        yield solve_pair(question, number, pair)


def _by_workers(question: PairQuestion, pairs: Sequence[Pair], workers: int) -> Generator[PairOutcome, None, None]:
    arrived: SimpleQueue[tuple[Worker, PairOutcome | None]] = SimpleQueue()
    waiting = iter(enumerate(pairs))
    team: list[Worker] = []

    def give(worker: Worker, at_most: int) -> None:
        """Send pairs to a worker until it holds `at_most` of them, or none are left."""
        while len(worker.sent) < at_most:
            number, pair = next(waiting, (0, None))
            if pair is None:
                return
            if not question.cost_is_known:
                with name_pair_in_errors(pair.i, pair.j):
                    pair = pair._replace(problem=pair.pose(question))
            worker.send(number, pair)

    try:
        _start(team, question, workers, arrived)
        for worker in team:
            give(worker, 1)
        while any(worker.sent for worker in team):
            worker, outcome = _next(arrived)
            if outcome is None:
                if worker.sent:
                    raise worker.loss_error()
                continue
            worker.sent.pop(0)
            give(worker, AHEAD if outcome.seconds < SHORT_SECONDS else 1)
            yield outcome
    finally:
        with without_ctrl_c():
            for worker in team:
                worker.end()


def _start(
    team: list[Worker], question: PairQuestion, workers: int, arrived: SimpleQueue[tuple[Worker, PairOutcome | None]]
) -> None:
    sent = portable(question if question.cost_is_known else replace(question, cost=None), "the question")
    try:
        with without_ctrl_c():
            for _ in range(workers):
                team.append(Worker(sent, arrived))
    except (OSError, RuntimeError) as error:
        raise PairFailed(f"no worker process can be started: {error}; use fewer n_jobs", None) from error


def _next(arrived: SimpleQueue[tuple[Worker, PairOutcome | None]]) -> tuple[Worker, PairOutcome | None]:
    """The next outcome, or None for a worker that ended; Ctrl-C ends the wait on all systems."""
    while True:
        with suppress(Empty):
            return arrived.get(timeout=POLL_SECONDS)

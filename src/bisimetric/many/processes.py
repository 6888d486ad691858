"""Chunks of pairs, solved by this process or by worker processes of our own.

A worker gets one chunk at a time, or two if they are short, so that it does not wait for this process. One that is lost
is replaced, and the chunk that it was at is answered with the reason; the others that it had are sent again.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import NamedTuple

from bisimetric._support.threads import POLL_SECONDS, seconds_left
from bisimetric.errors import PairFailed
from bisimetric.many.chunks import Chunk, portable, solve_chunk, task_of
from bisimetric.many.question import PairOutcome, PairQuestion
from bisimetric.many.worker import Arrived, Worker, without_ctrl_c

SHORT_SECONDS = 0.1  # chunks below this are short: waiting for the next one takes a notable part of their time
AHEAD = 2  # short chunks that a worker holds at a time, so that it does not wait for the next
GRACE_SECONDS = 0.05  # after a deadline, for what workers have finished by then and is under way
MOST_LOSSES = 3  # workers lost one after the other, without an answer of any in between, that are replaced


class ChunkAnswer(NamedTuple):
    """The outcomes of a chunk, or None and why if whoever had it was lost."""

    chunk: Chunk
    outcomes: list[PairOutcome] | None
    why: str = ""


def sent_question(question: PairQuestion) -> bytes:
    """The question as it is sent to other processes; a user's cost function stays in this one."""
    return portable(question if question.cost_is_known else replace(question, cost=None), "the question")


@dataclass(frozen=True, slots=True)
class ThisProcess:
    """Solve all chunks here, in order."""

    workers: int = 1
    sends: bool = False  # whether models travel to other processes

    def answers(self, question: PairQuestion, chunks: Iterable[Chunk]) -> Generator[ChunkAnswer, None, None]:
        """Yield the answers as they come, one for every pair that is solved alone."""
        for chunk in chunks:
            if seconds_left() <= 0.0:
                return
            for outcome in solve_chunk(question, chunk):
                yield ChunkAnswer(chunk, [outcome])


@dataclass(frozen=True, slots=True)
class Processes:
    """Solve chunks in processes that belong to this run alone."""

    workers: int
    sends: bool = True

    def answers(self, question: PairQuestion, chunks: Iterable[Chunk]) -> Generator[ChunkAnswer, None, None]:
        """Yield the answers as they arrive."""
        run = _TeamRun(question, chunks)
        try:
            run.start(self.workers)
            yield from run.answers()
        finally:
            with without_ctrl_c():
                for worker in run.team:
                    worker.end()


class _TeamRun:
    """Workers, what they have, and what is left to give them."""

    def __init__(self, question: PairQuestion, chunks: Iterable[Chunk]) -> None:
        self._question = question
        self._sent = sent_question(question)
        self._chunks = iter(chunks)
        self._again: deque[Chunk] = deque()  # sent to a worker that was lost before it came to them
        self._failed: deque[ChunkAnswer] = deque()  # pairs whose cost cannot be computed
        self._arrived: SimpleQueue[Arrived] = SimpleQueue()
        self.team: list[Worker] = []

    def start(self, workers: int) -> None:
        """Start workers, and give each a chunk."""
        try:
            with without_ctrl_c():
                for _ in range(workers):
                    self.team.append(Worker(self._sent, self._arrived))
        except (OSError, RuntimeError) as error:
            raise PairFailed(f"no worker process can be started: {error}; use fewer n_jobs", None) from error
        for worker in self.team[-workers:]:
            self._give(worker, 1)

    def answers(self) -> Generator[ChunkAnswer, None, None]:
        """Yield until nothing is left, or no time."""
        losses, why = 0, ""
        while True:
            while self._failed:
                yield self._failed.popleft()
            if not any(worker.sent for worker in self.team):
                break
            arrived = self._next()
            if arrived is None:
                return
            worker, outcomes = arrived
            if outcomes is not None:
                losses = 0
                chunk = worker.sent.pop(0)
                seconds = sum(outcome.seconds for outcome in outcomes)
                self._give(worker, AHEAD if seconds < SHORT_SECONDS else 1)
                yield ChunkAnswer(chunk, outcomes)
                continue
            self.team.remove(worker)
            why = worker.ending()
            if worker.sent:
                chunk, *others = worker.sent
                self._again.extend(others)
                losses += 1
                yield ChunkAnswer(chunk, None, why)
            if losses <= MOST_LOSSES:
                self.start(1)
            for waiting in self.team:
                self._give(waiting, 1)
        while (left := self._take()) is not None:  # no worker is left
            yield ChunkAnswer(left, None, why)

    def _take(self) -> Chunk | None:
        """The next chunk; None if there is none, or no time."""
        if seconds_left() <= 0.0:
            return None
        return self._again.popleft() if self._again else next(self._chunks, None)

    def _give(self, worker: Worker, at_most: int) -> None:
        """Send chunks to a worker until it holds `at_most` of them, or none are left."""
        while len(worker.sent) < at_most:
            chunk = self._take()
            if chunk is None:
                return
            task, failed = task_of(self._question, chunk)
            if failed:
                self._failed.append(ChunkAnswer(chunk, failed))
            if task.places:
                worker.send(chunk, task)

    def _next(self) -> Arrived | None:
        """What arrives next; None when the time is over. Ctrl-C ends the wait on all systems."""
        while (left := seconds_left() + GRACE_SECONDS) > 0.0:
            with suppress(Empty):
                return self._arrived.get(timeout=min(POLL_SECONDS, left))
        return None

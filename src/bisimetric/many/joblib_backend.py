"""Chunks of pairs, solved by a backend of joblib: loky, threading, or any other that is registered there.

Chunks of runs with a store are handed over in waves, so that each wave can leave out what others have put into the
store meanwhile. joblib does not say which worker was lost: all chunks of the wave without an answer get the reason.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

from bisimetric._support.threads import seconds_left
from bisimetric.errors import InvalidOption, MissingExtra
from bisimetric.many.chunks import Chunk, SentChunk, answer_task, task_of
from bisimetric.many.processes import ChunkAnswer, sent_question
from bisimetric.many.question import PairQuestion

WAVE = 16  # chunks for every worker in a wave
WAITING_FOREVER = "multiprocessing"  # joblib's backend that waits forever for a worker that was killed


def joblib_module() -> Any:
    """joblib; raises where it is missing."""
    try:
        import joblib
    except ImportError:
        raise MissingExtra("this backend needs joblib, which is missing: pip install 'bisimetric[ml]'") from None
    return joblib


def surrounding() -> tuple[str | None, int]:
    """The backend that a surrounding `joblib.parallel_config` chose, None if none, and its number of jobs."""
    joblib = sys.modules.get("joblib")
    if joblib is None:
        return None, 1
    from joblib.parallel import get_active_backend

    active, _ = get_active_backend()
    jobs = int(joblib.effective_n_jobs(None))
    kind = type(active).__name__.removesuffix("Backend").lower()
    return (kind if jobs > 1 or kind not in ("loky", "sequential") else None), jobs


@dataclass(frozen=True, slots=True)
class Joblib:
    """Solve chunks by `joblib.Parallel`; without a name by the backend of the surrounding configuration."""

    name: str | None
    workers: int
    sends: bool = True

    def check(self) -> None:
        """Raise unless joblib has the backend."""
        joblib = joblib_module()
        if WAITING_FOREVER in (self.name, None if self.name else surrounding()[0]):
            raise InvalidOption(
                f"backend is {WAITING_FOREVER!r}, which waits forever for a worker that is killed; choose 'loky'"
            )
        try:
            joblib.Parallel(n_jobs=self.workers, backend=self.name, return_as="generator_unordered")
        except (ValueError, TypeError, RuntimeError, ImportError) as error:
            raise InvalidOption(
                f"backend is {self.name!r}, which joblib cannot use here: {error}; besides there are 'ray' and "
                "addresses of Ray clusters, such as 'ray://head:10001'"
            ) from None

    def answers(self, question: PairQuestion, chunks: Iterable[Chunk]) -> Generator[ChunkAnswer, None, None]:
        """Yield the answers as they arrive, wave by wave."""
        sent, waiting = sent_question(question), iter(chunks)
        size = len(chunks) if isinstance(chunks, Sequence) else WAVE * self.workers
        while seconds_left() > 0.0:
            wave = list(islice(waiting, size))
            if not wave:
                return
            unanswered: dict[int, Chunk] = {}
            tasks = []
            for chunk in wave:
                task, failed = task_of(question, chunk)
                if failed:
                    yield ChunkAnswer(chunk, failed)
                if task.places:
                    unanswered[chunk.numbers[0]] = chunk
                    tasks.append((chunk.numbers[0], sent, task))
            with closing(self._wave(tasks)) as arriving:
                for number, answer in arriving:
                    if isinstance(answer, bytes):
                        yield ChunkAnswer(unanswered.pop(number), pickle.loads(answer))
                        continue
                    why = f"its worker was lost ({answer}), perhaps because memory ran out; use fewer n_jobs"
                    for chunk in unanswered.values():
                        yield ChunkAnswer(chunk, None, why)

    def _wave(self, tasks: list[tuple[int, bytes, SentChunk]]) -> Generator[tuple[int, bytes | str], None, None]:
        """The answer to every task, or once the error with which joblib gave up."""
        joblib = joblib_module()
        parallel = joblib.Parallel(
            n_jobs=self.workers,
            backend=self.name,
            return_as="generator_unordered",
            batch_size=1,
            pre_dispatch="2*n_jobs",
        )
        try:
            with closing(parallel(joblib.delayed(_numbered)(*task) for task in tasks)) as arriving:
                yield from arriving
        except Exception as error:  # `answer_task` raises none
            yield -1, f"{type(error).__name__}: {str(error).partition('.')[0]}"


def _numbered(number: int, question: bytes, task: SentChunk) -> tuple[int, bytes]:
    return number, answer_task(question, task)

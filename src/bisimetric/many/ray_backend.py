"""Chunks of pairs, solved by tasks of Ray: on this machine or on a cluster, whose machines need this package too."""

from __future__ import annotations

import pickle
from collections.abc import Generator, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from bisimetric._support.ray import ray_connection
from bisimetric._support.text import printable
from bisimetric._support.threads import POLL_SECONDS, OutOfTime, seconds_left
from bisimetric.many.chunks import Chunk, answer_task, task_of
from bisimetric.many.processes import AHEAD, GRACE_SECONDS, ChunkAnswer, sent_question
from bisimetric.many.question import PairQuestion

LONGEST_LOSS = 160  # characters of an error of Ray


def is_ray(backend: str) -> bool:
    """Whether a backend's name means Ray: "ray", or the address of a cluster, which has a port."""
    return backend == "ray" or ":" in backend


@dataclass(frozen=True, slots=True)
class Ray:
    """Solve chunks by tasks; `workers` at a time, 0 for one on every processor of the cluster but for the `spared`."""

    address: str | None
    workers: int
    spared: int = 0
    sends: bool = True

    def answers(self, question: PairQuestion, chunks: Iterable[Chunk]) -> Generator[ChunkAnswer, None, None]:
        """Yield the answers as they arrive."""
        with suppress(OutOfTime), ray_connection(self.address, self.workers or None) as ray:
            processors = max(1, int(ray.cluster_resources().get("CPU", 1)))
            workers = self.workers or max(1, processors - self.spared)
            at_once = AHEAD * processors if workers == processors else workers
            yield from _answers(ray, question, chunks, at_once)


def _answers(
    ray: Any, question: PairQuestion, chunks: Iterable[Chunk], at_once: int
) -> Generator[ChunkAnswer, None, None]:
    solve = ray.remote(num_cpus=1, max_retries=0)(answer_task)
    sent, waiting = ray.put(sent_question(question)), iter(chunks)
    under_way: dict[Any, Chunk] = {}
    try:
        while True:
            while len(under_way) < at_once and seconds_left() > 0.0:
                chunk = next(waiting, None)
                if chunk is None:
                    break
                task, failed = task_of(question, chunk)
                if failed:
                    yield ChunkAnswer(chunk, failed)
                if task.places:
                    under_way[solve.remote(sent, task)] = chunk
            if not under_way or seconds_left() < -GRACE_SECONDS:
                return
            for done in ray.wait(list(under_way), timeout=POLL_SECONDS)[0]:
                chunk = under_way.pop(done)
                try:
                    found = pickle.loads(ray.get(done))
                except ray.exceptions.RayError as error:
                    words = printable(" ".join(str(error).split()), LONGEST_LOSS)
                    why = f"its Ray worker was lost ({type(error).__name__}: {words})"
                    yield ChunkAnswer(chunk, None, why)
                else:
                    yield ChunkAnswer(chunk, found)
    finally:
        for left in under_way:
            ray.cancel(left, force=True)

"""Solving the chunks of a table, by whoever the backend says, and again where a worker was lost.

A chunk whose worker is lost is solved once more in the same way; then its pairs are solved one by one in worker
processes of our own, which show which of them ends its process. So a killed worker costs the chunk that it had, and a
pair that cannot be solved costs its own distance.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import closing

from bisimetric.errors import PairFailed
from bisimetric.many.backends import Backend
from bisimetric.many.chunks import Chunk
from bisimetric.many.processes import ChunkAnswer, Processes
from bisimetric.many.question import PairOutcome, PairQuestion

Answers = Generator[ChunkAnswer, None, None]


def outcomes(question: PairQuestion, chunks: Iterable[Chunk], backend: Backend) -> Generator[PairOutcome, None, None]:
    """Yield the outcomes of all pairs as they arrive; pairs that a deadline leaves no time for have none."""
    lost = yield from _arriving(backend.answers(question, chunks))
    if lost:
        lost = yield from _arriving(backend.answers(question, [answer.chunk for answer in lost]))
    if lost:
        singles = [single for answer in lost for single in answer.chunk.singles()]
        lost = yield from _arriving(Processes(max(1, backend.workers)).answers(question, singles))
    for answer in lost:
        (number,), (pair,) = answer.chunk
        error = PairFailed(f"pair ({pair.i}, {pair.j}): {answer.why}", (pair.i, pair.j))
        yield PairOutcome(number, 0.0, None, error)


def _arriving(answers: Answers) -> Generator[PairOutcome, None, list[ChunkAnswer]]:
    """Yield the outcomes in all answers; returns the answers that were lost."""
    lost = []
    with closing(answers):
        for answer in answers:
            if answer.outcomes is None:
                lost.append(answer)
            else:
                yield from answer.outcomes
    return lost

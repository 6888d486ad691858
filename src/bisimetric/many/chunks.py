"""Chunks of pairs: what one process is asked to solve at a time.

Pairs of small chains are solved side by side (`solve_many`), where numbers depend in their last digits on which pairs
are together. So chunks are made of all pairs of a table, in an order that only the content of the models decides, and
neither the number of processes nor what a store holds already changes them. Other pairs share a chunk only if they
are short, to save messages; every pair is solved by itself.

The work of a pair is estimated by the sizes of its transports: n·nnz(Q) + m·nnz(P). Chunks come heaviest first, so that
workers finish together; runs that share a store shuffle those of similar work, so that they begin different ones.
"""

from __future__ import annotations

import math
import pickle
import time
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np

from bisimetric._support.blocks import one_thread
from bisimetric._support.threads import OutOfTime, deadline, seconds_left
from bisimetric.errors import InvalidOption, PairFailed, ToleranceNotReached
from bisimetric.many.question import Pair, PairOutcome, PairQuestion, name_pair_in_errors, solve_pair
from bisimetric.many.solve_many import solve_many

SMALL_PAIRS = 64  # pairs of states up to which two chains are solved beside others
CHUNK_STATES = 4096  # of the chains that are solved side by side, on each side
CHUNK_WORK = 2**16  # estimated work of a chunk of short pairs, about 0.05 s
SHARES = 8  # chunks of pairs that are solved one by one for every worker, at least
PAIR_WORK = 2000  # estimated work that every pair has, whatever its size


class Chunk(NamedTuple):
    """Pairs to solve, with their numbers in the table's list."""

    numbers: tuple[int, ...]
    pairs: tuple[Pair, ...]

    def singles(self) -> Iterator[Chunk]:
        """A chunk for every pair."""
        for number, pair in zip(self.numbers, self.pairs, strict=True):
            yield Chunk((number,), (pair,))


def is_small(pair: Pair) -> bool:
    """Whether a pair of chains is solved beside others."""
    return pair.source.n_states * pair.target.n_states <= SMALL_PAIRS


def chunks(pairs: Sequence[Pair], works: Sequence[int], *, batched: bool, workers: int) -> list[Chunk]:
    """Divide the pairs of a table, heaviest first, by their estimated work, so that every worker gets several chunks.

    `batched` if small ones are solved side by side.
    """
    longest = max(1, len(pairs) // (SHARES * workers)) if workers > 1 else 1
    found: list[list[int]] = []
    states = work = 0
    before = False  # whether the last pair is a small one
    for number, (pair, own) in enumerate(zip(pairs, works, strict=True)):
        small = batched and is_small(pair)
        most = max(pair.source.n_states, pair.target.n_states)
        cost = own + PAIR_WORK
        room = work + cost <= CHUNK_WORK and bool(found) and len(found[-1]) < longest
        fits = states + most <= CHUNK_STATES if small else room
        if not found or small != before or not fits:
            found.append([])
            states = work = 0
        found[-1].append(number)
        states, work, before = states + most, work + cost, small
    return [Chunk(tuple(numbers), tuple(pairs[k] for k in numbers)) for numbers in found]


def in_own_order(chunks: Sequence[Chunk], works: Sequence[int], seed: int) -> list[Chunk]:
    """Heaviest first up to a factor of two, otherwise in an order that the seed decides; `works` of pairs by number."""
    shuffled = [chunks[k] for k in np.random.default_rng(seed).permutation(len(chunks))]
    return sorted(shuffled, key=lambda chunk: -works[chunk.numbers[0]].bit_length())


def solve_chunk(question: PairQuestion, chunk: Chunk) -> Iterator[PairOutcome]:
    """Yield the outcomes of the pairs; those that a deadline leaves no time for are missing."""
    try:
        if question.is_batched and len(chunk.pairs) > 1 and is_small(chunk.pairs[0]):
            together = _solve_together(question, chunk)
            if together is not None:
                yield from together
                return
        for number, pair in zip(chunk.numbers, chunk.pairs, strict=True):
            if seconds_left() <= 0.0:
                return
            yield solve_pair(question, number, pair)
    except OutOfTime:
        return


def _solve_together(question: PairQuestion, chunk: Chunk) -> list[PairOutcome] | None:
    """The outcomes of small pairs; None if one of them fails, so that each has to be solved by itself."""
    began = time.perf_counter()
    try:
        problems = [pair.pose(question) for pair in chunk.pairs]
        solutions = solve_many(problems, question.solver, tol=question.tol, throw=False)
        seconds = (time.perf_counter() - began) / len(problems)
        paired = zip(chunk.numbers, chunk.pairs, solutions, strict=True)
        return [PairOutcome(number, seconds, *question.verdict(pair, solution)) for number, pair, solution in paired]
    except OutOfTime:
        raise
    except Exception:
        return None


# ------------------------------------------------------------------ in other processes


class SentChunk(NamedTuple):
    """A chunk as it is sent to another process."""

    chunk: bytes
    places: tuple[tuple[int, int, int], ...]  # number, i and j of every pair, for errors about what cannot be read
    until: float  # time.time() at which to stop; inf without a limit


def portable(thing: object, what: str) -> bytes:
    """A pickle of `thing`, which may be defined in a function or in the main module."""
    import cloudpickle

    try:
        return bytes(cloudpickle.dumps(thing))
    except Exception as error:  # a user's class may raise anything
        raise InvalidOption(
            f"{what} is a {type(thing).__name__} that cannot be sent to another process "
            f"({type(error).__name__}: {error}); use n_jobs=1, or leave out of it what pickle refuses"
        ) from None


def task_of(question: PairQuestion, chunk: Chunk) -> tuple[SentChunk, list[PairOutcome]]:
    """The chunk to send, and the outcomes of pairs whose cost cannot be computed.

    A user's cost function is called in this process only: others get the array that it returned. Costs of this package
    are computed there.
    """
    numbers, pairs, failed = [], [], []
    for number, pair in zip(chunk.numbers, chunk.pairs, strict=True):
        try:
            with name_pair_in_errors(pair.i, pair.j):
                sent = pair if question.cost_is_known else pair._replace(problem=pair.pose(question))
        except PairFailed as error:
            failed.append(PairOutcome(number, 0.0, None, error))
            continue
        numbers.append(number)
        pairs.append(sent)
    places = tuple((number, pair.i, pair.j) for number, pair in zip(numbers, pairs, strict=True))
    left = seconds_left()
    until = math.inf if left == math.inf else time.time() + left
    return SentChunk(portable(Chunk(tuple(numbers), tuple(pairs)), "a chunk of pairs"), places, until), failed


def answer_task(question: bytes, task: SentChunk) -> bytes:
    """The pickled outcomes of a task, computed with one thread; raises nothing but Ctrl-C."""
    try:
        asked, chunk = pickle.loads(question), pickle.loads(task.chunk)
    except Exception as error:  # what was sent cannot be read here
        return pickle.dumps([_unread(error, *place) for place in task.places])
    limit = nullcontext() if task.until == math.inf else deadline(task.until - time.time())
    with one_thread(), limit:
        found = list(solve_chunk(asked, chunk))
    try:
        return pickle.dumps(found)
    except Exception:  # the solution of a user's solver may fail to pickle
        return pickle.dumps([_without_solution(outcome) for outcome in found])


def _unread(error: Exception, number: int, i: int, j: int) -> PairOutcome:
    message = f"pair ({i}, {j}): {type(error).__name__}: {error}"
    return PairOutcome(number, 0.0, None, PairFailed(message, (i, j)))


def _without_solution(outcome: PairOutcome) -> PairOutcome:
    if isinstance(outcome.error, ToleranceNotReached):
        outcome.error.solution = None
    return outcome

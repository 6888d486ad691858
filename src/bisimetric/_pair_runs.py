"""Many pairs of chains one after the other, in this process or in several.

Workers are processes of joblib's loky. They get pairs in batches that joblib sizes by how long the last ones took
(0.2 to 2 seconds), and use one thread each. Errors travel as text, because those with a solution on them cannot.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from bisimetric._chain import MarkovChain
from bisimetric._errors import InvalidOption, PairFailed
from bisimetric._pair_question import Question
from bisimetric._parallel import THREADS_VARIABLE
from bisimetric.io._pair_store import Numbers


class Pair(NamedTuple):
    """The place of two chains in the lists, and the chains."""

    i: int
    j: int
    source: MarkovChain
    target: MarkovChain


class Outcome(NamedTuple):
    """What came of the pair number `number`; neither numbers nor a failure means Ctrl-C in a worker."""

    number: int
    seconds: float
    numbers: Numbers | None
    failure: str = ""


@contextmanager
def naming(i: int, j: int) -> Iterator[None]:
    """Whatever goes wrong inside is the failure of this pair."""
    try:
        yield
    except Exception as error:
        raise _failed(i, j, f"{type(error).__name__}: {error}") from error


def outcomes(question: Question, pairs: Sequence[Pair], workers: int) -> Generator[Outcome, None, None]:
    """The outcomes of all pairs as they come; in order if this process does all."""
    return _by_workers(question, pairs, workers) if workers > 1 else _by_this_process(question, pairs)


def worker_count(n_jobs: object, pairs: int) -> int:
    """How many processes are worth having for `n_jobs`, in which -1 stands for all cores."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise InvalidOption(f"n_jobs is {n_jobs!r}, expected a number of processes ≥ 1, or -1 for one on every core")
    if n_jobs == 1 or pairs < 2:
        return 1
    import joblib

    return min(int(joblib.effective_n_jobs(n_jobs)), pairs)


def _by_this_process(question: Question, pairs: Sequence[Pair]) -> Generator[Outcome, None, None]:
    for number, (i, j, source, target) in enumerate(pairs):
        began = time.perf_counter()
        with naming(i, j):
            numbers = question.answered(source, target)
        yield Outcome(number, time.perf_counter() - began, numbers)


def _by_workers(question: Question, pairs: Sequence[Pair], workers: int) -> Generator[Outcome, None, None]:
    import joblib

    # No memory maps: chains are small beside what is computed from them, and files would outlive a killed run.
    run = joblib.Parallel(workers, backend="loky", return_as="generator_unordered", max_nbytes=None)
    tasks = (joblib.delayed(_attempt)(question, number, *pair[2:]) for number, pair in enumerate(pairs))
    results: Any = None
    try:
        results = run(tasks)
        for outcome in results:
            if outcome.failure:
                pair = pairs[outcome.number]
                raise _failed(pair.i, pair.j, outcome.failure)
            if outcome.numbers is None:
                raise KeyboardInterrupt
            yield outcome
    except BrokenExecutor:
        raise PairFailed(
            "a worker process was ended from outside, perhaps because memory ran out; use fewer n_jobs", None
        ) from None
    finally:
        if results is not None:
            with suppress(_Abandoned):
                results.throw(_Abandoned)  # joblib then kills its workers; close() would do that with a warning


class _Abandoned(Exception):
    """Nobody waits for the results any more."""


def _attempt(question: Question, number: int, source: MarkovChain, target: MarkovChain) -> Outcome:
    """One pair, in a worker."""
    began = time.perf_counter()
    try:
        with _one_thread():
            numbers = question.answered(source, target)
    except KeyboardInterrupt:
        return Outcome(number, time.perf_counter() - began, None)
    except Exception as error:
        return Outcome(number, time.perf_counter() - began, None, f"{type(error).__name__}: {error}")
    return Outcome(number, time.perf_counter() - began, numbers)


@contextmanager
def _one_thread() -> Iterator[None]:
    """Workers together use as many cores as there are of them; they may be the caller's for other work later."""
    before = os.environ.get(THREADS_VARIABLE)
    os.environ[THREADS_VARIABLE] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[THREADS_VARIABLE]
        else:
            os.environ[THREADS_VARIABLE] = before


def _failed(i: int, j: int, cause: str) -> PairFailed:
    return PairFailed(f"pair ({i}, {j}): {cause}", (i, j))

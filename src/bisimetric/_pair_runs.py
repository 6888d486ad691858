"""Many pairs of chains one after the other, in this process or in several.

Workers are processes of joblib's loky. They get pairs in batches that joblib sizes by how long the last ones took
(0.2 to 2 seconds), and use one thread each. Errors travel as text, without the solution that some carry.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from functools import lru_cache
from numbers import Integral
from typing import Any, NamedTuple

from bisimetric._chain import MarkovChain
from bisimetric._errors import InvalidOption, PairFailed
from bisimetric._pair_question import Question
from bisimetric._parallel import one_thread
from bisimetric._problem import Problem
from bisimetric.io._pair_store import Numbers

WATCH_SECONDS = 0.5  # between two looks for the parent


class Pair(NamedTuple):
    """The place of two chains in the lists, the chains, and perhaps what is asked of them."""

    i: int
    j: int
    source: MarkovChain
    target: MarkovChain
    problem: Problem | None = None

    def asked(self, question: Question) -> Problem:
        """What is asked of them, with the chains in the order in which it is solved."""
        return question.asked(self.source, self.target).problem if self.problem is None else self.problem


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


def checked_n_jobs(n_jobs: object) -> int:
    """A number of processes, or -1 for one on every core."""
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or not (int(n_jobs) >= 1 or n_jobs == -1):
        raise InvalidOption(f"n_jobs is {n_jobs!r}, expected a number of processes ≥ 1, or -1 for one on every core")
    return int(n_jobs)


def worker_count(n_jobs: int, pairs: int) -> int:
    """How many processes there are to be; 1 stands for this one."""
    if n_jobs == 1 or pairs < 2:
        return 1
    import joblib

    return min(int(joblib.effective_n_jobs(n_jobs)), pairs)


def _by_this_process(question: Question, pairs: Sequence[Pair]) -> Generator[Outcome, None, None]:
    for number, pair in enumerate(pairs):
        began = time.perf_counter()
        with naming(pair.i, pair.j):
            numbers = question.answered(pair.asked(question))
        yield Outcome(number, time.perf_counter() - began, numbers)


def _by_workers(question: Question, pairs: Sequence[Pair], workers: int) -> Generator[Outcome, None, None]:
    import joblib

    # No memory maps: chains are small beside what is computed from them, and files would outlive a killed run.
    run = joblib.Parallel(workers, backend="loky", return_as="generator_unordered", max_nbytes=None)
    me = os.getpid()
    tasks = (joblib.delayed(_attempt)(me, question, number, pair) for number, pair in enumerate(pairs))
    results: Any = None
    try:
        with _without_ctrl_c():
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


def _attempt(parent: int, question: Question, number: int, pair: Pair) -> Outcome:
    """One pair, in a worker."""
    _end_with(parent)
    began = time.perf_counter()
    try:
        with one_thread():  # workers together use as many cores as there are of them
            numbers = question.answered(pair.asked(question))
    except KeyboardInterrupt:
        return Outcome(number, time.perf_counter() - began, None)
    except Exception as error:
        return Outcome(number, time.perf_counter() - began, None, f"{type(error).__name__}: {error}")
    return Outcome(number, time.perf_counter() - began, numbers)


@lru_cache(maxsize=1)
def _end_with(parent: int) -> None:
    """Let this worker end when its parent is gone: after kill -9 it would wait for work for minutes."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(WATCH_SECONDS)
        os._exit(1)

    if os.name == "posix":  # elsewhere orphans keep the number of their parent, or have that of a launcher
        threading.Thread(target=watch, name="bisimetric-watch", daemon=True).start()


@contextmanager
def _without_ctrl_c() -> Iterator[None]:
    """What is started here does not see Ctrl-C, which else ends workers with a traceback; this process ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()  # a worker's start would start this, which lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _failed(i: int, j: int, cause: str) -> PairFailed:
    return PairFailed(f"pair ({i}, {j}): {cause}", (i, j))

"""A process that solves pairs for one run.

It is a new interpreter that shares no state with its parent and does not run the parent's main module again. It reads
the question and then pairs from its standard input, one pickle after the other, and writes a `PairOutcome` for each to
its standard output; what a solver prints goes to the standard error. It computes with one thread. Its parent may kill
it at any instant, and it ends itself when its parent is gone. Every run has its own workers, so that ending them does
not affect other runs.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from _thread import start_new_thread
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import IO, Any

from bisimetric._support.blocks import THREADS_VARIABLE
from bisimetric.errors import InvalidOption, PairFailed, ToleranceNotReached
from bisimetric.many.question import Pair, PairOutcome, PairQuestion, name_pair_in_errors, solve_pair
from bisimetric.models.chain import MarkovChain

WATCH_SECONDS = 0.5  # between two checks that the parent is there
START_WORKER = (
    "import sys; sys.path[:] = sys.argv[2:]; from bisimetric.many.worker import serve; serve(int(sys.argv[1]))"
)
THREADS_BELOW = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


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


def check_portable(question: PairQuestion, chains: Sequence[MarkovChain], name: str) -> None:
    """Raise unless the solver and the chains can be sent to workers; a cost function stays in this process."""
    portable(question.solver, "solver")
    for k, chain in enumerate(chains):
        portable(chain, f"{name}[{k}]")


class Worker:
    """The process as its parent sees it; a thread puts its outcomes into `arrived`, and None when it has ended."""

    def __init__(self, question: bytes, arrived: SimpleQueue[tuple[Worker, PairOutcome | None]]) -> None:
        from multiprocessing.spawn import get_executable

        self.sent: list[Pair] = []  # pairs without an outcome yet, in the order in which it solves them
        places = [place for place in sys.path if isinstance(place, str)]
        self._process = subprocess.Popen(
            [get_executable() or "", "-c", START_WORKER, str(os.getpid()), *places],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None if _is_open(2) else subprocess.DEVNULL,
            env={**dict.fromkeys(THREADS_BELOW, "1"), **os.environ, THREADS_VARIABLE: "1"},
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # Windows: Ctrl-C goes to process groups
        )
        try:
            start_new_thread(self._read, (arrived,))
        except RuntimeError:
            self.end()
            self._read(arrived)  # closes the output
            raise
        self._write(question)

    def send(self, number: int, pair: Pair) -> None:
        """Send one more pair."""
        self.sent.append(pair)
        self._write((number, pair.i, pair.j, portable(pair, f"pair ({pair.i}, {pair.j})")))

    def loss_error(self) -> PairFailed:
        """The error to raise if the process ended without an answer."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(WATCH_SECONDS)
        code = self.end()
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        i, j = self.sent[0][:2]
        return PairFailed(
            f"pair ({i}, {j}): its worker process was ended {how}, perhaps because memory ran out; use fewer n_jobs",
            (i, j),
        )

    def end(self) -> int:
        """End the process at once; its exit code."""
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        self._process.kill()
        return self._process.wait()

    def _write(self, message: object) -> None:
        assert self._process.stdin is not None
        with suppress(OSError):  # the process is gone; the reading thread notices
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def _read(self, arrived: SimpleQueue[tuple[Worker, PairOutcome | None]]) -> None:
        assert self._process.stdout is not None
        with suppress(Exception), self._process.stdout as answers:  # the output may end anywhere
            while True:
                arrived.put((self, pickle.load(answers)))
        arrived.put((self, None))


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """Hold back Ctrl-C inside; workers started inside never get it, so that only their parent ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


# ------------------------------------------------------------------ inside the process


def serve(parent: int) -> None:
    """Solve pairs until the parent ends this process."""
    pairs, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # prints go to the standard error, not between the answers
    inbox: SimpleQueue[Any] = SimpleQueue()
    start_new_thread(_receive, (pairs, inbox))
    if os.name == "posix":  # on other systems the parent's number does not show that the parent is gone
        start_new_thread(_end_with, (parent,))
    question = inbox.get()
    while True:
        answers.write(_answer(question, *inbox.get()))
        answers.flush()


def _receive(pairs: IO[bytes], inbox: SimpleQueue[Any]) -> None:
    """Read pairs as soon as they come, so that the parent never waits; end when the parent closes the input."""
    try:
        while True:
            inbox.put(pickle.load(pairs))
    finally:
        os._exit(1)


def _end_with(parent: int) -> None:
    """End when the parent is gone, although a fork of it may still hold the other end of the input."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)


def _answer(question: bytes, number: int, i: int, j: int, pair: bytes) -> bytes:
    """The pickled outcome of one pair."""
    try:
        with name_pair_in_errors(i, j):
            found = solve_pair(pickle.loads(question), number, pickle.loads(pair))
    except PairFailed as error:  # the pair cannot be unpickled here
        found = PairOutcome(number, 0.0, None, error)
    try:
        return pickle.dumps(found)
    except Exception:  # the solution of a user's solver may fail to pickle
        assert isinstance(found.error, ToleranceNotReached)
        found.error.solution = None
        return pickle.dumps(found)

"""A process that solves chunks of pairs for one run.

It is a new interpreter that shares no state with its parent and does not run the parent's main module again. It reads
the question and then tasks from its standard input, one pickle after the other, and writes a list of outcomes for each
to its standard output; what a solver prints goes to the standard error. It computes with one thread. Its parent may
kill it at any instant, and it ends itself when its parent is gone. Every run has its own workers, so that ending them
does not affect other runs.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import time
from _thread import start_new_thread
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import SimpleQueue
from typing import IO, Any

from bisimetric._support.blocks import THREADS_VARIABLE
from bisimetric.many.chunks import Chunk, SentChunk, answer_task
from bisimetric.many.question import PairOutcome

WATCH_SECONDS = 0.5  # between two checks that the parent is there
START_WORKER = (
    "import sys; sys.path[:] = sys.argv[2:]; from bisimetric.many.worker import serve; serve(int(sys.argv[1]))"
)
THREADS_BELOW = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Worker:
    """The process as its parent sees it.

    One thread sends what is in `_outgoing`, so that nobody waits for a process that is starting or computing; None ends
    it. Another one puts the outcomes into `arrived`, and None when the process has ended.
    """

    def __init__(self, question: bytes, arrived: SimpleQueue[Arrived]) -> None:
        from multiprocessing.spawn import get_executable

        self.sent: list[Chunk] = []  # chunks without an answer yet, in the order in which it solves them
        self._outgoing: SimpleQueue[object] = SimpleQueue()
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
            start_new_thread(self._write, ())
        except RuntimeError:
            self.end()
            self._write()  # closes the input
            self._read(arrived)  # and the output
            raise
        self._outgoing.put(question)

    def send(self, chunk: Chunk, task: SentChunk) -> None:
        """Send one more chunk."""
        self.sent.append(chunk)
        self._outgoing.put(task)

    def ending(self) -> str:
        """How the process ended, if it did so without an answer."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(WATCH_SECONDS)
        code = self.end()
        how = f"with exit code {code}" if code >= 0 else f"by signal {-code}"
        return f"its worker process was ended {how}, perhaps because memory ran out; use fewer n_jobs"

    def end(self) -> int:
        """End the process at once, in the middle of a message too; its exit code."""
        self._process.kill()
        self._outgoing.put(None)
        return self._process.wait()

    def _write(self) -> None:
        assert self._process.stdin is not None
        with suppress(OSError), self._process.stdin as tasks:  # the process may go; the reading thread notices
            while (message := self._outgoing.get()) is not None:
                pickle.dump(message, tasks)
                tasks.flush()

    def _read(self, arrived: SimpleQueue[Arrived]) -> None:
        assert self._process.stdout is not None
        with suppress(Exception), self._process.stdout as answers:  # the output may end anywhere
            while True:
                arrived.put((self, pickle.load(answers)))
        arrived.put((self, None))


Arrived = tuple[Worker, list[PairOutcome] | None]


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
    """Solve chunks until the parent ends this process."""
    tasks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    os.dup2(2, 1)  # prints go to the standard error, not between the answers
    inbox: SimpleQueue[Any] = SimpleQueue()
    start_new_thread(_receive, (tasks, inbox))
    if os.name == "posix":  # on other systems the parent's number does not show that the parent is gone
        start_new_thread(_end_with, (parent,))
    question = inbox.get()
    while True:
        answers.write(answer_task(question, inbox.get()))
        answers.flush()


def _receive(tasks: IO[bytes], inbox: SimpleQueue[Any]) -> None:
    """Read tasks as soon as they come, beside the computation; end when the parent closes the input."""
    try:
        while True:
            inbox.put(pickle.load(tasks))
    finally:
        os._exit(1)


def _end_with(parent: int) -> None:
    """End when the parent is gone, although a fork of it may still hold the other end of the input."""
    while os.getppid() == parent:
        time.sleep(WATCH_SECONDS)
    os._exit(1)

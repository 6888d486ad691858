"""Every error that the package raises on purpose.

A message says what was expected, what came, where, and the remedy. All of them derive from `BisimetricError`,
and from the built-in exception that a caller would expect, so `except ValueError` works too. The two
exceptions are `SolveInterrupted` and `PairwiseInterrupted`: they are `KeyboardInterrupt`s, so that code which swallows
errors does not swallow Ctrl-C.

All can be sent from one process to another: what `pickle` calls with the message alone must be optional. Messages quote
names of states and files, which are data, so every message is inert: one line in which nothing invisible is left.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from bisimetric._support.text import printable

__all__ = [
    "BisimetricError",
    "FileFormatError",
    "InvalidChain",
    "InvalidOption",
    "InvalidProblem",
    "InvalidWitness",
    "MissingExtra",
    "MissingStart",
    "NotEnoughMemory",
    "PairFailed",
    "PairwiseInterrupted",
    "SolveInterrupted",
    "SolverFailed",
    "ToleranceNotReached",
]


class BisimetricError(Exception):
    """Base of all errors of this package."""

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message), None))


class InvalidChain(BisimetricError, ValueError):
    """The arrays given do not describe a Markov chain."""


class InvalidProblem(BisimetricError, ValueError):
    """Cost, discount or stop mask do not fit the two chains."""


class InvalidOption(BisimetricError, ValueError):
    """An option is out of its range, or a name is unknown."""


class InvalidWitness(BisimetricError, ValueError):
    """A coupling or potential handed to the checker is not what it claims to be."""


class MissingStart(BisimetricError, ValueError):
    """A number for the starts was asked for, but a chain has no start."""


class MissingExtra(BisimetricError, ImportError):
    """An optional dependency is not installed."""


class FileFormatError(BisimetricError, ValueError):
    """A file is not a chain or a solution that this version can read."""


class NotEnoughMemory(BisimetricError, MemoryError):
    """The memory estimate exceeds what is available; nothing was allocated."""


class SolverFailed(BisimetricError, RuntimeError):
    """A solver that this package calls gave no answer; nothing was computed."""


class ToleranceNotReached(BisimetricError, RuntimeError):
    """An explicit tolerance was missed; `solution` holds the certified interval that was reached.

    It is a `Solution`, or an `MDPSolution` for decision processes. `pair` says for which of many chains, if there are.
    """

    def __init__(self, message: str, solution: Any = None, pair: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.solution = solution
        self.pair = pair


class PairFailed(BisimetricError, RuntimeError):
    """One of many pairs has no distance; `pair` says which, None that no worker process could be started."""

    def __init__(self, message: str, pair: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.pair = pair


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C during a solve; `solution` is certified when it is first read, so stopping itself takes no time."""

    def __init__(self, message: str, certify: Callable[[], Any] | None = None) -> None:
        super().__init__(message)
        self._certify = certify

    @cached_property
    def solution(self) -> Any:
        """The certified solution for the last finished sweep; None in another process, to which it is not sent."""
        return None if self._certify is None else self._certify()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class PairwiseInterrupted(KeyboardInterrupt):
    """Ctrl-C between or in the pairs of a long run, `done` of `total` finished; 0 before they are counted."""

    def __init__(self, message: str, done: int = 0, total: int = 0) -> None:
        super().__init__(message)
        self.done = done
        self.total = total

"""Every error that the package raises on purpose.

A message says what was expected, what came, where, and the remedy. All errors derive from `BisimetricError` and from
the built-in exception that a caller would expect, so `except ValueError` works too. Only `SolveInterrupted`,
`ManyInterrupted` and `PairwiseInterrupted` do not: they are `KeyboardInterrupt`s, so that code which swallows errors
does not swallow Ctrl-C.

All can be pickled: `pickle` calls them with the message alone, so all other arguments are optional. Messages quote
names of states and files, which may hold anything: every message is one line with control characters escaped.

>>> import bisimetric as bm
>>> try:
...     bm.MarkovChain([[0.5, 0.4], [0, 1]])
... except bm.errors.InvalidChain as error:
...     print(error)
row 0 of transitions sums to 0.9, expected 1 within 1e-09; MarkovChain.normalised(...) rescales rows
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

from bisimetric._support.text import printable

__all__ = [
    "BisimetricError",
    "ClusterUnavailable",
    "FileFormatError",
    "InvalidChain",
    "InvalidData",
    "InvalidOption",
    "InvalidProblem",
    "InvalidWitness",
    "ManyInterrupted",
    "MissingExtra",
    "MissingStart",
    "NotEnoughMemory",
    "PairFailed",
    "PairwiseInterrupted",
    "ProblemFailed",
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


class InvalidData(BisimetricError, ValueError):
    """A log holds no sequences of states, or not enough of them for what was asked."""


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


class ClusterUnavailable(BisimetricError, ConnectionError):
    """A cluster does not answer, or a local one cannot be started."""


class FileFormatError(BisimetricError, ValueError):
    """A file cannot be read or written, or holds no model or solution that this version can read."""


class NotEnoughMemory(BisimetricError, MemoryError):
    """The memory estimate exceeds what is available; nothing was allocated."""


class SolverFailed(BisimetricError, RuntimeError):
    """A solver that this package calls gave no answer; nothing was computed."""


class ToleranceNotReached(BisimetricError, RuntimeError):
    """A tolerance that was asked for was missed.

    Attributes
    ----------
    solution : Solution or MDPSolution
        What was reached, with its certified interval.
    pair : (int, int) or None
        The places of the two chains in their lists, in a call of `pairwise`.
    solutions : list or None
        All solutions, in a call of `solve_many`.
    distances : Distances or None
        All distances, in a call of `pairwise`.
    """

    def __init__(
        self,
        message: str,
        solution: Any = None,
        pair: tuple[int, int] | None = None,
        solutions: list[Any] | None = None,
        distances: Any = None,
    ) -> None:
        super().__init__(message)
        self.solution = solution
        self.pair = pair
        self.solutions = solutions
        self.distances = distances


class PairFailed(BisimetricError, RuntimeError):
    """A pair of models in a call of `pairwise` has no distance.

    Attributes
    ----------
    pair : (int, int) or None
        The places of the two models in their lists; None if no worker process could be started.
    distances : Distances or None
        All other distances; None in errors that stand in `Distances.failures`.
    """

    def __init__(self, message: str, pair: tuple[int, int] | None = None, distances: Any = None) -> None:
        super().__init__(message)
        self.pair = pair
        self.distances = distances


class ProblemFailed(BisimetricError, RuntimeError):
    """A problem in a call of `solve_many` has no solution.

    Attributes
    ----------
    solutions : list or None
        The solutions of the other problems in their places, None in those of problems that failed; None if one failed
        that no time was left for, when its solution was read.
    failures : dict of int to Exception
        What went wrong, by the place of the problem.
    """

    def __init__(
        self, message: str, solutions: list[Any] | None = None, failures: dict[int, Exception] | None = None
    ) -> None:
        super().__init__(message)
        self.solutions = solutions
        self.failures = {} if failures is None else failures


class SolveInterrupted(KeyboardInterrupt):
    """Ctrl-C during a solve.

    Attributes
    ----------
    solution : Solution, MDPSolution or None
        What the last finished sweep proves. It is certified when it is first read, so that stopping takes no time;
        None after pickling.
    """

    def __init__(self, message: str, certify: Callable[[], Any] | None = None) -> None:
        super().__init__(message)
        self._certify = certify

    @cached_property
    def solution(self) -> Any:
        """The certified solution for the last finished sweep; None after pickling."""
        return None if self._certify is None else self._certify()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.args


class ManyInterrupted(KeyboardInterrupt):
    """Ctrl-C during a call of `solve_many`.

    Attributes
    ----------
    solutions : list
        The finished solutions in the places of their problems, None in those of the others.
    """

    def __init__(self, message: str, solutions: list[Any] | None = None) -> None:
        super().__init__(message)
        self.solutions = [] if solutions is None else solutions


class PairwiseInterrupted(KeyboardInterrupt):
    """Ctrl-C during a call of `pairwise`.

    Attributes
    ----------
    done, total : int
        How many of the pairs are finished; 0 of 0 before they are counted.
    distances : Distances or None
        What is finished; NaN with the status INTERRUPTED in the places of the others. None before pairs are counted.
    """

    def __init__(self, message: str, done: int = 0, total: int = 0, distances: Any = None) -> None:
        super().__init__(message)
        self.done = done
        self.total = total
        self.distances = distances


def __dir__() -> list[str]:
    return sorted(__all__)

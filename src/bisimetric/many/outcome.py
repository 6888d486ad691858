"""Two chains of many, and what came of them: numbers, or an error that names the pair and can travel."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from bisimetric.errors import PairFailed, ToleranceNotReached
from bisimetric.many.question import Question
from bisimetric.many.store import Numbers
from bisimetric.models.chain import MarkovChain
from bisimetric.problems.discounted import Problem


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
    """What came of the pair number `number`: numbers or an error."""

    number: int
    seconds: float
    numbers: Numbers | None
    error: PairFailed | ToleranceNotReached | None = None


@contextmanager
def naming(i: int, j: int) -> Iterator[None]:
    """Whatever goes wrong inside is the failure of this pair."""
    try:
        yield
    except ToleranceNotReached as error:
        raise ToleranceNotReached(f"pair ({i}, {j}): {error}", error.solution, (i, j)) from None
    except Exception as error:
        raise PairFailed(f"pair ({i}, {j}): {type(error).__name__}: {error}", (i, j)) from error


def solved(question: Question, number: int, pair: Pair) -> Outcome:
    """What comes of one pair."""
    began = time.perf_counter()
    try:
        with naming(pair.i, pair.j):
            numbers = question.answered(pair.asked(question))
    except (PairFailed, ToleranceNotReached) as error:
        return Outcome(number, time.perf_counter() - began, None, error)
    return Outcome(number, time.perf_counter() - began, numbers)

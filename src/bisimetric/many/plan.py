"""Which pairs of chains are solved for a table of distances: every distinct question once, the heaviest first.

All costs are looked at before the first solve. Entries of the table with equal keys share one answer: both of each two
where the cost is symmetric, c_ij(x, y) = c_ji(y, x), and all of equal chains. Symmetry is known of the gap between
rewards and of label mismatch, looked up once in an array, and seen of any other function when it is called both ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric.many.outcome import Pair, naming
from bisimetric.many.question import Question
from bisimetric.many.store import Numbers
from bisimetric.models.chain import MarkovChain
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solution import Status

KEPT_BYTES = 2**27  # of costs that functions returned, so that they are not called again
MANY = 1000  # entries, from which on loading the kernels takes less time than asking for memory without them

Place = tuple[int, int]


class Entry(NamedTuple):
    """A pair to be solved."""

    key: bytes
    pair: Pair
    places: list[Place]  # in the table that its answer belongs to


class Plan:
    """What is to be solved for a table; `symmetric` if sources and targets are one list."""

    def __init__(
        self, question: Question, sources: Sequence[MarkovChain], targets: Sequence[MarkovChain], *, symmetric: bool
    ) -> None:
        self._shape = len(sources), len(targets)
        self._question = question
        self._kept_bytes = 0
        entries: dict[bytes, Entry] = {}
        for number, places in enumerate(self._entries(symmetric)):
            if number == MANY:
                kernels.check  # noqa: B018  loaded by its name
            i, j = places[0]
            self._enter(entries, Pair(i, j, sources[i], targets[j]), places)
        self.entries = sorted(entries.values(), key=_weight, reverse=True)

    def _entries(self, symmetric: bool) -> Iterator[tuple[Place, ...]]:
        """The places of the table, those together that are known to have one distance."""
        if symmetric and _is_symmetric(self._question):
            for i in range(self._shape[0]):
                yield ((i, i),)
                for j in range(i + 1, self._shape[1]):
                    yield (i, j), (j, i)
        else:
            for i, j in np.ndindex(self._shape):
                yield ((i, j),)

    def _enter(self, entries: dict[bytes, Entry], pair: Pair, places: Sequence[Place]) -> None:
        with naming(pair.i, pair.j):
            problem, key, is_zero = self._question.asked(pair.source, pair.target)
        if is_zero:
            return
        if key not in entries:
            entries[key] = Entry(key, pair._replace(problem=self._kept(problem)), [])
        entries[key].places.extend(places)

    def _kept(self, problem: Problem) -> Problem | None:
        """The problem, if making it again means calling somebody's function and there is room for it."""
        is_function = callable(self._question.cost) and not self._question.cost_is_known
        if not is_function or self._kept_bytes + problem.cost.nbytes > KEPT_BYTES:
            return None
        self._kept_bytes += problem.cost.nbytes
        return problem

    def tables(self, numbers: Sequence[Numbers]) -> list[npt.NDArray[Any]]:
        """Value, lower, upper and status [N, M] of all entries; what is not solved is a proved zero."""
        tables = [*(np.zeros(self._shape) for _ in range(3)), np.full(self._shape, Status.SOLVED, dtype=object)]
        for entry, found in zip(self.entries, numbers, strict=True):
            places = tuple(zip(*entry.places, strict=True))
            for table, number in zip(tables, found, strict=True):
                table[places] = number
        return tables


def _is_symmetric(question: Question) -> bool:
    """Whether one look at a pair is enough; an array has been checked before."""
    if question.cost_is_known or callable(question.cost):
        return question.cost_is_known
    array = np.asarray(question.cost)
    return np.array_equal(array, array.T)


def _weight(entry: Entry) -> int:
    """About proportional to the work: the sizes of the transports of all pairs of states."""
    source, target = entry.pair.source, entry.pair.target
    return int(source.n_states * target.transitions.nnz + target.n_states * source.transitions.nnz)

"""Which pairs of models are solved for a table of distances.

Every distinct question is solved once, the heaviest first. All costs are computed before the first solve. Entries of
the table with equal keys share one answer: (i, j) and (j, i) where the cost is symmetric, c_ij(x, y) = c_ji(y, x), and
entries of equal models. Games, the gap between rewards and label mismatch are known to be symmetric; an array is
compared with its transpose once; any other function is called both ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.threads import OutOfTime, seconds_left
from bisimetric.cost.ground import DIFFERENCE, NORMALISING, label_mismatch
from bisimetric.errors import PairFailed
from bisimetric.many.chunks import Chunk, chunks, is_small
from bisimetric.many.question import Pair, PairQuestion, content, name_pair_in_errors
from bisimetric.many.store import Numbers
from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats, Ints
from bisimetric.operators.bellman import largest_forever
from bisimetric.problems.discounted import Problem
from bisimetric.problems.game import Game
from bisimetric.solving.history import Status

KEPT_BYTES = 2**27  # memory for problems that are made once: of small chains, and with costs that functions returned
PROBLEM_BYTES = 2000  # of a problem without its costs
MANY = 1000  # entries from which kernels are loaded first, which makes each check of the free memory cheaper

Place = tuple[int, int]


class PlannedPair(NamedTuple):
    """A pair to solve."""

    key: bytes
    pair: Pair
    work: int  # estimated
    places: list[Place]  # of its answer in the table


class Failure(NamedTuple):
    """Places of the table without a distance, and why."""

    places: Sequence[Place] | Ints
    status: Status
    error: PairFailed | None = None


class _Known(NamedTuple):
    """What is known of a model, computed once."""

    content: bytes
    transitions: int  # under all actions

    @classmethod
    def of(cls, model: Model) -> _Known:
        matrices = model.transitions if isinstance(model, MDP) else [model.transitions]
        return cls(content(model), sum(int(matrix.nnz) for matrix in matrices))


class Plan:
    """The pairs to solve for a table; `symmetric` if sources and targets are one list."""

    def __init__(
        self, question: PairQuestion, sources: Sequence[Model], targets: Sequence[Model], *, symmetric: bool
    ) -> None:
        self._models = sources, targets
        self._shape = len(sources), len(targets)
        self._question = question
        self._kept_bytes = 0
        self.failures: list[Failure] = []  # entries whose cost cannot be computed, or not in time
        mine = [_Known.of(model) for model in sources]
        theirs = mine if targets is sources else [_Known.of(model) for model in targets]
        entries: dict[bytes, PlannedPair] = {}
        for number, places in enumerate(self._entries(symmetric)):
            if number == MANY:
                with suppress(OutOfTime):  # then all others are late
                    kernels.check  # noqa: B018  loaded by its name
            i, j = places[0]
            if seconds_left() <= 0.0:
                self.failures.append(Failure(self._late(i, j, symmetric), Status.TIME_LIMIT))
                break
            self._enter(entries, Pair(i, j, sources[i], targets[j]), (mine[i], theirs[j]), places)
        self.entries = sorted(entries.values(), key=lambda entry: (-entry.work, entry.key))

    def chunks(self, workers: int) -> list[Chunk]:
        """The pairs as they are solved together, for so many workers."""
        works = [entry.work for entry in self.entries]
        return chunks([entry.pair for entry in self.entries], works, batched=self._question.is_batched, workers=workers)

    def _entries(self, symmetric: bool) -> Iterator[tuple[Place, ...]]:
        """The places of the table, grouped where they are known to have one distance."""
        if symmetric and _is_symmetric(self._question):
            for i in range(self._shape[0]):
                yield ((i, i),)
                for j in range(i + 1, self._shape[1]):
                    yield (i, j), (j, i)
        else:
            for i, j in np.ndindex(self._shape):
                yield ((i, j),)

    def _late(self, i: int, j: int, symmetric: bool) -> Ints:
        """[places, 2], the table's places from (i, j) on, in the order of `_entries`; a table may have many."""
        late = np.ones(self._shape, np.bool_)
        late[:i] = late[i, :j] = False
        if symmetric and _is_symmetric(self._question):
            late = np.triu(late)
            late |= late.T
        if symmetric and self._question.cost_is_known:  # a model is at zero from itself, as in `pair_problem`
            np.fill_diagonal(late, late.diagonal() & [bool(model.merged.any()) for model in self._models[0]])
        return np.argwhere(late)

    def _enter(
        self, entries: dict[bytes, PlannedPair], pair: Pair, known: tuple[_Known, _Known], places: Sequence[Place]
    ) -> None:
        source, target = known
        try:
            with name_pair_in_errors(pair.i, pair.j):
                problem, key, is_zero = self._question.pair_problem(
                    pair.source, pair.target, (source.content, target.content)
                )
        except PairFailed as error:
            if self.failures:  # one traceback is enough
                error = PairFailed(str(error), error.pair)
            self.failures.append(Failure(places, Status.FAILED, error))
            return
        if is_zero:
            return
        if key not in entries:
            work = pair.source.n_states * target.transitions + pair.target.n_states * source.transitions
            entries[key] = PlannedPair(key, pair._replace(problem=self._problem_to_keep(pair, problem)), work, [])
        entries[key].places.extend(places)

    def _problem_to_keep(self, pair: Pair, problem: Problem | Game) -> Problem | Game | None:
        """The problem, if it is small or has the cost of a user's function, and there is room."""
        if not isinstance(problem, Problem):
            return None
        is_function = callable(self._question.cost) and not self._question.cost_is_known
        size = problem.cost.nbytes + PROBLEM_BYTES
        if not (is_function or is_small(pair)) or self._kept_bytes + size > KEPT_BYTES:
            return None
        self._kept_bytes += size
        return problem

    def tables(self, numbers: Mapping[int, Numbers], failures: Sequence[Failure] = ()) -> list[npt.NDArray[Any]]:
        """Value, lower, upper and status [N, M]; entries that are not solved are proved zeros.

        Entries of failures without numbers are unknown: no number, between 0 and the largest cost forever, or infinity
        where there is an error.
        """
        tables = [*(np.zeros(self._shape) for _ in range(3)), np.full(self._shape, Status.SOLVED, dtype=object)]
        known = [(place, numbers[k]) for k, entry in enumerate(self.entries) if k in numbers for place in entry.places]
        for failure in failures:
            places = tuple(np.array(failure.places).T)
            upper = np.inf if failure.error is not None else self._largest_distances[places]
            for table, entries in zip(tables, (np.nan, 0.0, upper, failure.status), strict=True):
                table[places] = entries
        if known:
            places = tuple(np.array([place for place, _ in known]).T)
            for table, values in zip(tables, zip(*(found for _, found in known), strict=True), strict=True):
                table[places] = values
        return tables

    @cached_property
    def _largest_distances(self) -> Floats:
        """[N, M], what no distance exceeds: the largest cost forever, infinite where a cost is not known."""
        question = self._question
        if question.cost_is_known:
            largest = np.ones(self._shape) if question.cost is label_mismatch else _largest_gaps(*self._models)
        elif callable(question.cost):
            largest = np.full(self._shape, np.inf)
        else:
            largest = np.full(self._shape, np.max(np.asarray(question.cost)))
        if question.normalised:
            largest *= 1.0 - question.discount
        for entry in self.entries if callable(question.cost) else ():
            if isinstance(entry.pair.problem, Problem):
                largest[tuple(np.array(entry.places).T)] = entry.pair.problem.cost.max()
        known = np.isfinite(largest)
        largest[known] = largest_forever(largest[known], DIFFERENCE + NORMALISING, np.ones(()), question.discount)
        return largest


def _largest_gaps(sources: Sequence[Model], targets: Sequence[Model]) -> Floats:
    """[N, M], the largest gap between a reward of one model and a reward of another."""
    least, most = (
        [[reduced(_rewards(m)) for m in models] for models in (sources, targets)] for reduced in (np.min, np.max)
    )
    return np.maximum(np.subtract.outer(most[0], least[1]), -np.subtract.outer(least[0], most[1]))


def _rewards(model: Model) -> Floats:
    rewards = model.rewards if isinstance(model, MDP) else model.reward
    assert rewards is not None  # checked before
    return rewards


def _is_symmetric(question: PairQuestion) -> bool:
    """Whether the cost is known to be symmetric; an array has been checked before."""
    if question.cost_is_known or callable(question.cost):
        return question.cost_is_known
    array = np.asarray(question.cost)
    return np.array_equal(array, array.T)

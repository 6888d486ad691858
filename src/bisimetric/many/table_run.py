"""One call of `pairwise`: finished pairs are looked up in the store, the others are solved, the table is filled.

Runs that share a store share the work: each goes through the chunks in an order of its own, so that two runs seldom
begin the same one. Before a chunk it looks, up to ten times a second, at what others have finished or begun since,
leaves out what is finished, and comes to what others have begun last.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, suppress
from typing import NamedTuple

from bisimetric._support import memory
from bisimetric._support.frozen import frozen
from bisimetric._support.text import notice
from bisimetric._support.threads import no_deadline
from bisimetric.errors import PairFailed, PairwiseInterrupted, ToleranceNotReached
from bisimetric.many.backends import Backend
from bisimetric.many.chunks import Chunk, in_own_order
from bisimetric.many.plan import Failure, Place, Plan
from bisimetric.many.processes import Processes, ThisProcess
from bisimetric.many.question import Pair, PairOutcome, PairQuestion, name_pair_in_errors
from bisimetric.many.runs import outcomes
from bisimetric.many.store import CODE_BYTES, Numbers, PairStore
from bisimetric.many.table import Distances, TableQuestion
from bisimetric.models.mdp import Model
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import tree_bytes
from bisimetric.problems.discounted import Problem
from bisimetric.solving.history import Status

BYTES_PER_WORKER = 150 * 2**20  # a process with the kernels loaded
MANY_WORKERS = 64  # a guess where the number is not known before a cluster answers
LOOK_SECONDS = 0.1  # between two looks at what other runs have written
LOOK_PAUSE = 20  # and at least as many times as long as a look takes


class PairDone(NamedTuple):
    """Progress of `pairwise`, which calls `on_pair` with it after every pair that was solved.

    Attributes
    ----------
    done, total : int
        How many of the pairs are finished.
    i, j : int
        The places of the two models in their lists.
    seconds : float
        Wall time that this pair took.
    """

    done: int
    total: int
    i: int
    j: int
    seconds: float


class TableRun:
    """A call under way: what is known by now about the pairs of its table."""

    def __init__(
        self,
        question: PairQuestion,
        asked: TableQuestion,
        store: PairStore | None,
        on_pair: Callable[[PairDone], None] | None,
    ) -> None:
        self._question = question
        self._asked = asked
        self._store = store
        self._digest = b"" if store is None else question.digest()
        self._on_pair = on_pair
        self._plan: Plan | None = None
        self._keys: list[bytes] = []  # of the pairs, in the store
        self._places: dict[bytes, int] = {}  # numbers of the pairs by their keys
        self._numbers: dict[int, Numbers] = {}  # answers by the pair's number
        self._errors: dict[int, PairFailed | ToleranceNotReached] = {}
        self._missed: tuple[int, ToleranceNotReached] | None = None  # the pair with the smallest number
        self._titles: tuple[list[str | None], ...] = ()  # of both lists, where models know them
        self._next_look = 0.0

    def table(self, sources: Sequence[Model], targets: Sequence[Model], backend: Backend) -> Distances:
        """Compute the table, from the first cost to the last distance."""
        self._titles = tuple([model.title for model in models] for models in (sources, targets))
        try:
            self._plan = Plan(self._question, sources, targets, symmetric=self._asked.one_list)
            self._look_up()
            self._compute(self._plan.chunks(backend.workers or MANY_WORKERS), backend)
            return self._distances(self._plan, Status.TIME_LIMIT)
        except KeyboardInterrupt:
            raise self._interrupt_error() from None
        finally:
            if self._store is not None:
                self._store.close()

    def missed(self) -> ToleranceNotReached | None:
        """The error about the heaviest pair that missed a tolerance that was given."""
        return None if self._missed is None else self._missed[1]

    def _look_up(self) -> None:
        if self._store is not None and self._plan is not None:
            self._keys = [self._question.key(self._digest, entry.key) for entry in self._plan.entries]
            self._places = {key: k for k, key in enumerate(self._keys)}
            self._look()
            for line in self._store.notes(self._digest[:CODE_BYTES]):
                notice(line)

    def _look(self) -> None:
        """Take what is in the store by now."""
        assert self._store is not None
        began = time.monotonic()
        for key, numbers in self._store.found(self._places).items():
            self._numbers.setdefault(self._places[key], numbers)
        took = time.monotonic() - began
        self._next_look = began + max(LOOK_SECONDS, LOOK_PAUSE * took)

    def _compute(self, chunks: Sequence[Chunk], backend: Backend) -> None:
        missing = [chunk for chunk in chunks if not self._is_done(chunk)]
        if not missing:
            return
        if self._store is not None:
            self._store.check_writable()
        if isinstance(backend, Processes):
            workers = min(backend.workers, len(missing))
            backend = ThisProcess() if workers == 1 else Processes(workers)
        if isinstance(backend, Processes):
            _check_memory(self._question, missing[0].pairs[0], backend.workers)
        waiting = missing if self._store is None else self._open(self._store, self._in_own_order(self._store, missing))
        with closing(outcomes(self._question, waiting, backend)) as arriving:
            for outcome in arriving:
                self._accept(outcome)

    def _is_done(self, chunk: Chunk) -> bool:
        return all(number in self._numbers for number in chunk.numbers)

    def _in_own_order(self, store: PairStore, chunks: Sequence[Chunk]) -> list[Chunk]:
        assert self._plan is not None
        return in_own_order(chunks, [entry.work for entry in self._plan.entries], store.seed)

    def _open(self, store: PairStore, chunks: Sequence[Chunk]) -> Iterator[Chunk]:
        """The chunks to solve, one at a time, those that other runs are at last."""
        others = []
        for chunk in chunks:
            if time.monotonic() >= self._next_look:
                self._look()
            key = self._keys[chunk.numbers[0]]
            if self._is_done(chunk):
                continue
            if store.is_claimed(key):
                others.append(chunk)
                continue
            store.claim(key)
            yield chunk
        for chunk in reversed(others):
            if not self._is_done(chunk):
                self._look()
            if not self._is_done(chunk):
                yield chunk

    def _accept(self, outcome: PairOutcome) -> None:
        k, numbers = outcome.number, outcome.numbers
        if k in self._numbers:  # solved again beside others that were missing
            return
        if outcome.error is not None:
            self._errors[k] = outcome.error
            if isinstance(outcome.error, ToleranceNotReached):
                self._miss(k, outcome.error)
        if numbers is None:
            return
        self._numbers[k] = numbers
        if numbers.status is Status.TIME_LIMIT:
            return
        if self._store is not None and outcome.error is None:
            self._store.keep(self._keys[k], numbers)
        if self._on_pair is not None:
            assert self._plan is not None
            pair = self._plan.entries[k].pair
            with no_deadline():
                self._on_pair(PairDone(self._done(), len(self._plan.entries), pair.i, pair.j, outcome.seconds))

    def _miss(self, k: int, error: ToleranceNotReached) -> None:
        """Note a missed tolerance; of all of them only one keeps its solution."""
        first, later = (k, error), self._missed
        if later is not None and later[0] < k:
            first, later = later, first
        if later is not None:
            later[1].solution = None
        self._missed = first

    def _done(self) -> int:
        return len(self._numbers)

    def _distances(self, plan: Plan, status: Status) -> Distances:
        """The table as it is now; pairs that have neither numbers nor an error have this status."""
        failures = list(plan.failures)
        open_places: list[Place] = []
        for k, entry in enumerate(plan.entries):
            if k not in self._numbers:
                error = self._errors.get(k)
                if isinstance(error, PairFailed):
                    failures.append(Failure(entry.places, Status.FAILED, error))
                else:
                    open_places.extend(entry.places)
        if open_places:
            failures.append(Failure(open_places, status))
        value, lower, upper, statuses = map(frozen, plan.tables(self._numbers, failures))
        errors = tuple(self._named(failure.error) for failure in failures if failure.error is not None)
        return Distances(value, lower, upper, statuses, self._asked, errors)

    def _named(self, error: PairFailed) -> PairFailed:
        """The error with the names of its models, where they have some."""
        if error.pair is None:
            return error
        i, j = error.pair
        names = self._titles[0][i] or self._asked.rows[i], self._titles[1][j] or self._asked.columns[j]
        begin = f"pair ({i}, {j})"
        named = PairFailed(str(error).replace(begin, f"{begin}, {names[0]} and {names[1]}", 1), error.pair)
        named.__cause__ = error.__cause__
        return named

    def _interrupt_error(self) -> PairwiseInterrupted:
        if self._plan is None:
            return PairwiseInterrupted("interrupted while costs were computed, before the first pair")
        done, total = self._done(), len(self._plan.entries)
        kept = "the same call goes on from there" if self._store is not None else "they are in error.distances"
        distances = self._distances(self._plan, Status.INTERRUPTED)
        return PairwiseInterrupted(f"interrupted after {done} of {total} pairs; {kept}", done, total, distances)


def _check_memory(question: PairQuestion, heaviest: Pair, workers: int) -> None:
    """Raise if all workers together need too much memory: a worker's own check does not see the needs of the others."""
    needed = workers * BYTES_PER_WORKER
    if question.solver.open_pairs:
        with suppress(PairFailed), name_pair_in_errors(heaviest.i, heaviest.j):  # a cost that fails does so again
            problem = heaviest.pose(question)
            needed += workers * tree_bytes(Bellman.of(problem), may_round=True) if isinstance(problem, Problem) else 0
    memory.require(needed, f"solving {workers} pairs of chains at once", "use fewer n_jobs")

"""Distances between many chains: one certified number for every pair of them, between their starts.

Where the cost is symmetric, c_ij(x, y) = c_ji(y, x), so is the distance, and only one of (i, j) and (j, i) is solved;
where c_ii(x, x) = 0, equal chains are at distance zero. Pairs are independent. Those with the most work come first, so
that workers finish together, and a folder can keep every finished pair, so that an interrupted run can continue.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import PurePath
from typing import Any, NamedTuple

import numpy.typing as npt

from bisimetric._support import memory
from bisimetric._support.frozen import changed, frozen
from bisimetric._support.options import flag, function_or_none
from bisimetric.cost.ground import Cost, cost_words, label_mismatch, reward_gap
from bisimetric.errors import BisimetricError, InvalidOption, InvalidProblem, MissingStart, PairwiseInterrupted
from bisimetric.many.question import Pair, PairOutcome, PairQuestion, name_pair_in_errors
from bisimetric.many.runs import checked_n_jobs, outcomes, worker_count
from bisimetric.many.store import Numbers, PairStore
from bisimetric.many.table import Distances, Plan, PlannedPair, TableQuestion
from bisimetric.many.worker import check_portable
from bisimetric.models.chain import MarkovChain
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import tree_bytes
from bisimetric.problems.discounted import checked_discount
from bisimetric.readers.convert import as_chain
from bisimetric.solvers import by_name
from bisimetric.solvers.base import AnySolver, checked_tol

BYTES_PER_TABLE_ENTRY = 32  # an entry of a table: three doubles and a status
BYTES_PER_CHAIN_PAIR = 1000  # a pair to solve: its places, its key, its record, and its numbers
BYTES_PER_WORKER = 150 * 2**20  # a process with the kernels loaded


class PairDone(NamedTuple):
    """Progress of `pairwise`, which calls `on_pair` with it after every pair that was solved.

    Attributes
    ----------
    done, total : int
        How many of the pairs are finished.
    i, j : int
        The places of the two chains in their lists.
    seconds : float
        Wall time that this pair took.
    """

    done: int
    total: int
    i: int
    j: int
    seconds: float


def pairwise(
    chains: Iterable[Any],
    others: Iterable[Any] | None = None,
    *,
    discount: float,
    cost: npt.ArrayLike | Cost | None = None,
    normalised: bool = False,
    solver: AnySolver | str = "policy-iteration",
    tol: float | None = None,
    n_jobs: int = 1,
    store: object = None,
    on_pair: Callable[[PairDone], None] | None = None,
) -> Distances:
    """Compute the certified distances between the starts of all chains, or of `chains` and `others`.

    Equal pairs are solved once. Which chain of a pair comes first in its solve depends only on the content of the two,
    so no bit of the result depends on the order of a list.

    Parameters
    ----------
    chains, others : lists of N and M chains
        Anything that `as_chain` takes, with a start. Without `others`, `chains` are compared with one another.
    discount : float in [0, 1)
        γ, the weight of each step relative to the one before.
    cost : array, function or None
        An array [n, m] serves for every pair, so all chains of one list must have the same number of states. A function
        of two chains has no such limit; it is called in this process, for every entry of the table, before the first
        solve, and once more for those whose costs take too much memory to be kept. None is the gap between rewards.
    normalised : bool
        Multiply the cost by 1 - γ.
    solver : Solver or str
        As for `solve`.
    tol : float or None
        The relative gap of every pair. A pair that misses a given one is an error; None is the solver's default, and
        then `Distances.status` says which pairs missed it.
    n_jobs : int
        The number of processes, -1 for one on every core. The numbers do not depend on it. Solver and chains are sent
        to the processes, which belong to this call alone and end with it.
    store : path or None
        A folder that keeps every finished pair: the same call after an interrupt, an error, a crash or kill -9 goes on
        from there, with the same result, and calls with other chains or in another order use the pairs they share.
        Pairs computed by another version of this package, numpy, scipy or numba are not used. Other files in the folder
        are ignored. A folder that is removed during the run is made again, with all pairs finished by then.
    on_pair : function of a `PairDone`, or None
        Called after every pair that was solved, but not for those found in the store.

    Returns
    -------
    Distances
        `value`, `lower`, `upper` and `status`, [N, N], or [N, M] with `others`.

    Raises
    ------
    ToleranceNotReached
        A pair missed the tolerance that was given: `error.pair` says which, `error.solution` is what it reached.
    PairFailed
        A pair has no answer, or its process was lost.
    PairwiseInterrupted
        Ctrl-C.
    InvalidOption
        Among others, with several processes: the solver or a chain cannot be pickled.
    FileFormatError
        The store cannot be read or written, or is something else.

    Examples
    --------
    >>> import bisimetric as bm
    >>> distances = bm.pairwise(["four-rooms:p0", "four-rooms:p1", "four-rooms:p2"], discount=0.95)
    >>> distances.value.round(4)
    array([[0.    , 0.4356, 0.5326],
           [0.4356, 0.    , 0.5146],
           [0.5326, 0.5146, 0.    ]])
    """
    with _interrupts_before_pairs():
        chosen = by_name(solver)
        question = PairQuestion(checked_discount(discount), cost, flag(normalised, "normalised"), chosen, tol)
        checked_tol(tol, chosen)
        processes = checked_n_jobs(n_jobs)
        function_or_none(on_pair, "on_pair")
        sources, rows = _checked_chains(chains, "chains", question)
        targets, columns = (sources, rows) if others is None else _checked_chains(others, "others", question)
        if cost is not None and not callable(cost):
            _check_sizes(question, sources, targets, symmetric=others is None)
        count = len(sources) * len(targets)
        memory.require(
            BYTES_PER_TABLE_ENTRY * count + BYTES_PER_CHAIN_PAIR * (count if others is not None else count // 2),
            f"a table of {len(sources)} x {len(targets)} chains",
            "compare fewer at a time; a store shares what they have in common",
        )
        if worker_count(processes, count) > 1:
            check_portable(question, sources, "chains")
            check_portable(question, targets, "others")
        kept = None if store is None else PairStore(store)
    table = _Run(question, kept, on_pair).table(sources, targets, symmetric=others is None, n_jobs=processes)
    name = reward_gap.name if cost is None else cost_words(cost)[0]
    return changed(
        table,
        question=TableQuestion(
            rows, columns, others is None, question.discount, name, question.normalised, chosen.name, tol
        ),
    )


@contextmanager
def _interrupts_before_pairs() -> Iterator[None]:
    """Turn Ctrl-C into an error that says that no pair is done yet."""
    try:
        yield
    except KeyboardInterrupt:
        raise PairwiseInterrupted("interrupted before the first pair", 0, 0) from None


class _Run:
    """One call of `pairwise`: looks up finished pairs in the store, then solves the others."""

    def __init__(
        self, question: PairQuestion, store: PairStore | None, on_pair: Callable[[PairDone], None] | None
    ) -> None:
        self._question = question
        self._store = store
        self._digest = b"" if store is None else question.digest()
        self._on_pair = on_pair
        self._waiting: Sequence[PlannedPair] = ()
        self._keys: list[bytes] = []  # keys of the entries in the store
        self._numbers: dict[int, Numbers] = {}  # answers by the entry's place in the list

    def table(
        self, sources: Sequence[MarkovChain], targets: Sequence[MarkovChain], *, symmetric: bool, n_jobs: int
    ) -> Distances:
        """Compute the table, from the first cost to the last distance."""
        try:
            plan = Plan(self._question, sources, targets, symmetric=symmetric)
            self._waiting = plan.entries
            self._look_up()
            self._compute([k for k in range(len(self._waiting)) if k not in self._numbers], n_jobs)
            tables = plan.tables([self._numbers[k] for k in range(len(self._waiting))])
            value, lower, upper, status = map(frozen, tables)
            return Distances(value, lower, upper, status)
        except KeyboardInterrupt:
            raise self._interrupt_error() from None
        finally:
            if self._store is not None:
                self._store.close()

    def _look_up(self) -> None:
        if self._store is not None:
            self._keys = [hashlib.sha256(self._digest + entry.key).digest() for entry in self._waiting]
            found = self._store.found(frozenset(self._keys))
            self._numbers = {k: found[key] for k, key in enumerate(self._keys) if key in found}

    def _compute(self, missing: Sequence[int], n_jobs: int) -> None:
        if self._store is not None and missing:
            self._store.check_writable()
        pairs = [self._waiting[k].pair for k in missing]
        workers = worker_count(n_jobs, len(pairs))
        if workers > 1:
            _check_memory(self._question, pairs[0], workers)
        with closing(outcomes(self._question, pairs, workers)) as arriving:
            for outcome in arriving:
                self._accept(missing[outcome.number], outcome)

    def _accept(self, k: int, outcome: PairOutcome) -> None:
        assert outcome.numbers is not None
        if self._store is not None:
            self._store.keep(self._keys[k], outcome.numbers)
        self._numbers[k] = outcome.numbers
        if self._on_pair is not None:
            pair = self._waiting[k].pair
            self._on_pair(PairDone(len(self._numbers), len(self._waiting), pair.i, pair.j, outcome.seconds))

    def _interrupt_error(self) -> PairwiseInterrupted:
        done, total = len(self._numbers), len(self._waiting)
        if not total:
            return PairwiseInterrupted("interrupted while costs were computed, before the first pair", done, total)
        remedy = "the same call goes on from there" if self._store is not None else "store= would have kept them"
        return PairwiseInterrupted(f"interrupted after {done} of {total} pairs; {remedy}", done, total)


def _check_memory(question: PairQuestion, heaviest: Pair, workers: int) -> None:
    """Raise if all workers together need too much memory: a worker's own check does not see the needs of the others."""
    needed = workers * BYTES_PER_WORKER
    if question.solver.open_pairs:
        with name_pair_in_errors(heaviest.i, heaviest.j):
            needed += workers * tree_bytes(Bellman.of(heaviest.pose(question)), may_round=True)
    memory.require(needed, f"solving {workers} pairs of chains at once", "use fewer n_jobs")


def _checked_chains(
    given: Iterable[Any], name: str, question: PairQuestion
) -> tuple[list[MarkovChain], tuple[str, ...]]:
    """The chains, and what they are called: the texts that were given, else "chain 1" or "other 1" and so on."""
    kind = name.removesuffix("s")
    if isinstance(given, (str, bytes, MarkovChain)) or not isinstance(given, Iterable):
        raise InvalidOption(f"{name} is a {type(given).__name__}, expected a list of chains")
    chains, called = [], []
    for k, item in enumerate(given):
        try:
            chains.append(as_chain(item))
        except BisimetricError as error:
            raise type(error)(f"{name}[{k}]: {error}") from None
        _check_chain(chains[-1], f"{name}[{k}]", question)
        called.append(str(item) if isinstance(item, (str, PurePath)) else f"{kind} {k + 1}")
    if not chains:
        raise InvalidOption(f"{name} is empty, expected at least one chain")
    return chains, tuple(called)


def _check_chain(chain: MarkovChain, place: str, question: PairQuestion) -> None:
    if chain.start is None:
        raise MissingStart(f"{place} has no start, between which distances are; chain.with_start(state) gives it one")
    needed = "labels" if question.cost is label_mismatch else "reward"
    if question.cost_is_known and getattr(chain, needed) is None:
        raise InvalidProblem(f"{place} has no {needed}; give it {needed}=, or choose another cost")


def _check_sizes(
    question: PairQuestion, sources: Sequence[MarkovChain], targets: Sequence[MarkovChain], *, symmetric: bool
) -> None:
    """Raise unless an array of costs fits every pair."""
    question.pair_problem(sources[0], targets[0])  # checks the array
    shape = sources[0].n_states, targets[0].n_states
    for chains, name, size in ((sources, "chains", shape[0]), (targets, "chains" if symmetric else "others", shape[1])):
        for k, chain in enumerate(chains):
            if chain.n_states != size:
                raise InvalidProblem(
                    f"cost has shape {shape} and serves for every pair, but {name}[{k}] has {chain.n_states} states; "
                    "give a function of two chains instead, which returns an array of their shape"
                )

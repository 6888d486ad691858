"""Distances between many chains: one certified number for every pair of them, between their starts.

Where the cost is symmetric, c_ij(x, y) = c_ji(y, x), so is the distance, and one pair of each two is computed; where
c_ii(x, x) = 0, a chain is at no distance from itself. Both are known of the gap between rewards and of label mismatch,
and looked up in the arrays of any other cost. Pairs are independent: heavy ones come first, so that workers finish
together, and every finished one can be kept in a folder, from which an interrupted run goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from html import escape
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import _memory
from bisimetric._bellman import Bellman
from bisimetric._chain import MarkovChain
from bisimetric._convert import as_chain
from bisimetric._cost import Cost, label_mismatch, reward_gap
from bisimetric._errors import BisimetricError, InvalidOption, InvalidProblem, MissingStart, PairwiseInterrupted
from bisimetric._pair_question import Question
from bisimetric._pair_runs import Outcome, Pair, check_n_jobs, naming, outcomes, worker_count
from bisimetric._problem import checked_discount
from bisimetric._solve import checked_tol
from bisimetric._stochastic import Floats, frozen
from bisimetric.io._pair_store import Numbers, PairStore
from bisimetric.solvers import PolicyIteration, Solver

BYTES_PER_ENTRY = 24  # of a table: three doubles
BYTES_PER_PAIR = 600  # to be computed: its place in lists, its key, its numbers on the way
BYTES_PER_WORKER = 150 * 2**20  # a process with the kernels loaded


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distances:
    """Distances between the starts of N and M chains, each inside a certified interval; immutable.

    It serves as an array, which is `value`.
    """

    value: Floats  # [N, M], inside the interval and never negative
    lower: Floats  # [N, M]
    upper: Floats  # [N, M]

    @property
    def gap(self) -> float:
        """max(upper - lower)."""
        return float((self.upper - self.lower).max())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = self.value if dtype is None else self.value.astype(dtype, copy=False)
        return array.copy() if copy and array is self.value else array

    def __repr__(self) -> str:
        n, m = self.value.shape
        return f"Distances({n} x {m} chains, up to {self.value.max():.6g}, gap {self.gap:.1e})"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"


class PairDone(NamedTuple):
    """Progress: `done` of `total` pairs are there, the last of them chains i and j, in so many seconds."""

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
    solver: Solver[Any] = PolicyIteration(),  # noqa: B008
    tol: float | None = None,
    n_jobs: int = 1,
    store: object = None,
    on_pair: Callable[[PairDone], None] | None = None,
) -> Distances:
    """The certified distances between the starts of all chains, or of `chains` and `others`.

    Chains are anything that `as_chain` takes, with a start. An array as `cost` serves for every pair, so all chains of
    one list must have as many states; a function of two chains has no such limit. `n_jobs` is the number of processes,
    -1 for one on every core; the numbers do not depend on it. `store` is a folder that keeps every finished pair: the
    same call after an interrupt, a crash or kill -9 goes on from there, with the same result, and calls with other
    chains take from it what they share. `on_pair` is called after every pair that was computed, not for those found in
    the store. Ctrl-C raises `PairwiseInterrupted`, a pair without an answer `PairFailed`.

    >>> import bisimetric as bm
    >>> distances = bm.pairwise(["four-rooms:p0", "four-rooms:p1", "four-rooms:p2"], discount=0.95)
    >>> distances.value.round(4)
    array([[0.    , 0.4356, 0.5326],
           [0.4356, 0.    , 0.5146],
           [0.5326, 0.5146, 0.    ]])
    """
    question = Question(checked_discount(discount), cost, bool(normalised), solver, tol)
    checked_tol(tol, solver)
    check_n_jobs(n_jobs)
    sources = _checked_chains(chains, "chains", cost)
    targets = sources if others is None else _checked_chains(others, "others", cost)
    if cost is not None and not callable(cost):
        _check_sizes(question, sources, targets, folded=others is None)
    count = len(sources) * len(targets)
    _memory.require(
        BYTES_PER_ENTRY * count + BYTES_PER_PAIR * (count if others is not None else count // 2),
        f"a table of {len(sources)} x {len(targets)} chains",
        "compare fewer at a time; a store shares what they have in common",
    )
    kept = None if store is None else PairStore(store)
    plan = _Plan(question, sources, targets, folded=others is None)
    return plan.table(_Run(question, plan.pairs, kept, on_pair).to_the_end(n_jobs))


class _Plan:
    """Which pairs are computed, heaviest first, and where their numbers belong."""

    def __init__(
        self, question: Question, sources: Sequence[MarkovChain], targets: Sequence[MarkovChain], *, folded: bool
    ) -> None:
        self._shape = len(sources), len(targets)
        self._mirrored = np.zeros(self._shape, np.bool_)  # of a computed pair, whether it answers for its mirror image
        places = self._one_of_two(question, sources) if folded else np.ndindex(self._shape)
        pairs = [Pair(i, j, sources[i], targets[j]) for i, j in places]
        self.pairs = sorted(pairs, key=_weight, reverse=True)

    def _one_of_two(self, question: Question, chains: Sequence[MarkovChain]) -> Iterator[tuple[int, int]]:
        known = _is_known(question.cost)
        for i, first in enumerate(chains):
            if not known and _costs(question, (i, first), (i, first)).diagonal().any():
                yield i, i
            for j in range(i + 1, len(chains)):
                yield i, j
                ends = (i, first), (j, chains[j])
                if known or np.array_equal(_costs(question, *ends), _costs(question, *ends[::-1]).T):
                    self._mirrored[i, j] = True
                else:
                    yield j, i

    def table(self, numbers: Sequence[Numbers]) -> Distances:
        """The numbers of all pairs in their places; what was not computed is zero."""
        tables = np.zeros((3, *self._shape))
        for (i, j, *_), found in zip(self.pairs, numbers, strict=True):
            tables[:, i, j] = found
            if self._mirrored[i, j]:
                tables[:, j, i] = found
        return Distances(*map(frozen, tables))


class _Run:
    """Pairs being computed: what is found in the store, then the rest."""

    def __init__(
        self,
        question: Question,
        pairs: Sequence[Pair],
        store: PairStore | None,
        on_pair: Callable[[PairDone], None] | None,
    ) -> None:
        self._question = question
        self._pairs = pairs
        self._store = store
        self._on_pair = on_pair
        self._numbers: dict[int, Numbers] = {}  # by the pair's place in the list
        self._keys: list[bytes] = []

    def to_the_end(self, n_jobs: int) -> list[Numbers]:
        """The numbers of all pairs."""
        total = len(self._pairs)
        try:
            self._look_up()
            self._compute([k for k in range(total) if k not in self._numbers], n_jobs)
        except KeyboardInterrupt:
            done = len(self._numbers)
            remedy = "the same call goes on from there" if self._store is not None else "store= would have kept them"
            raise PairwiseInterrupted(f"interrupted after {done} of {total} pairs; {remedy}", done, total) from None
        finally:
            if self._store is not None:
                self._store.close()
        return [self._numbers[k] for k in range(total)]

    def _look_up(self) -> None:
        if self._store is None:
            return
        for i, j, source, target in self._pairs:
            with naming(i, j):
                self._keys.append(self._question.key(source, target))
        found = self._store.found(frozenset(self._keys))
        self._numbers = {k: found[key] for k, key in enumerate(self._keys) if key in found}

    def _compute(self, missing: Sequence[int], n_jobs: int) -> None:
        pairs = [self._pairs[k] for k in missing]
        workers = worker_count(n_jobs, len(pairs))
        if workers > 1:
            _check_memory(self._question, pairs[0], workers)
        with closing(outcomes(self._question, pairs, workers)) as arriving:
            for outcome in arriving:
                self._accept(missing[outcome.number], outcome)

    def _accept(self, k: int, outcome: Outcome) -> None:
        assert outcome.numbers is not None
        if self._store is not None:
            self._store.keep(self._keys[k], outcome.numbers)
        self._numbers[k] = outcome.numbers
        if self._on_pair is not None:
            pair = self._pairs[k]
            self._on_pair(PairDone(len(self._numbers), len(self._pairs), pair.i, pair.j, outcome.seconds))


def _weight(pair: Pair) -> int:
    """About proportional to the work: the sizes of the transports of all pairs of states."""
    source, target = pair.source, pair.target
    return int(source.n_states * target.transitions.nnz + target.n_states * source.transitions.nnz)


def _costs(question: Question, source: tuple[int, MarkovChain], target: tuple[int, MarkovChain]) -> Floats:
    with naming(source[0], target[0]):
        return question.problem(source[1], target[1]).cost


def _check_memory(question: Question, heaviest: Pair, workers: int) -> None:
    """Each worker looks at what is free before it solves, but cannot know what the others are about to take."""
    needed = workers * BYTES_PER_WORKER
    if question.solver.open_pairs:
        with naming(heaviest.i, heaviest.j):
            needed += workers * Bellman.of(question.problem(heaviest.source, heaviest.target)).tree_bytes()
    _memory.require(needed, f"solving {workers} pairs of chains at once", "use fewer n_jobs")


def _is_known(cost: npt.ArrayLike | Cost | None) -> bool:
    """Whether a cost is symmetric and zero between equal states, without a look."""
    return cost is None or cost is reward_gap or cost is label_mismatch


def _checked_chains(given: Iterable[Any], name: str, cost: npt.ArrayLike | Cost | None) -> list[MarkovChain]:
    if isinstance(given, (str, bytes, MarkovChain)) or not isinstance(given, Iterable):
        raise InvalidOption(f"{name} is a {type(given).__name__}, expected a list of chains")
    chains = []
    for k, item in enumerate(given):
        try:
            chains.append(as_chain(item))
        except BisimetricError as error:
            raise type(error)(f"{name}[{k}]: {error}") from None
        _check_chain(chains[-1], f"{name}[{k}]", cost)
    if not chains:
        raise InvalidOption(f"{name} is empty, expected at least one chain")
    return chains


def _check_chain(chain: MarkovChain, place: str, cost: npt.ArrayLike | Cost | None) -> None:
    if chain.start is None:
        raise MissingStart(f"{place} has no start, between which distances are; chain.with_start(state) gives it one")
    needed = "labels" if cost is label_mismatch else "reward"
    if _is_known(cost) and getattr(chain, needed) is None:
        raise InvalidProblem(f"{place} has no {needed}; give it {needed}=, or choose another cost")


def _check_sizes(
    question: Question, sources: Sequence[MarkovChain], targets: Sequence[MarkovChain], *, folded: bool
) -> None:
    """Raise unless an array of costs fits every pair."""
    shape = question.problem(sources[0], targets[0]).shape
    for chains, name, size in ((sources, "chains", shape[0]), (targets, "chains" if folded else "others", shape[1])):
        for k, chain in enumerate(chains):
            if chain.n_states != size:
                raise InvalidProblem(
                    f"cost has shape {shape} and serves for every pair, but {name}[{k}] has {chain.n_states} states; "
                    "give a function of two chains instead, which returns an array of their shape"
                )

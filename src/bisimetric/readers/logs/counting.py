"""From batches of rows to what every sequence contributes.

Rows of one sequence may be anywhere in the data, as in a log of a server that is ordered by time: the last states of
every sequence are kept from batch to batch. Only where the steps of a sequence go backwards are all rows held and
sorted. With order k a state is the last k values, and a sequence begins at its k-th row.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support import memory
from bisimetric.errors import InvalidData
from bisimetric.models.estimated import SequenceCounts
from bisimetric.models.rows import Floats, Ints, Mask
from bisimetric.readers.logs.columns import GROUPING, MOST_LOG_STATES, Log, LogRows

VALUE_BITS = 20  # of one value in the key of a state that is several; more than MOST_LOG_STATES needs
MOST_TABLED = 2**22  # pairs of states up to which transitions are found in a table
BYTES_PER_SORTED_ROW = 60  # numbers of a row, its place, and copies of both
HIGHEST_ORDER = 3


class Counted(NamedTuple):
    """The contributions of all sequences, over states in the order of their first appearance."""

    sequences: SequenceCounts
    actions: Ints | None  # [T], of every transition
    action_values: list[Any]
    states: list[tuple[Any, ...]]  # values of every state; () for the end of a sequence
    rows: int
    short: int  # sequences without a transition
    resorted: bool  # steps went backwards


class _Backwards(Exception):
    """Steps of a sequence are not ascending."""


def counted(log: Log, order: int, *, end: bool) -> Counted:
    """What every sequence of a log contributes."""
    counter = _Counter(log, order)
    try:
        for batch in log.batches():
            counter.add(batch)
    except _Backwards:
        counter = _Counter(log, order)
        counter.add(_sorted(log.batches()))
        return counter.result(end=end, resorted=True)
    return counter.result(end=end, resorted=False)


def _sorted(batches: Iterable[LogRows]) -> LogRows:
    """All rows, by sequence and step."""
    kept = []
    rows = 0
    for batch in batches:
        rows += len(batch.state)
        memory.require_if_large(BYTES_PER_SORTED_ROW * rows, "sorting the log by step", "sort the file by step before")
        kept.append(batch)
    parts: list[Any] = [None if part[0] is None else np.concatenate(part) for part in zip(*kept, strict=True)]
    whole = LogRows(*parts)
    assert whole.step is not None
    place = np.lexsort((whole.step, whole.sequence))
    return whole.rows(place)


class _Counter:
    """Adds up batches."""

    def __init__(self, log: Log, order: int) -> None:
        self._log = log
        self._order = order
        self._states: dict[int, int] = {}  # key of a state that is several values → its number
        self._moves: dict[int, int] = {}  # key of a transition → its number
        self._last = np.empty((0, order + 1), np.int64)  # [sequences, ...]: the last values, latest first; -1: none
        self._last_step: npt.NDArray[Any] | None = None  # [sequences]
        self._last_action = np.empty(0, np.int64)
        self._first = np.empty(0, np.int64)  # [sequences], their first states
        self._pairs: list[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]] = []  # sequence, transition
        self._rewards: list[tuple[npt.NDArray[np.int32], Ints, Floats]] = []  # sequence, state (and action), reward
        self._rows = 0

    def add(self, batch: LogRows) -> None:
        """Count the transitions of some more rows."""
        rows = len(batch.state)
        if not rows:
            return
        self._rows += rows
        if (np.diff(batch.sequence) < 0).any():
            place = np.argsort(batch.sequence, kind="stable")
            batch = batch.rows(place)
        sequence = batch.sequence
        self._grow(len(self._log.sequences))
        begins = np.concatenate(([0], np.flatnonzero(np.diff(sequence)) + 1))
        ends = np.append(begins[1:], rows) - 1
        if batch.step is not None:
            self._check_steps(batch.step, sequence, begins, ends)
        before = [batch.state, *self._earlier(batch.state, sequence, begins)]  # [order + 1] of values, latest first
        to, is_state = self._state_numbers(before[: self._order])
        come_from, has_before = self._state_numbers(before[1:])
        moved = is_state & has_before
        started = is_state & ~has_before
        self._first[sequence[started]] = to[started]
        actions = None if batch.action is None else self._earlier_actions(batch.action, sequence, begins, ends)
        self._count(sequence[moved], come_from[moved], None if actions is None else actions[moved], to[moved])
        if batch.reward is not None:
            place = to if batch.action is None else (to << VALUE_BITS) | batch.action
            self._rewards.append((sequence[is_state].astype(np.int32), place[is_state], batch.reward[is_state]))
        for j in range(self._order):
            self._last[sequence[ends], j] = before[j][ends]

    def _grow(self, sequences: int) -> None:
        more = sequences - len(self._last)
        if more > 0:
            self._last = np.concatenate([self._last, np.full((more, self._order + 1), -1)])
            self._first = np.concatenate([self._first, np.full(more, -1)])
            self._last_action = np.concatenate([self._last_action, np.full(more, -1)])

    def _check_steps(self, step: npt.NDArray[Any], sequence: Ints, begins: Ints, ends: Ints) -> None:
        """Raise where steps of a sequence are equal, or not ascending."""
        before = np.concatenate((step[:1], step[:-1]))
        known = np.ones(len(step), np.bool_)
        known[begins] = False
        if self._last_step is not None:
            seen = sequence[begins] < len(self._last_step)
            at = begins[seen]
            known[at] = self._last[sequence[at], 0] >= 0
            before[at] = self._last_step[sequence[at]]
        if (known & (step < before)).any():
            raise _Backwards
        twice = np.flatnonzero(known & (step == before))
        if len(twice):
            name = self._log.sequences.values[sequence[twice[0]]]
            what = self._log.step_text(step[twice[0]])
            raise InvalidData(
                f"sequence {name!r} has the step {what} twice ({len(twice)} such rows here), so the order of its "
                "states is not known; give a finer step, drop one of the rows, or no step for the rows' own order"
            )
        kept = np.zeros(len(self._last), step.dtype)
        if self._last_step is not None:
            kept[: len(self._last_step)] = self._last_step
        kept[sequence[ends]] = step[ends]
        self._last_step = kept

    def _earlier(self, state: Ints, sequence: Ints, begins: Ints) -> list[Ints]:
        """For j = 1, …, order: the value of the same sequence j rows earlier, -1 where there is none."""
        found = []
        sizes = np.diff(np.append(begins, len(state)))
        for j in range(1, self._order + 1):
            earlier = np.full(len(state), -1)
            earlier[j:] = state[:-j]
            for i in range(j):  # rows number i of each part, whose j-th predecessor is in a batch before
                at = (begins + i)[sizes > i]
                earlier[at] = self._last[sequence[at], j - 1 - i]
            found.append(earlier)
        return found

    def _earlier_actions(self, action: Ints, sequence: Ints, begins: Ints, ends: Ints) -> Ints:
        earlier = np.concatenate((action[:1], action[:-1]))
        earlier[begins] = self._last_action[sequence[begins]]
        self._last_action[sequence[ends]] = action[ends]
        return earlier

    def _state_numbers(self, values: list[Ints]) -> tuple[Ints, Mask]:
        """The numbers of the states that these values are, latest first, and where all of them are there."""
        whole = np.logical_and.reduce([value >= 0 for value in values])
        if self._order == 1:
            return values[0], whole
        keys = np.zeros(len(whole), np.int64)
        for value in reversed(values):
            keys = (keys << VALUE_BITS) | value
        numbers = np.full(len(whole), -1)
        different, place = np.unique(keys[whole], return_inverse=True)
        numbers[whole] = _numbers(self._states, different)[place]
        if len(self._states) > MOST_LOG_STATES:
            raise InvalidData(
                f"order={self._order} makes more than {MOST_LOG_STATES} states; use a lower order; {GROUPING}"
            )
        return numbers, whole

    def _count(self, sequence: Ints, come_from: Ints, action: Ints | None, to: Ints) -> None:
        n = len(self._log.states) if self._order == 1 else len(self._states)
        if action is None and n * n <= MOST_TABLED:
            keys = come_from * n + to
            there = np.flatnonzero(np.bincount(keys, minlength=n * n))
            table = np.zeros(n * n, np.int32)
            table[there] = _numbers(self._moves, (there // n << 2 * VALUE_BITS) | there % n)
            moves = table[keys]
        else:
            acted = np.zeros(len(to), np.int64) if action is None else action
            keys = (((come_from << VALUE_BITS) | acted) << VALUE_BITS) | to
            different, place = np.unique(keys, return_inverse=True)
            moves = _numbers(self._moves, different)[place].astype(np.int32)
        self._pairs.append((sequence.astype(np.int32), moves))

    def result(self, *, end: bool, resorted: bool) -> Counted:
        """Everything added up; with `end` every sequence moves to a last state of its own."""
        values = self._log.states.values
        states: list[tuple[Any, ...]] = [(value,) for value in values]
        if self._order > 1:
            mask = (1 << VALUE_BITS) - 1
            shifts = [VALUE_BITS * j for j in reversed(range(self._order))]
            states = [tuple(values[(key >> shift) & mask] for shift in shifts) for key in self._states]
        if end and len(self._last):
            self._end(len(states))
            states.append(())
        n, sequences = len(states), len(self._last)
        keys = np.fromiter(self._moves, np.int64, len(self._moves))
        mask = (1 << VALUE_BITS) - 1
        source, target = keys >> 2 * VALUE_BITS, keys & mask
        who, moves = (np.concatenate(part) if part else np.empty(0, np.int32) for part in _columns(self._pairs, 2))
        counts = sparse.csr_array((np.ones(len(who), np.int32), (who, moves)), shape=(sequences, len(keys)))
        counts.sum_duplicates()
        with_actions = self._log.roles.action is not None
        reward, visits = self._reward_sums(n, sequences, len(self._log.actions) if with_actions else 1)
        short = int((np.diff(counts.indptr) == 0).sum())
        contributions = SequenceCounts(n, source, target, self._first, counts, reward, visits)
        actions = (keys >> VALUE_BITS) & mask if with_actions else None
        return Counted(contributions, actions, self._log.actions.values, states, self._rows, short, resorted)

    def _end(self, last_state: int) -> None:
        numbers, whole = self._state_numbers([self._last[:, j] for j in range(self._order)])
        who = np.flatnonzero(whole)
        keys = (numbers[who] << 2 * VALUE_BITS) | last_state
        different, place = np.unique(keys, return_inverse=True)
        self._pairs.append((who.astype(np.int32), _numbers(self._moves, different)[place].astype(np.int32)))

    def _reward_sums(
        self, n: int, sequences: int, actions: int
    ) -> tuple[sparse.csr_array | None, sparse.csr_array | None]:
        """Sums and numbers of rewards, [sequences, n] or, with actions, [sequences, n · actions]."""
        if self._log.roles.reward is None:
            return None, None
        who, place, reward = (np.concatenate(part) for part in _columns(self._rewards, 3))
        if self._log.roles.action is not None:
            place = (place >> VALUE_BITS) * actions + (place & ((1 << VALUE_BITS) - 1))
        shape = (sequences, n * actions)
        sums = sparse.csr_array((reward, (who, place)), shape=shape)
        seen = sparse.csr_array((np.ones(len(who), np.int32), (who, place)), shape=shape)
        for matrix in (sums, seen):
            matrix.sum_duplicates()
        return sums, seen


def _numbers(known: dict[int, int], keys: Ints) -> Ints:
    """The numbers of keys, new ones for those that are not known."""
    return np.array([known.setdefault(key, len(known)) for key in keys.tolist()], np.int64)


def _columns(rows: list[Any], width: int) -> Iterable[tuple[Any, ...]]:
    return zip(*rows, strict=True) if rows else ((),) * width

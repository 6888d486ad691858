"""Chains that were estimated from sequences, with the counts that they come from.

    P[x] = N(x, ·) / N(x),        r(x) = mean of the rewards seen in x,        start = shares of the first states

What is kept of every sequence is how often it makes each transition, where it starts, and its rewards per state. That
is all that an estimate depends on, so resampled estimates are sums over sequences and need no second look at the data.

A state that is never left has no row. A named rule fills it: "absorbing" (it stays where it is), "drop" (the state and
all transitions into it are left out), or "smoothing" (a pseudocount on every transition). `unseen` marks such rows and
`notes` says in words what was done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support import memory
from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.options import one_of
from bisimetric.errors import InvalidChain, MissingExtra
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats, Ints, Mask, SparseField, scaled_rows

if TYPE_CHECKING:
    from pandas import DataFrame

BYTES_PER_SMOOTHED = 40  # of a transition: counts, probabilities, their places, and copies
UNSEEN_RULES = ("absorbing", "drop", "smoothing")


class Totals(NamedTuple):
    """Sums over sequences, each with a weight."""

    counts: Ints  # [T], of every transition that occurs in any sequence
    starts: Ints  # [n], of first states
    reward: Floats | None  # [n], sums of rewards
    visits: Ints | None  # [n], rows with a reward


@dataclass(frozen=True, eq=False)
class SequenceCounts(Immutable):
    """What every sequence contributes to an estimate: its transitions, its first state, its rewards per state.

    Attributes
    ----------
    n_states : int
    source, target : [T] arrays
        The states of every transition that occurs in any sequence.
    start : [N] array
        The first state of every sequence; -1 where it has none.
    counts : csr_array [N, T]
        How often each sequence makes each transition.
    reward, visits : csr_array [N, n] or None
        Sums of rewards per state, and how many rewards there were.
    """

    n_states: int
    source: Ints
    target: Ints
    start: Ints
    counts: SparseField[sparse.csr_array] = SparseField()  # noqa: RUF009 - [N, T]
    reward: SparseField[sparse.csr_array | None] = SparseField()  # noqa: RUF009 - [N, n]
    visits: SparseField[sparse.csr_array | None] = SparseField()  # noqa: RUF009 - [N, n]

    def __len__(self) -> int:
        return len(self.start)

    def totals(self, weights: npt.NDArray[Any] | None = None) -> Totals:
        """Sums over all sequences, or with a weight [N] for each."""
        return self.totals_of(np.ones(len(self), np.int64) if weights is None else weights)[0]

    def totals_of(self, *weights: npt.NDArray[Any]) -> list[Totals]:
        """The sums for several weights [N], in one pass over the sequences."""
        known = self.start >= 0
        first = self.start[known]
        times = np.stack(weights, axis=1)
        counts, *sums = (
            [None] * len(weights) if part is None else np.ascontiguousarray((part.T @ times).T)
            for part in (self.counts, self.reward, self.visits)
        )
        starts = [np.bincount(first, weights=side[known], minlength=self.n_states).astype(np.int64) for side in weights]
        return [Totals(*parts) for parts in zip(counts, starts, *sums, strict=True)]

    def without(self, dropped: Mask) -> SequenceCounts:
        """The same without some states and all transitions from and to them."""
        place = np.cumsum(~dropped) - 1
        keep = np.flatnonzero(~(dropped[self.source] | dropped[self.target]))
        kept = np.flatnonzero(~dropped)
        starts = np.where((self.start >= 0) & ~dropped[self.start], place[self.start], -1)
        sums = [None if part is None else sparse.csr_array(part[:, kept]) for part in (self.reward, self.visits)]
        ends = place[self.source[keep]], place[self.target[keep]]
        return SequenceCounts(len(kept), *ends, starts, sparse.csr_array(self.counts[:, keep]), *sums)


@dataclass(frozen=True, eq=False, init=False, kw_only=True)
class EstimatedChain(MarkovChain):
    """A Markov chain estimated from sequences; it keeps its counts. `from_trajectories` makes one.

    It is a `MarkovChain` wherever one is taken. Distances between such chains are about the estimates: `compare` says
    what they tell about the processes behind them.

    Parameters
    ----------
    sequences : SequenceCounts
        What every sequence contributes.
    names : sequence of n strings
    labels : sequence of n labels, optional
        By default the names, so that states of equal names match in costs that compare labels.
    rule : {"absorbing", "drop", "smoothing"}
        How rows without data are filled.
    smoothing : float
        Added to every count of the n x n transitions; only with rule "smoothing".
    end : str, optional
        The name of the state in which sequences end. It is absorbing by definition, and not one without data.
    notes : sequence of str
        What reading the data decided.

    Attributes
    ----------
    counts : csr_array [n, n] of int64
        How often each transition was seen.
    visits : [n] array
        How often each state was left.
    start_counts : [n] array
        How many sequences start in each state.
    unseen : [n] array of bool
        States that were never left; their rows are filled by `rule`.
    ends : [n] array of bool
        The state in which sequences end, if it was asked for.
    n_sequences, n_transitions : int
    n_seen_once : int
        States that were left once only.
    notes : tuple of str
        What was decided about the data, in words.

    Raises
    ------
    InvalidChain
        There is no transition, or dropping leaves no state.
    """

    sequences: SequenceCounts
    start_counts: Ints  # [n]
    unseen: Mask  # [n]
    ends: Mask  # [n]
    rule: str
    smoothing: float
    notes: tuple[str, ...]
    counts: SparseField[sparse.csr_array] = SparseField()  # noqa: RUF009 - [n, n] of int64

    def __init__(
        self,
        sequences: SequenceCounts,
        names: Sequence[str],
        labels: Sequence[object] | None = None,
        *,
        rule: str = "absorbing",
        smoothing: float = 0.0,
        end: str | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        one_of(rule, "unseen", UNSEEN_RULES)
        names, told = tuple(names), tuple(notes)
        labels = names if labels is None else tuple(labels)
        if rule == "drop":
            sequences, kept = _without_dead_ends(sequences, names.index(end) if end in names else -1)
            if len(kept) < len(names):
                told = (
                    *told,
                    f"{len(names) - len(kept)} of {len(names)} states are never left: dropped (unseen='drop')",
                )
            names, labels = tuple(names[k] for k in kept), tuple(labels[k] for k in kept)
        total = sequences.totals()
        n = sequences.n_states
        counts = count_matrix(sequences, total.counts)
        if counts.nnz == 0:
            raise InvalidChain("the sequences hold no transition, expected at least one of two steps; give longer ones")
        ends = np.array([name == end for name in names])
        unseen = np.asarray(counts.sum(axis=1) == 0) & ~ends
        if unseen.any():
            how = f"{int(unseen.sum())} of {n} states never left"
            told = (*told, f"{how}: smoothed" if rule == "smoothing" else f"{how}: absorbing (unseen='absorbing')")
        start = total.starts / total.starts.sum() if total.starts.any() else None
        super().__init__(
            filled_rows(counts, smoothing if rule == "smoothing" else 0.0, ends),
            reward=mean_reward(total),
            start=start,
            names=names,
            labels=labels,
        )
        values = {
            "sequences": sequences,
            "start_counts": frozen(total.starts),
            "unseen": frozen(unseen),
            "ends": frozen(ends),
            "rule": rule,
            "smoothing": float(smoothing),
            "notes": told,
            "counts": counts,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def visits(self) -> Ints:
        """[n], how often each state was left."""
        return np.asarray(self.counts.sum(axis=1), np.int64)

    @property
    def end(self) -> str | None:
        """The name of the state in which sequences end, if it was asked for."""
        found = np.flatnonzero(self.ends)
        return self.name_of(int(found[0])) if len(found) else None

    @property
    def n_sequences(self) -> int:
        """How many sequences there are."""
        return len(self.sequences)

    @property
    def n_transitions(self) -> int:
        """How many transitions were seen, all together."""
        return int(self.counts.sum())

    @property
    def n_seen_once(self) -> int:
        """How many states were left once only."""
        return int((self.visits == 1).sum())

    def frame(self) -> DataFrame:
        """The counts as a pandas DataFrame [n, n], by the names of the states."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("frames need pandas: pip install 'bisimetric[data]'") from None
        return pandas.DataFrame(self.counts.toarray(), index=self.names, columns=self.names)

    def _arrays(self) -> tuple[npt.NDArray[Any] | None, ...]:
        counts = self.counts
        return *super()._arrays(), counts.indptr, counts.indices, counts.data, self.start_counts

    def __repr__(self) -> str:
        parts = [
            f"{self.n_states} states",
            f"{self.n_transitions} transitions",
            f"{self.n_sequences} sequences",
            f"{self.n_seen_once} states seen once",
        ]
        if self.unseen.any():
            parts.append(f"{int(self.unseen.sum())} never left ({self.rule})")
        return f"EstimatedChain({', '.join(parts)})"


def count_matrix(sequences: SequenceCounts, counts: npt.NDArray[Any]) -> sparse.csr_array:
    """Counts of transitions [T] as a canonical matrix [n, n] of whole numbers, without zeros."""
    n = sequences.n_states
    matrix = sparse.csr_array((counts.astype(np.int64), (sequences.source, sequences.target)), shape=(n, n))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    for part in (matrix.data, matrix.indices, matrix.indptr):
        frozen(part)
    return matrix


def filled_rows(counts: sparse.csr_array, smoothing: float, ends: Mask) -> sparse.csr_array:
    """Rows of probabilities: counts, plus a pseudocount everywhere but at `ends`; rows without any are self-loops."""
    n = counts.shape[0]
    if smoothing > 0.0:
        memory.require_if_large(BYTES_PER_SMOOTHED * n * n, f"smoothing {n} x {n} transitions", "leave out smoothing=")
        filled = counts.toarray() + smoothing
        filled[ends] = np.eye(n)[ends]
        return scaled_rows(sparse.csr_array(filled))
    empty = np.asarray(counts.sum(axis=1) == 0, np.float64)
    return scaled_rows(sparse.csr_array(counts.astype(np.float64) + sparse.diags_array(empty, shape=(n, n))))


def mean_reward(total: Totals) -> Floats | None:
    """[n], the mean reward of every state, 0 where none was seen; None without rewards."""
    if total.reward is None or total.visits is None:
        return None
    return np.asarray(total.reward / np.maximum(total.visits, 1), np.float64)


def _without_dead_ends(sequences: SequenceCounts, end: int) -> tuple[SequenceCounts, Ints]:
    """The sequences without states that are never left but the `end`, again and again; and which states are kept."""
    kept = np.arange(sequences.n_states)
    while True:
        left = np.bincount(sequences.source, minlength=sequences.n_states)
        dead = (left == 0) & (kept != end)
        if not dead.any():
            return sequences, kept
        if dead.all():
            raise InvalidChain(
                "unseen='drop' leaves no state: every state leads to one that is never left; use unseen='absorbing'"
            )
        sequences, kept = sequences.without(dead), kept[~dead]

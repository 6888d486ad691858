"""Two logs over the union of their states and transitions: any sample of their sequences is a chain of one shape.

Every chain made here has all transitions of the union. Where a sample lacks one, it has the probability 2⁻⁵⁰: far below
every tolerance, and the transport trees of one sample then serve all others. A state that a sample never visits has the
row of both logs together: that changes no distance, and a derivative towards it then says what the other log does.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import Immutable, changed
from bisimetric.errors import InvalidData, InvalidOption
from bisimetric.kernels.layout import Rows
from bisimetric.models.chain import MarkovChain
from bisimetric.models.estimated import EstimatedChain, SequenceCounts, Totals, mean_reward
from bisimetric.models.rows import GRAIN, Floats, Ints, Mask, whole_grains

ABSENT = 4 * GRAIN  # probability of a transition that a sample lacks
RARELY_LEFT = 15  # sequences of a sample: a state that fewer of them leave may be a dead end in a resample


@dataclass(frozen=True, eq=False)
class PooledLogs(Immutable):
    """The sequences of two logs, those of the first log first, over the union of states."""

    names: tuple[str, ...]
    sizes: tuple[int, int]  # sequences of the two logs
    smoothing: float
    sequences: SequenceCounts  # of both logs, with every transition of either once, sorted
    counts: Ints  # [T], of both logs together
    template: MarkovChain  # a chain on the union, with names and labels

    @property
    def only(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The states that only the first log visits, and only the second."""
        visited = [self._visited(side) for side in self.split()]
        return tuple(
            tuple(name for name, own, other in zip(self.names, *order, strict=True) if own and not other)
            for order in (visited, visited[::-1])
        )  # type: ignore[return-value]

    def split(self) -> tuple[Ints, Ints]:
        """[N] weights of the sequences: those of the first log, and those of the second."""
        first = np.repeat([1, 0], self.sizes)
        return first, 1 - first

    def _visited(self, weights: Ints) -> npt.NDArray[np.bool_]:
        total = self.sequences.totals(weights)
        left = np.bincount(self.sequences.source, weights=total.counts, minlength=len(self.names))
        entered = np.bincount(self.sequences.target, weights=total.counts, minlength=len(self.names))
        return np.asarray((left + entered + total.starts) > 0)

    @cached_property
    def layout(self) -> SharedSupports:
        """The transitions of every chain."""
        n, row = len(self.names), self.sequences.source
        loop = row == self.sequences.target
        with_loop = np.zeros(n, np.bool_)
        with_loop[row[loop]] = True
        indptr = np.searchsorted(row, np.arange(n + 1))
        return SharedSupports(indptr, self.sequences.target.astype(np.int32), loop, with_loop)

    def rows(self, total: Totals) -> Rows:
        """The rows of a sample, with the transitions of the union: multiples of the grain that sum to one."""
        n, row, (indptr, target, loop, with_loop) = len(self.names), self.sequences.source, self.layout
        weight = total.counts.astype(np.float64) + self.smoothing
        left = np.bincount(row, weights=weight, minlength=n)
        if not left.all():
            entered = np.bincount(target, weights=total.counts, minlength=n) + total.starts
            elsewhere = (left + entered == 0.0)[row]  # never visited in the sample, so the row changes no distance
            weight[elsewhere] = self.counts[elsewhere]
            dead = np.bincount(row, weights=weight, minlength=n) == 0.0
            weight[loop & dead[row]] = 1.0
            weight[(dead & ~with_loop)[row]] = 1.0  # never a dead end of a sample, or hardly ever
            left = np.bincount(row, weights=weight, minlength=n)
        share = np.maximum(weight / left[row], ABSENT)
        share /= np.add.reduceat(share, indptr[:-1])[row]
        return Rows(indptr, target, whole_grains(share, indptr)[0])

    def start(self, total: Totals) -> Floats:
        """The law of first states in a sample; exact, as rows are."""
        law = np.zeros(len(self.names))
        seen = np.flatnonzero(total.starts)
        law[seen] = whole_grains(total.starts[seen] / total.starts.sum(), np.array([0, len(seen)]))[0]
        return law

    def chain(self, total: Totals) -> MarkovChain:
        """The chain of a sample."""
        n, rows = len(self.names), self.rows(total)
        places = rows.indices.copy(), rows.indptr.copy()  # a chain's arrays become read-only, and others share these
        matrix = sparse.csr_array((rows.data, *places), shape=(n, n))
        return changed(
            self.template,
            transitions=matrix,
            row_error=np.full(n, matrix.nnz * ABSENT),
            reward=mean_reward(total),
            start=self.start(total),
        )


class SharedSupports(NamedTuple):
    """The transitions of a union in CSR form."""

    indptr: Ints
    target: npt.NDArray[np.int32]
    loop: Mask  # [T], transitions from a state to itself
    with_loop: Mask  # [n], states that have one


def pooled(first: EstimatedChain, second: EstimatedChain) -> PooledLogs:
    """Both logs over the union of their states: those of the first in its order, then the others."""
    _check_alike(first, second)
    assert first.names is not None
    assert second.names is not None
    names = tuple(dict.fromkeys((*first.names, *second.names)))
    place = {name: k for k, name in enumerate(names)}
    label = dict(zip(second.names, second.labels or second.names, strict=True))
    label |= dict(zip(first.names, first.labels or first.names, strict=True))
    n = len(names)
    moved = [aligned_sequences(chain, place) for chain in (first, second)]
    keys = np.concatenate([part.source * n + part.target for part in moved] + [_loops(moved, n)])
    if first.smoothing > 0.0:
        keys = np.arange(n * n)
    known = np.unique(keys)
    counts = [_spread(part.counts, np.searchsorted(known, part.source * n + part.target), len(known)) for part in moved]
    sums: list[Any] = [None, None]
    if moved[0].reward is not None:
        sums = [sparse.vstack([getattr(part, name) for part in moved], format="csr") for name in ("reward", "visits")]
    both = SequenceCounts(
        n,
        known // n,
        known % n,
        np.concatenate([part.start for part in moved]),
        sparse.csr_array(sparse.vstack(counts, format="csr")),
        *sums,
    )
    template = MarkovChain(sparse.eye_array(n), names=names, labels=[label[name] for name in names], start=0)
    return PooledLogs(names, (len(moved[0]), len(moved[1])), first.smoothing, both, both.totals().counts, template)


def aligned_sequences(chain: EstimatedChain, place: dict[str, int]) -> SequenceCounts:
    """The contributions of a log's sequences over the states of a union."""
    assert chain.names is not None
    own = np.array([place[name] for name in chain.names], np.int64)
    part = chain.sequences
    sums = [None if matrix is None else _spread(matrix, own, len(place)) for matrix in (part.reward, part.visits)]
    start = np.where(part.start >= 0, own[part.start], -1)
    return SequenceCounts(len(place), own[part.source], own[part.target], start, part.counts, *sums)


def on_union(chain: EstimatedChain, logs: PooledLogs) -> EstimatedChain:
    """A log's chain over the states of the union; the chain itself if it has the same."""
    if chain.names == logs.names:
        return chain
    sequences = aligned_sequences(chain, {name: k for k, name in enumerate(logs.names)})
    rule = "smoothing" if chain.smoothing > 0.0 else "absorbing"
    return EstimatedChain(
        sequences,
        logs.names,
        logs.template.labels,
        rule=rule,
        smoothing=chain.smoothing,
        end=chain.end,
        notes=chain.notes,
    )


def _spread(matrix: sparse.csr_array, place: Ints, width: int) -> sparse.csr_array:
    """The same matrix with its columns at other places of more columns."""
    return sparse.csr_array((matrix.data, place[matrix.indices], matrix.indptr), shape=(matrix.shape[0], width))


def _loops(parts: list[SequenceCounts], n: int) -> Ints:
    """Keys of self-loops at states that a resample may never leave: few sequences of a log, or of its size, do."""
    leaving = []
    for part in parts:
        who = np.repeat(np.arange(len(part)), np.diff(part.counts.indptr))
        once = np.unique(who * n + part.source[part.counts.indices])
        leaving.append(np.bincount(once % n, minlength=n))
    sizes = [len(part) for part in parts]
    in_smaller = (leaving[0] + leaving[1]) * (min(sizes) / sum(sizes))
    rare = np.flatnonzero(np.minimum(np.minimum(*leaving), in_smaller) < RARELY_LEFT)
    return np.asarray(rare * n + rare)


def spelled_otherwise(names: Iterable[str]) -> list[tuple[str, ...]]:
    """Names that differ only in spaces, in capitals, or in how a number is written."""
    found: dict[str | float, list[str]] = {}
    for name in names:
        plain: str | float = " ".join(name.split()).casefold()
        with suppress(ValueError):
            plain = float(plain)
        found.setdefault(plain, []).append(name)
    return [tuple(some) for some in found.values() if len(some) > 1]


def _check_alike(first: EstimatedChain, second: EstimatedChain) -> None:
    for role, chain in (("a", first), ("b", second)):
        if not isinstance(chain, EstimatedChain):
            raise InvalidOption(
                f"{role} is a {type(chain).__name__}, expected a log or the chain that from_trajectories makes of one; "
                "bm.distance compares chains that are known"
            )
        if chain.n_sequences < 2:
            raise InvalidData(
                f"{role} has one sequence, expected at least two: sequences are what is resampled; cut a long one into "
                "pieces that are nearly independent, as weeks or thousands of steps"
            )
        if not chain.start_counts.any():
            raise InvalidData(f"{role} has no sequence with a start among its states; use unseen='absorbing'")
    if (first.rule == "smoothing") != (second.rule == "smoothing") or first.smoothing != second.smoothing:
        raise InvalidOption("a and b were smoothed differently, expected the same smoothing= for both")
    if first.end != second.end:
        raise InvalidOption(f"sequences of a end in {first.end}, of b in {second.end}, expected the same end= for both")
    if (first.labels == first.names) != (second.labels == second.names):
        raise InvalidOption("the states of one log are pairs of the other's, expected the same order= for both")
    if (first.reward is None) != (second.reward is None):
        raise InvalidOption("one log has rewards and the other has none, expected reward= for both or for neither")

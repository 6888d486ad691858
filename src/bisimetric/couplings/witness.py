"""Witnesses: couplings and potentials as a solver proposes them and the checker reads them.

A `Witness` hands out, for any range of state pairs, the joint laws of the successors and one potential per pair. The
witness of transport trees is in `operators.trees`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from bisimetric.kernels.layout import Cells, Report
from bisimetric.models.rows import Floats, offsets
from bisimetric.operators.bellman import Bellman

CELLS_AT_ONCE = 2**16  # of couplings that are checked by all threads together, or written to a file, in one block

FlatPairs = npt.NDArray[np.int64]  # flat, source-major


class Witness(Protocol):
    """Proposes a coupling and a potential for every pair."""

    @property
    def cells_per_pair(self) -> int:
        """The most cells a pair can have, for choosing the length of a range."""
        ...

    def cells(self, first: int, last: int) -> Cells:
        """Couplings and potentials of the pairs first..last, flat unless the operator lists pairs."""
        ...


class ScatteredWitness(ABC):
    """A witness whose couplings are in several processes; the checker then works in each of them."""

    __slots__ = ()

    @abstractmethod
    def reports(self, value: Floats, upper: Floats, lower: Floats) -> list[Report]:
        """What `certificates.check.reports_on` finds on ranges that cover all pairs; fills in its bounds."""


class Proof(NamedTuple):
    """What the bounds of an answer follow from, in the scale of an operator."""

    witness: Witness
    value: Floats  # [n, m], that was checked, times `scale`
    scale: float
    steps: Floats | None = None  # [classes, classes], without a discount: bounds on the number of steps to an end


class Potentiated(NamedTuple):
    """Values with couplings and potentials that are optimal for them."""

    witness: Witness
    value: Floats  # [n, m], times `scale`
    scale: float


@dataclass(frozen=True, slots=True, eq=False)
class IndependentWitness:
    """The independent coupling P[x] ⊗ Q[y] and zero potentials, which are valid for every problem."""

    bellman: Bellman

    @property
    def cells_per_pair(self) -> int:
        return self.bellman.longest[0] * self.bellman.longest[1]

    def cells(self, first: int, last: int) -> Cells:
        cells = pair_cells(self.bellman, first, last)
        source, target, m = self.bellman.source, self.bellman.target, self.bellman.shape[1]
        count = np.diff(cells.indptr)
        x, y = np.divmod(np.arange(first, last), m)
        sizes_y = self.bellman.sizes[1][y]
        inside = np.arange(cells.indptr[-1]) - np.repeat(cells.indptr[:-1], count)
        left, right = np.divmod(inside, np.repeat(sizes_y, count))
        pair = np.repeat(np.arange(last - first), count)
        weight = source.data[source.indptr[x][pair] + left] * target.data[target.indptr[y][pair] + right]
        return cells._replace(
            left=left.astype(np.int32), right=right.astype(np.int32), weight=weight, potential=np.zeros(cells.start[-1])
        )


@dataclass(frozen=True, slots=True, eq=False)
class StoredWitness:
    """Couplings and potentials held in arrays, as read from a file."""

    all_cells: Cells

    @property
    def cells_per_pair(self) -> int:
        return _longest(self.all_cells.indptr)

    def cells(self, first: int, last: int) -> Cells:
        stored = self.all_cells
        if first == 0 and last == len(stored.indptr) - 1:
            return stored
        a, b = stored.indptr[first], stored.indptr[last]
        c, d = stored.start[first], stored.start[last]
        return Cells(
            stored.indptr[first : last + 1] - a,
            stored.left[a:b],
            stored.right[a:b],
            stored.weight[a:b],
            stored.start[first : last + 1] - c,
            stored.potential[c:d],
        )


@dataclass(frozen=True, slots=True, eq=False)
class ChosenWitness:
    """The couplings and potentials of one of two witnesses, pair by pair."""

    first: Witness
    second: Witness
    take_second: npt.NDArray[np.bool_]  # [n · m], flat

    @property
    def cells_per_pair(self) -> int:
        return max(self.first.cells_per_pair, self.second.cells_per_pair)

    def cells(self, first: int, last: int) -> Cells:
        count = last - first
        both = join([self.first.cells(first, last), self.second.cells(first, last)])
        return pick(both, np.arange(count) + count * self.take_second[first:last])


def pick(cells: Cells, pairs: FlatPairs) -> Cells:
    """The cells of some pairs, in that order."""
    indptr, inside = range_places(cells.indptr, pairs)
    start, within = range_places(cells.start, pairs)
    return Cells(indptr, cells.left[inside], cells.right[inside], cells.weight[inside], start, cells.potential[within])


def range_places(indptr: npt.NDArray[np.int64], pairs: FlatPairs) -> tuple[FlatPairs, FlatPairs]:
    """Concatenate the ranges indptr[k] to indptr[k + 1] of the pairs k: their new offsets, and the old places."""
    count = np.diff(indptr)[pairs]
    after = offsets(count)
    return after, np.arange(after[-1]) + np.repeat(indptr[pairs] - after[:-1], count)


def join(parts: list[Cells]) -> Cells:
    """The cells of one list of pairs after the other."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*parts, strict=True)
    indptr, left, right, weight, start, potential = columns
    return Cells(
        _chain_offsets(indptr),
        np.concatenate(left),
        np.concatenate(right),
        np.concatenate(weight),
        _chain_offsets(start),
        np.concatenate(potential),
    )


def _chain_offsets(parts: tuple[npt.NDArray[np.int64], ...]) -> npt.NDArray[np.int64]:
    return offsets(np.concatenate([np.diff(part) for part in parts]))


def successors(cells: Cells, P: Any, Q: Any, first: int = 0) -> npt.NDArray[np.int64]:
    """The flat pair of states that each cell leads to; the cells are those of the flat pairs from `first` on."""
    m = len(Q.indptr) - 1
    x, y = np.divmod(first + np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr)), m)
    return successors_of(cells, P, Q, x, y)


def successors_of(
    cells: Cells, P: Any, Q: Any, x: npt.NDArray[np.int64], y: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """The same for cells of any pairs (x, y), given cell by cell."""
    to: npt.NDArray[np.int64] = P.indices[P.indptr[x] + cells.left].astype(np.int64)
    to *= len(Q.indptr) - 1
    to += Q.indices[Q.indptr[y] + cells.right]
    return to


def pair_cells(bellman: Bellman, first: int, last: int) -> Cells:
    """Allocate all S_x·S_y cells of the pairs first..last; a stop has no cells."""
    x, y = np.divmod(np.arange(first, last), bellman.shape[1])
    sizes_y = bellman.sizes[1][y]
    count = bellman.sizes[0][x] * sizes_y
    if bellman.stop.size:
        count[bellman.stop[x, y]] = 0
    indptr = offsets(count)
    start = offsets(sizes_y)
    total = int(indptr[-1])
    return Cells(
        indptr, np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total), start, np.empty(int(start[-1]))
    )


def _longest(indptr: npt.NDArray[np.int64]) -> int:
    return int(np.diff(indptr).max())

"""Couplings and potentials of classes, lifted to the states of those classes.

    π(x', y' | x, y)  spreads  π̂(X', Y' | X, Y)  over x' ∈ X', y' ∈ Y',        g(y' | x, y) = ĝ(Y' | X, Y)

Nothing is stored: kernels/lifting.py makes the cells of a pair from those of its classes when they are read. Marginals
are exact, also where the classes lump only approximately.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric.couplings.witness import FlatPairs, StoredWitness, Witness, join
from bisimetric.kernels.layout import Cells, Side
from bisimetric.models.chain import MarkovChain
from bisimetric.models.lumping import Lump
from bisimetric.models.partition import Classes
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem

READ_ALL_FROM = 0.5  # pairs of states, as a share of the pairs of classes, from which all of the latter are read


class Sides:
    """What kernels read of both chains and their classes; computed when somebody looks at a coupling."""

    def __init__(self, problem: Problem, source: Lump, target: Lump) -> None:
        self._problem, self._lumps = problem, (source, target)

    @cached_property
    def source(self) -> Side:
        """Rows of the source, sorted by class."""
        return _side(self._problem.source, self._lumps[0])

    @cached_property
    def target(self) -> Side:
        """The same of the target."""
        return _side(self._problem.target, self._lumps[1])


@dataclass(frozen=True, slots=True, eq=False)
class LiftedWitness:
    """Couplings and potentials of classes, spread over their states when they are read."""

    small: Witness
    value: Floats  # [classes, classes], the value that the potentials belong to
    class_x: Classes  # [n]
    class_y: Classes  # [m]
    states_x: npt.NDArray[Any]  # [entries], successors of source states, row by row
    states_y: npt.NDArray[Any]
    sides: Sides

    @classmethod
    def of(cls, small: Witness, value: Floats, problem: Problem, source: Lump, target: Lump) -> LiftedWitness:
        """The witness of a problem from that of the problem on classes."""
        return cls(
            small,
            value,
            source.classes,
            target.classes,
            problem.source.transitions.indices,
            problem.target.transitions.indices,
            Sides(problem, source, target),
        )

    @property
    def source(self) -> Side:
        """What kernels read of the source."""
        return self.sides.source

    @property
    def target(self) -> Side:
        """The same of the target."""
        return self.sides.target

    @property
    def cells_per_pair(self) -> int:
        longest = (int(np.diff(side.indptr).max()) for side in (self.source, self.target))
        return sum(longest) + self.small.cells_per_pair

    def cells(self, first: int, last: int) -> Cells:
        return self.at(np.arange(first, last))

    def at(self, pairs: FlatPairs) -> Cells:
        """Couplings and potentials of any flat pairs."""
        x, y = np.divmod(pairs, len(self.class_y))
        small, number = self._of_classes(self.class_x[x] * self.value.shape[1] + self.class_y[y])
        size_x, size_y = (
            int((side.indptr[states + 1] - side.indptr[states]).sum())
            for side, states in ((self.source, x), (self.target, y))
        )
        room = int(np.diff(small.indptr)[number].sum()) + size_x + size_y
        out = Cells(
            np.empty(len(pairs) + 1, np.int64),
            np.empty(room, np.int32),
            np.empty(room, np.int32),
            np.empty(room),
            np.empty(len(pairs) + 1, np.int64),
            np.empty(size_y),
        )
        used = kernels.lifting.lift(
            x, y, self.class_x, self.class_y, self.source, self.target, small, number, self.value, out
        )
        return out._replace(left=out.left[:used], right=out.right[:used], weight=out.weight[:used])

    def with_classes_read(self) -> LiftedWitness:
        """The same with the cells of all pairs of classes in memory, for a reader that needs them more than once."""
        return replace(self, small=StoredWitness(self.small.cells(0, self.value.size)))

    def flat_rows(self, first: int, last: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], Floats]:
        """Cells per pair, flat successor pairs and weights of all pairs of the source states first..last."""
        n, m = len(self.class_x), len(self.class_y)
        number = (self.class_x[first:last, None] * self.value.shape[1] + self.class_y).ravel()
        small, number = self._of_classes(number)
        entries_x = int(self.source.indptr[last] - self.source.indptr[first])
        entries = m * entries_x + (last - first) * len(self.states_y)
        room = int(np.diff(small.indptr)[number].sum()) + entries
        indptr = np.empty(len(number) + 1, np.int64)
        to, weight = np.empty(room, np.int32 if n * m < 2**31 else np.int64), np.empty(room)
        most = self.cells_per_pair
        scratch = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most)
        one = Cells(indptr[:0], *scratch, indptr[:0], weight[:0])
        states, classes = (self.states_x, self.states_y), (self.class_x, self.class_y)
        used = kernels.lifting.lift_flat(
            first * m, last * m, number, *classes, states, self.source, self.target, small, one, indptr, to, weight
        )
        return np.diff(indptr), to[:used], weight[:used]

    def coupled(self, pairs: FlatPairs) -> tuple[FlatPairs, FlatPairs]:
        """How many successor pairs each of these pairs has, and which."""
        cells = self.at(pairs)
        count, m = np.diff(cells.indptr), len(self.class_y)
        x, y = np.divmod(np.repeat(pairs, count), m)
        heads = self.states_x[self.source.indptr[x] + cells.left].astype(np.int64) * m
        return count, heads + self.states_y[self.target.indptr[y] + cells.right]

    def _of_classes(self, number: FlatPairs) -> tuple[Cells, FlatPairs]:
        """Cells of flat pairs of classes, and where those of each pair are among them."""
        if len(number) == 1:
            at = int(number[0])
            return self.small.cells(at, at + 1), np.zeros(1, np.int64)
        if len(number) >= READ_ALL_FROM * self.value.size:
            return self.small.cells(0, self.value.size), number
        wide = self.value.shape[1]
        X, Y = np.divmod(number, wide)
        rows, row = np.unique(X, return_inverse=True)
        return join([self.small.cells(X * wide, (X + 1) * wide) for X in rows.tolist()]), row * wide + Y


def _side(chain: MarkovChain, small: Lump) -> Side:
    rows, few = chain.transitions, small.chain.transitions
    indptr = rows.indptr.astype(np.int64)
    class_of = small.classes[rows.indices]
    row = np.repeat(np.arange(chain.n_states), np.diff(indptr))
    order = np.lexsort((class_of, row))
    return Side(
        indptr,
        (order - indptr[row]).astype(np.int32),
        class_of[order].astype(np.int32),
        rows.data[order],
        few.indptr.astype(np.int64),
        few.indices.astype(np.int32),
        _alike(rows.data[order], class_of[order], indptr, few, small.classes),
    )


def _alike(
    data: Floats, class_of: Classes, indptr: npt.NDArray[np.int64], few: Any, classes: Classes
) -> npt.NDArray[np.bool_]:
    """Which rows, with entries sorted by class, are exactly those of their classes."""
    size = np.diff(indptr)
    alike: npt.NDArray[np.bool_] = size == np.diff(few.indptr)[classes]
    entry = np.flatnonzero(np.repeat(alike, size))
    row = np.repeat(np.arange(len(size)), size)[entry]
    like = few.indptr[classes[row]] + entry - indptr[row]
    differ = (data[entry] != few.data[like]) | (class_of[entry] != few.indices[like])
    alike[row[differ]] = False
    return alike

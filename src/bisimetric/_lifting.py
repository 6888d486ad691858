"""Couplings and potentials of classes, seen on the states of those classes.

    π(x', y' | x, y)  spreads  π̂(X', Y' | X, Y)  over x' ∈ X', y' ∈ Y',        g(y' | x, y) = ĝ(Y' | X, Y)

Nothing is stored: the cells of a pair are made from those of its classes when they are asked for, by
kernels/lifting.py. Marginals are exact, also where the classes lump only approximately.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._chain import MarkovChain
from bisimetric._coupling import Witness
from bisimetric._partition import Classes
from bisimetric._stochastic import Floats
from bisimetric.kernels.layout import Cells, Side


@dataclass(frozen=True, slots=True, eq=False)
class LiftedWitness:
    """Couplings and potentials of classes, spread over their states when they are asked for."""

    small: Witness
    value: Floats  # [classes, classes], that the potentials go with
    class_x: Classes  # [n]
    class_y: Classes  # [m]
    source: Side
    target: Side

    @property
    def cells_per_pair(self) -> int:
        longest = (int(np.diff(side.indptr).max()) for side in (self.source, self.target))
        return sum(longest) + self.small.cells_per_pair

    def cells(self, first: int, last: int) -> Cells:
        m = len(self.class_y)
        rows: dict[int, Cells] = {}
        parts = []
        for x in range(first // m, -(-last // m)):
            begin, end = max(first - x * m, 0), min(last - x * m, m)
            parts.append(self._lifted(x, begin, end, self._of_class(int(self.class_x[x]), begin, end, rows)))
        return _joined(parts)

    def _of_class(self, X: int, begin: int, end: int, rows: dict[int, Cells]) -> Cells:
        """The cells of class X with the classes of the target states begin … end - 1."""
        wide = self.value.shape[1]
        classes = self.class_y[begin:end]
        if end - begin == 1:
            at = X * wide + int(classes[0])
            return self.small.cells(at, at + 1)
        if X not in rows:
            rows[X] = self.small.cells(X * wide, (X + 1) * wide)
        return _picked(rows[X], classes)

    def _lifted(self, x: int, begin: int, end: int, small: Cells) -> Cells:
        sizes_y = np.diff(self.target.indptr[begin : end + 1])
        size_x = int(self.source.indptr[x + 1] - self.source.indptr[x])
        room = int(small.indptr[-1] + sizes_y.sum() + size_x * (end - begin))
        out = Cells(
            np.empty(end - begin + 1, np.int64),
            np.empty(room, np.int32),
            np.empty(room, np.int32),
            np.empty(room),
            np.empty(end - begin + 1, np.int64),
            np.empty(int(sizes_y.sum())),
        )
        used = kernels.lifting.lift_row(
            x, int(self.class_x[x]), begin, end, self.source, self.target, self.class_y[begin:end], small, self.value,
            out,
        )  # fmt: skip
        return out._replace(left=out.left[:used], right=out.right[:used], weight=out.weight[:used])


def side(chain: MarkovChain, small: MarkovChain, classes: Classes) -> Side:
    """The arrays of one chain and of the chain on its classes."""
    rows, few = chain.transitions, small.transitions
    indptr = rows.indptr.astype(np.int64)
    class_of = classes[rows.indices]
    row = np.repeat(np.arange(chain.n_states), np.diff(indptr))
    order = np.lexsort((class_of, row))
    return Side(
        indptr,
        (order - indptr[row]).astype(np.int32),
        class_of[order].astype(np.int32),
        rows.data[order],
        few.indptr.astype(np.int64),
        few.indices.astype(np.int32),
    )


def _picked(cells: Cells, pairs: Classes) -> Cells:
    """The cells of some pairs, in that order."""
    indptr, inside = _gathered(cells.indptr, pairs)
    start, within = _gathered(cells.start, pairs)
    return Cells(indptr, cells.left[inside], cells.right[inside], cells.weight[inside], start, cells.potential[within])


def _gathered(offsets: npt.NDArray[np.int64], pairs: Classes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Offsets of the chosen ranges put one after the other, and where their entries were."""
    count = (offsets[1:] - offsets[:-1])[pairs]
    after = np.concatenate([[0], np.cumsum(count)])
    return after, np.arange(after[-1]) + np.repeat(offsets[pairs] - after[:-1], count)


def _joined(parts: list[Cells]) -> Cells:
    if len(parts) == 1:
        return parts[0]
    columns = zip(*parts, strict=True)
    indptr, left, right, weight, start, potential = columns
    return Cells(
        _chained(indptr),
        np.concatenate(left),
        np.concatenate(right),
        np.concatenate(weight),
        _chained(start),
        np.concatenate(potential),
    )


def _chained(offsets: tuple[npt.NDArray[np.int64], ...]) -> npt.NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(np.concatenate([np.diff(part) for part in offsets]))])

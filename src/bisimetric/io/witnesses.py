"""Couplings and potentials as documents: for every pair of a block, and for one block after the other.

The pairs of a chain solution are one block; a game between decision processes has a block for every action, or one of
all pairs of moves. A pair of rows is numbered x·m + y inside its block.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric.couplings.witness import CELLS_AT_ONCE, StoredWitness, Witness
from bisimetric.errors import FileFormatError
from bisimetric.io.document import Document, Fields, Stream, stream
from bisimetric.kernels.layout import Cells
from bisimetric.models.rows import offsets

WITNESS_KEYS = ("indptr", "left", "right", "weight", "potential")
WITNESS_ARRAYS = tuple(f"witness.{key}" for key in WITNESS_KEYS)


class Block(NamedTuple):
    """How many successors every source row [n] and every target row [m] has."""

    sizes_x: npt.NDArray[Any]
    sizes_y: npt.NDArray[Any]

    @property
    def n_pairs(self) -> int:
        """n · m."""
        return len(self.sizes_x) * len(self.sizes_y)

    @property
    def n_potentials(self) -> int:
        """One per pair and successor of the target."""
        return len(self.sizes_x) * int(self.sizes_y.sum())


def witness_document(blocks: Sequence[tuple[Block, Witness]]) -> Document:
    """All cells in the order of blocks and pairs: one pass to count them, then one for every array as it is written."""
    ranges = [(witness, first, last) for block, witness in blocks for first, last in _ranges(block, witness)]
    count = [np.diff(witness.cells(first, last).indptr) for witness, first, last in ranges]
    indptr = offsets(np.concatenate(count))

    def cells(key: str, dtype: str, length: int) -> Stream:
        def parts() -> Iterator[npt.NDArray[Any]]:
            for witness, first, last in ranges:
                array: npt.NDArray[Any] = getattr(witness.cells(first, last), key)
                yield array.astype(dtype, copy=False)

        return Stream(np.dtype(dtype), (length,), parts)

    total = int(indptr[-1])
    return {
        "indptr": stream(indptr, "<i8"),
        "left": cells("left", "<i4", total),
        "right": cells("right", "<i4", total),
        "weight": cells("weight", "<f8", total),
        "potential": cells("potential", "<f8", sum(block.n_potentials for block, _ in blocks)),
    }


def _ranges(block: Block, witness: Witness) -> Iterator[tuple[int, int]]:
    """Ranges of pairs whose cells are few enough to be held at once."""
    step = max(1, CELLS_AT_ONCE // max(witness.cells_per_pair, 1))
    for first in range(0, block.n_pairs, step):
        yield first, min(first + step, block.n_pairs)


def witnesses_from(fields: Fields, blocks: Sequence[Block]) -> list[StoredWitness]:
    """One witness per block, every cell of which is a pair of successors."""
    weight = fields.floats("weight", None, least=0.0)
    left, right = (fields.whole(key, len(weight)) for key in ("left", "right"))
    indptr = fields.offsets("indptr", sum(block.n_pairs for block in blocks), len(weight))
    potential = fields.floats("potential", sum(block.n_potentials for block in blocks))
    found, pair, first_potential = [], 0, 0
    for block in blocks:
        here = indptr[pair : pair + block.n_pairs + 1]
        _check_cells(fields, block, here, left, right)
        a, b = here[0], here[-1]
        start = offsets(np.tile(block.sizes_y, len(block.sizes_x)))
        found.append(
            StoredWitness(
                Cells(
                    here - a,
                    left[a:b].astype(np.int32),
                    right[a:b].astype(np.int32),
                    weight[a:b],
                    start,
                    potential[first_potential : first_potential + int(start[-1])],
                )
            )
        )
        pair += block.n_pairs
        first_potential += int(start[-1])
    return found


def _check_cells(
    fields: Fields,
    block: Block,
    indptr: npt.NDArray[np.int64],
    left: npt.NDArray[Any],
    right: npt.NDArray[Any],
) -> None:
    """Raise where a cell is not a pair of successors."""
    m = len(block.sizes_y)
    for x, size in enumerate(block.sizes_x):
        a, b = indptr[x * m], indptr[(x + 1) * m]
        limit = np.repeat(block.sizes_y, np.diff(indptr[x * m : (x + 1) * m + 1]))
        for key, cells, limits in (("left", left[a:b], size), ("right", right[a:b], limit)):
            wrong = (cells < 0) | (cells >= limits)
            if wrong.any():
                k = int(wrong.argmax())
                raise FileFormatError(f"{fields.name(key)}[{a + k}] is {cells[k]}, but there is no such successor")

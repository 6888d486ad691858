"""Which pairs of states a solve looks at, and how vectors over them become matrices over all pairs.

Usually all of them. Where the game stops, V = c is known. For one chain against itself with a symmetric cost that is
zero on the diagonal, V(x, x) = 0 and V(x, y) = V(y, x): one pair of each two is enough. Of {x, y} the one is taken
whose second state follows the first within half a turn on the circle of all states, so that every source row has the
same number of pairs, and threads the same work.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.blocks import for_even_split
from bisimetric.kernels.layout import Pairs, Rows
from bisimetric.models.rows import Floats, offsets
from bisimetric.problems.discounted import Problem

WORTH_A_LIST = 0.25  # share of pairs at which V is known, from which the others are listed

Mask = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def all_pairs(n: int, m: int) -> Pairs:
    """Every pair, by flat number."""
    nothing = np.empty(0, np.int32)
    return Pairs(np.arange(n + 1, dtype=np.int64) * m, nothing, nothing, nothing)


def is_symmetric(problem: Problem) -> bool:
    """Whether V(x, y) = V(y, x) and V(x, x) = 0 for sure."""
    source, target, cost = problem.source.transitions, problem.target.transitions, problem.cost
    if problem.source.merged.any() or problem.target.merged.any():
        return False
    if len(cost) < 2 or source.shape != target.shape or source.nnz != target.nnz:
        return False
    if source is not target and not (
        np.array_equal(source.indptr, target.indptr)
        and np.array_equal(source.indices, target.indices)
        and np.array_equal(source.data, target.data)
    ):
        return False
    if cost.diagonal().any() or not np.array_equal(cost, cost.T):
        return False
    stop = problem.stop
    return stop is None or bool(np.array_equal(stop, stop.T) and not stop.diagonal().any())


def open_pairs(stop: Mask, source: Rows, target: Rows, *, symmetric: bool) -> Pairs:
    """The pairs at which V is not known; one of each two if it is symmetric."""
    n, m = stop.shape
    mask = ~stop
    if symmetric:
        ahead = (np.arange(m, dtype=np.int32) - np.arange(n, dtype=np.int32)[:, None]) % np.int32(n)
        mask &= (2 * ahead < n) | ((2 * ahead == n) & (np.arange(n) < n // 2)[:, None])
    x, y = np.nonzero(mask)
    row = offsets(mask.sum(axis=1))
    sizes = np.diff(source.indptr)[x] + np.diff(target.indptr)[y] - 1
    before = np.cumsum(sizes) - sizes
    begin = before - np.repeat(np.append(before, 0)[np.minimum(row[:-1], len(before))], np.diff(row))
    number = np.empty(0, np.int32)
    if not symmetric or len(x) < n * (n - 1) // 2:
        count = np.arange(len(x), dtype=np.int32)
        number = np.full(n * m, -1, np.int32)
        number[x * m + y] = count
        if symmetric:
            number[y * m + x] = count
    return Pairs(row, y.astype(np.int32), begin.astype(np.int32), number)


def numbers(pairs: Pairs, x: Ints, y: Ints, m: int) -> Ints:
    """The numbers of pairs of states, or of their mirror images; -1 where V is known."""
    if not pairs.column.size:
        return x * m + y
    found = np.empty(len(x), np.int64)
    kernels.listing.numbers(x, y, pairs, m, found)
    return found


def states(pairs: Pairs, first: int, last: int, m: int) -> tuple[Ints, Ints]:
    """The source and the target states of the pairs number first..last."""
    if not pairs.column.size:
        flat = np.arange(first, last)
        x = flat // m  # faster than np.divmod
        return x, flat - m * x
    rows = np.searchsorted(pairs.row, [first, last - 1], "right") - 1
    inside = np.clip(pairs.row[rows[0] : rows[1] + 2], first, last)
    return np.repeat(np.arange(rows[0], rows[1] + 1), np.diff(inside)), pairs.column[first:last].astype(np.int64)


def spread(pairs: Pairs, vector: Floats, matrix: Floats) -> Floats:
    """The matrix over all pairs, overwritten with one entry per listed pair: what is known stays."""
    for_even_split(lambda i, j: kernels.listing.spread(i, j, pairs, vector, matrix), len(matrix), cost=matrix.size)
    return matrix


def gathered(pairs: Pairs, matrix: Floats) -> Floats:
    """The entries of the listed pairs."""
    if not pairs.column.size:
        return matrix.ravel()
    vector = np.empty(len(pairs.column))
    for_even_split(lambda i, j: kernels.listing.gather(i, j, pairs, matrix, vector), len(matrix), cost=matrix.size)
    return vector

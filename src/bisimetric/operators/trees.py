"""Which pairs of states are solved, and the transport tree of each.

Usually all pairs are. Where the game stops, V = c is known. For one chain against itself with a symmetric cost that is
zero on the diagonal, V(x, x) = 0 and V(x, y) = V(y, x): one pair of each two is enough. Of {x, y} the one is taken
whose second state follows the first within half a turn on the circle of all states, so that every source row has the
same number of pairs, and threads the same work.

Pairs are numbered, vectors have one entry for each, and the tree of each has its place in the arrays of
`kernels.layout.Trees`. `TreeWitness` reads couplings and potentials from those trees.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.blocks import for_even_split
from bisimetric.errors import InvalidProblem
from bisimetric.kernels.layout import COMPACT_BITS, TREE_CODES, Cells, Pairs, Rows, Trees
from bisimetric.linear.krylov import ONE_CALL
from bisimetric.models.rows import Floats, Ints, Mask, held_rows, offsets
from bisimetric.problems.discounted import Problem

if TYPE_CHECKING:
    from bisimetric.operators.bellman import Bellman

COMPACT_FROM = ONE_CALL  # cells of all trees: larger ones are compact where they can be
MOST_PAIRS = 2**31  # of states: their flat numbers have 32 bits
ROOM_REMEDY = "merge bisimilar states, compare parts of the chains, or only pairs='reachable' (--pairs reachable)"
FLOW_BYTES, COMPACT_FLOW_BYTES = 12, 5  # of a cell: where its flow leads, and the flow
PAIR_VECTORS = 10  # arrays of doubles, one entry per pair that is solved, that an exact solve holds at its peak
STATE_VECTORS = 3  # the same, over all pairs of states


@dataclass(frozen=True, slots=True, eq=False)
class PairList:
    """The pairs that are solved, by number: source row by source row."""

    shape: tuple[int, int]  # (n, m), states of the source and of the target
    listed: Pairs  # as kernels take them
    symmetric: bool = False  # V(x, y) = V(y, x) and V(x, x) = 0: one of (x, y) and (y, x) is listed

    @classmethod
    def of_all(cls, n: int, m: int) -> PairList:
        """Every pair, by flat number."""
        nothing = np.empty(0, np.int32)
        return cls((n, m), Pairs(np.arange(n + 1, dtype=np.int64) * m, nothing, nothing, nothing))

    @classmethod
    def outside(cls, stop: Mask, source: Rows, target: Rows, *, symmetric: bool) -> PairList:
        """The pairs that do not stop; one of each two if V is symmetric."""
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
        return cls((n, m), Pairs(row, y.astype(np.int32), begin.astype(np.int32), number), symmetric)

    @property
    def is_complete(self) -> bool:
        """Whether all pairs are solved, in flat order."""
        return not self.listed.column.size

    @property
    def size(self) -> int:
        """How many pairs are solved."""
        return int(self.listed.row[-1])

    def states(self, first: int, last: int) -> tuple[Ints, Ints]:
        """The source and the target states of the pairs number first..last."""
        pairs, m = self.listed, self.shape[1]
        if self.is_complete:
            flat = np.arange(first, last)
            x = flat // m  # faster than np.divmod
            return x, flat - m * x
        rows = np.searchsorted(pairs.row, [first, last - 1], "right") - 1
        inside = np.clip(pairs.row[rows[0] : rows[1] + 2], first, last)
        return np.repeat(np.arange(rows[0], rows[1] + 1), np.diff(inside)), pairs.column[first:last].astype(np.int64)

    def numbers(self, x: Ints, y: Ints) -> Ints:
        """The numbers of pairs of states, or of their mirror images; -1 where V is known."""
        if self.is_complete:
            return x * self.shape[1] + y
        found = np.empty(len(x), np.int64)
        kernels.listing.numbers(x, y, self.listed, self.shape[1], found)
        return found

    def spread(self, vector: Floats, matrix: Floats) -> Floats:
        """The matrix [n, m], overwritten with one entry per listed pair; its other entries stay."""
        for_even_split(
            lambda i, j: kernels.listing.spread(i, j, self.listed, vector, matrix), len(matrix), cost=matrix.size
        )
        return matrix

    def gather(self, matrix: Floats) -> Floats:
        """The entries of the listed pairs."""
        if self.is_complete:
            return matrix.ravel()
        vector = np.empty(self.size)
        for_even_split(
            lambda i, j: kernels.listing.gather(i, j, self.listed, matrix, vector), len(matrix), cost=matrix.size
        )
        return vector


def is_symmetric(problem: Problem) -> bool:
    """Whether V(x, y) = V(y, x) and V(x, x) = 0 for sure."""
    source, target, cost = held_rows(problem.source), held_rows(problem.target), problem.cost
    if problem.source.merged.any() or problem.target.merged.any():
        return False
    if len(cost) < 2 or source.shape != target.shape or source.nnz != target.nnz or cost.diagonal().any():
        return False
    if source is not target and not (
        np.array_equal(source.indptr, target.indptr)
        and np.array_equal(source.indices, target.indices)
        and np.array_equal(source.data, target.data)
    ):
        return False
    if not np.array_equal(cost, cost.T):
        return False
    stop = problem.stop
    return stop is None or bool(np.array_equal(stop, stop.T) and not stop.diagonal().any())


def new_trees(bellman: Bellman, *, may_round: bool = False, rows: tuple[int, int] | None = None) -> Trees:
    """Room for one transport tree per pair; estimated before it is allocated.

    `may_round` allows the compact layout, whose flows are rounded, for evaluations that sweeps correct. With `rows`
    only the trees of those source rows are going to be used: the others take no memory.
    """
    n, m = bellman.shape
    offset, shift = _layout(bellman, may_round)
    needed = _bytes(bellman, offset, shift, rows)
    if needed > memory.NEGLIGIBLE:
        what = f"solving {n} x {m} state pairs"
        memory.require(needed, what, ROOM_REMEDY)
    if n * m >= MOST_PAIRS:
        raise InvalidProblem(f"{n} x {m} state pairs exceed 2^31; merge states or compare parts of the chains")
    cells, kind = int(offset[-1]), TREE_CODES[shift]
    to, flow = (np.uint8, np.float32) if shift == COMPACT_BITS else (np.int32, np.float64)
    empty = np.empty if rows is None else memory.untouched
    return Trees(
        offset[:-1].copy(),
        empty(cells, kind),
        shift,
        np.zeros(bellman.pairs.size, kind),
        empty(cells, to),
        empty(cells, flow),
    )


def is_compact(trees: Trees) -> bool:
    """Whether this is the compact layout."""
    return trees.shift == COMPACT_BITS


def outline_of_trees(bellman: Bellman, *, may_round: bool = False) -> Trees:
    """Trees of the right size that hold nothing and take no memory: the real ones are in other processes."""
    offset, shift = _layout(bellman, may_round)
    nothing = np.broadcast_to(np.zeros((), f"u{shift // 4}"), int(offset[-1]))
    return Trees(offset[:-1].copy(), nothing, shift, nothing[:0], np.empty(0, np.int32), np.empty(0))


def moved_trees(bellman: Bellman, before: TreeWitness, room: Trees | None = None) -> Trees | None:
    """The trees of another operator, whose rows have the same successors, for this one; None where they do not fit.

    `room` is overwritten: what an earlier call with the same `before` returned, and nobody needs any more.
    """
    other = before.bellman
    sides = ((bellman.source, other.source), (bellman.target, other.target))
    same = all(np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices) for a, b in sides)
    everywhere = bellman.pairs.is_complete and other.pairs.is_complete and not bellman.stop.size and not other.stop.size
    if not (same and everywhere) or bellman.is_full:
        return None
    trees = new_trees(bellman, may_round=is_compact(before.trees)) if room is None else room
    np.copyto(trees.code, before.trees.code)
    return trees


def tree_cells(bellman: Bellman) -> int:
    """How many cells the trees of all pairs have."""
    return int(_layout(bellman, may_round=False)[0][-1])


def tree_bytes(bellman: Bellman, *, may_round: bool = False, rows: tuple[int, int] | None = None) -> int:
    """Memory for the trees of all pairs, and for the vectors that an exact solve needs beside them.

    With `rows`, the share of those source rows.
    """
    return _bytes(bellman, *_layout(bellman, may_round), rows)


def bytes_between(source: sparse.csr_array, target: sparse.csr_array) -> int:
    """The same from the rows of two chains alone: for all pairs, or half of them where the chains may be equal."""
    n, m = (len(rows.indptr) - 1 for rows in (source, target))
    cells = int(m * (source.nnz - n) + n * target.nnz)
    longest = sum(int(np.diff(rows.indptr).max()) for rows in (source, target))
    compact = cells > COMPACT_FROM and (longest - 1).bit_length() <= COMPACT_BITS
    cell_bytes = 1 + COMPACT_FLOW_BYTES if compact else 2 + FLOW_BYTES
    solved: int = cells * cell_bytes + 8 * PAIR_VECTORS * n * m
    may_be_symmetric = n == m and source.nnz == target.nnz and np.array_equal(source.indptr, target.indptr)
    return (solved // 2 if may_be_symmetric else solved) + 8 * STATE_VECTORS * n * m


def tree_begins(bellman: Bellman, trees: Trees) -> Ints:
    """[pairs], where the tree of every pair that is solved begins."""
    x, y = bellman.pairs.states(0, bellman.pairs.size)
    if bellman.pairs.is_complete:
        return trees.offset[x] + y * (bellman.sizes[0][x] - 1) + bellman.target.indptr[y]
    return trees.offset[x] + bellman.pairs.listed.begin


def compact_targets(bellman: Bellman, cells: npt.NDArray[np.uint8], used: Ints) -> npt.NDArray[np.int32]:
    """The flat pairs that cells of the compact layout lead to, `used` of them for each pair in turn."""
    x, y = (np.repeat(states, used) for states in bellman.pairs.states(0, bellman.pairs.size))
    source, target = bellman.source, bellman.target
    after_x = source.indices[source.indptr[x] + (cells >> COMPACT_BITS)]
    to: npt.NDArray[np.int32] = after_x * np.int32(bellman.shape[1])
    to += target.indices[target.indptr[y] + cells % (1 << COMPACT_BITS)]
    return to


def without_flows(trees: Trees) -> Trees:
    """Trees without the evaluation's copy of their flows, which a solution does not need."""
    return trees._replace(target=trees.target[:0].copy(), weight=trees.weight[:0].copy())


def _layout(bellman: Bellman, may_round: bool) -> tuple[Ints, int]:
    """Where the trees of every source row begin, and the bits of a node number; a code is two of those."""
    sizes, pairs = bellman.sizes, bellman.pairs.listed
    if bellman.pairs.is_complete:
        per_row = bellman.shape[1] * (sizes[0] - 1) + bellman.target.indptr[-1]
    else:
        from_targets = offsets(sizes[1][pairs.column])
        per_row = np.diff(pairs.row) * (sizes[0] - 1) + np.diff(from_targets[pairs.row])
    begins = offsets(per_row)
    compact = may_round and begins[-1] > COMPACT_FROM and bellman.pairs.is_complete and not bellman.stop.size
    return begins, node_bits(bellman, compact=compact)


def node_bits(bellman: Bellman, *, compact: bool = False) -> int:
    """The bits of a node number: 8, 16 or 32, or fewer in compact trees."""
    needed = (sum(bellman.longest) - 1).bit_length()
    return next(bits for bits in (COMPACT_BITS, 8, 16, 32) if needed <= bits and (compact or bits > COMPACT_BITS))


def _bytes(bellman: Bellman, offset: Ints, shift: int, rows: tuple[int, int] | None = None) -> int:
    """Memory for trees of this layout and for what an exact solve needs beside them, or the share of some rows."""
    n, m = bellman.shape
    size = bellman.pairs.size
    code, flow = shift // 4, COMPACT_FLOW_BYTES if shift == COMPACT_BITS else FLOW_BYTES
    trees = int(offset[-1]) * (code + flow) + code * size
    lists = sum(array.nbytes for array in bellman.pairs.listed)
    needed = trees + lists + 8 * PAIR_VECTORS * size + 8 * STATE_VECTORS * n * m
    if rows is None:
        return needed
    first, last, end = (int(offset[k]) for k in (*rows, -1))  # Python's numbers: the product has more than 63 bits
    return needed * (last - first) // max(end, 1)


@dataclass(frozen=True, slots=True, eq=False)
class TreeWitness:
    """Couplings as flows on transport trees, potentials as their duals for `value`.

    In the order of the pairs that are solved, or `everywhere`: for all pairs of states in flat order, mirrored or with
    equal states kept together where that is how their distance is known.
    """

    bellman: Bellman
    value: Floats
    trees: Trees
    everywhere: bool = False

    @property
    def cells_per_pair(self) -> int:
        """The most cells a pair can have."""
        return sum(self.bellman.longest)

    def cells(self, first: int, last: int) -> Cells:
        """Couplings and potentials of the pairs first..last; of flat pairs if `everywhere`."""
        pairs = self.bellman.pairs
        if pairs.is_complete or not self.everywhere:
            return self.some_cells(*pairs.states(first, last), np.arange(first, last))
        x, y = np.divmod(np.arange(first, last), pairs.shape[1])
        number = pairs.numbers(x, y)
        at = np.searchsorted(pairs.listed.row, number, "right") - 1
        mirrored = (number >= 0) & (at != x)
        return self._read(np.where(mirrored, y, x), np.where(mirrored, x, y), number, mirrored)

    def some_cells(self, x: Ints, y: Ints, number: Ints) -> Cells:
        """The same for solved pairs (x, y) with these numbers."""
        if self.bellman.pairs.is_complete and self.bellman.stop.size:
            number = np.where(self.bellman.stop[x, y], -1, number)
        return self._read(x, y, number, np.zeros(len(x), np.bool_))

    def at_rest(self) -> TreeWitness:
        """The same for all pairs of states, with only the memory that an answer needs."""
        return TreeWitness(self.bellman, self.value, without_flows(self.trees), everywhere=True)

    def _read(self, x: Ints, y: Ints, number: Ints, mirrored: Mask) -> Cells:
        """The trees of those pairs, by their numbers (-1 for no tree), with the two sides exchanged where mirrored."""
        bellman, trees = self.bellman, self.trees
        sizes_x, sizes_y = bellman.sizes
        symmetric = bellman.pairs.symmetric
        count: npt.NDArray[Any] = trees.used[number].astype(np.int64)
        if bellman.stop.size:  # only then are there pairs without a tree
            none = number < 0
            count[none] = sizes_x[x[none]] * (symmetric & (x[none] == y[none]))
        indptr = offsets(count)
        sizes = np.where(mirrored, sizes_x[x], sizes_y[y]) if symmetric else sizes_y[y]
        start = offsets(sizes)
        total = int(indptr[-1])
        left, right, weight = np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total)
        cells = Cells(indptr, left, right, weight, start, np.empty(int(start[-1])))
        kernels.transport.sweep.read_trees(
            x, y, number, mirrored, self.value, bellman.source, bellman.target, bellman.pairs.listed, trees, cells
        )
        return cells

"""The arrays that kernels work on.

A pair (x, y) of states owns one transport problem between the rows P[x] and Q[y], with S_x and S_y entries.
Its basis is a spanning tree on S_x + S_y nodes (source successors first) with K = S_x + S_y - 1 arcs. The trees of all
pairs are in flat arrays; that of (x, y) begins at offset[x] + y·(S_x - 1) + Q.indptr[y], so no array stores where.

Where V is known at some pairs, or is the same at (x, y) and (y, x), solvers work on a list of the remaining pairs, and
vectors have one entry for each listed pair.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

# numba tests whether an index is negative unless it is unsigned or counts from zero; the test takes as long as the
# arithmetic around it and prevents vector instructions. Compute with signed numbers and convert the result to an Index,
# since a sum of signed and unsigned is a float. Convert only numbers that are never negative.
Index: Any = np.uint64
Arrays: TypeAlias = tuple[npt.NDArray[Any], ...]

FEW_CELLS = 64  # S_x·S_y up to which a sweep prices all cells and may copy the tree of the pair before

COMPACT_BITS = 4  # of a node number, and of a position in a row, in the compact layout of trees

HINT_RUN = 32  # pairs after which a cold sweep over large supports forgets the potentials of the pair before

ROUNDING_MASS = 2.0**-50  # mass of a cell, for each successor of both states, that roundings of equal rows may leave
SLACK = 1.25  # factor by which the true residual of a linear system may exceed its target

# Policy iteration, for one problem and for many in one call.
START_ACCURACY = 0.01  # of the independent coupling's value, relative to the largest cost
STEP_ACCURACY = 0.01  # of an evaluation, as a fraction of the residual's span
IGNORED = 2e-3  # reduced costs below this fraction of the last residual's span do not cause pivots
FINAL_SPAN = 0.3  # target residual of a possibly final evaluation, as a share of the span that the tolerance allows
FREE_PIVOT = 0.1  # of that span: reduced costs this small cause no pivots
EVALUATION_FLOOR = 2.0**-51  # smallest residual to aim for, relative to the largest value: four units in the last place
IN_REACH = 200.0  # times the final target: an evaluation that would leave less than this goes on to it
ESTIMATE_ACCURACY = 1e-3  # of the last coupling's value, relative to the interval's width

SPAN = 600.0  # largest span of β + v on a support for which a half projection uses the shared kernel
SMALLEST = 1e-130  # smallest such sum: above about e^-300, dropping terms below e^-708·e^300 changes no digit


class Rows(NamedTuple):
    """The rows of a stochastic matrix in CSR form; every row sums to exactly one."""

    indptr: npt.NDArray[np.int64]  # [rows + 1]
    indices: npt.NDArray[np.int32]  # [entries]
    data: npt.NDArray[np.float64]  # [entries]


class Pairs(NamedTuple):
    """The pairs that are solved, numbered source row by source row; all of them if the lists are empty."""

    row: npt.NDArray[np.int64]  # [n + 1], number of the first pair of a source row
    column: npt.NDArray[np.int32]  # [pairs], target state
    begin: npt.NDArray[np.int32]  # [pairs], where its tree begins, counted from the row's offset
    # [n·m], number of a flat pair of states; -1 where V is known. Empty if `listing.folded_number` computes it.
    number: npt.NDArray[np.int32]


class Trees(NamedTuple):
    """One transport basis per pair, root first, and the cells that carry flow.

    In the compact layout, for trees of at most 16 nodes, `shift` is COMPACT_BITS and a code is one byte. `target` is
    then one byte too, i << COMPACT_BITS | j for the i-th successor of x and the j-th of y, and weights are rounded to
    32 bits. Only evaluations read them, and a sweep computes what rounding leaves.
    """

    offset: npt.NDArray[np.int64]  # [n], start of a source row
    code: npt.NDArray[Any]  # [cells], child node << shift | parent node; every parent comes before its children
    shift: int  # bits of a node number
    used: npt.NDArray[Any]  # [pairs], cells with positive flow
    target: npt.NDArray[Any]  # [cells], flat successor pair of a cell with flow; the first `used` of a pair are used
    weight: npt.NDArray[Any]  # [cells], its flow


class Flows(NamedTuple):
    """What products with the trees' coupling read of `Pairs` and `Trees`, by the same names."""

    row: npt.NDArray[np.int64]
    begin: npt.NDArray[np.int32]
    offset: npt.NDArray[np.int64]
    used: npt.NDArray[Any]
    target: npt.NDArray[Any]
    weight: npt.NDArray[Any]


class Modes(NamedTuple):
    """Clusters of source and of target states; their products are blocks of pairs."""

    cluster_x: npt.NDArray[np.int64]  # [n]
    cluster_y: npt.NDArray[np.int64]  # [m]
    size_x: npt.NDArray[np.float64]  # [clusters of source states], how many states each has
    size_y: npt.NDArray[np.float64]
    member_at: npt.NDArray[np.int64]  # [clusters of source states + 1], where the members of each begin
    member: npt.NDArray[np.int64]  # [n]


NO_ROWS = Rows(np.empty(0, np.int64), np.empty(0, np.int32), np.empty(0))
NEVER = np.zeros((0, 0), np.bool_)  # a mask of stops that stands for none


# By the bits of a node number: the type of a code, which is two of those; and the flows of no trees of these types.
TREE_CODES = {bits: np.dtype(f"u{bits // 4}") for bits in (COMPACT_BITS, 8, 16, 32)}
NO_FLOWS = {
    bits: (NO_ROWS.indptr, NO_ROWS.indices, NO_ROWS.indptr, np.empty(0, code), NO_ROWS.indices, NO_ROWS.data)
    for bits, code in TREE_CODES.items()
    if bits != COMPACT_BITS
}


class Cells(NamedTuple):
    """Couplings and potentials of a range of pairs, as the checker reads them."""

    indptr: npt.NDArray[np.int64]  # [pairs + 1]
    left: npt.NDArray[np.int32]  # [cells], position in the source row
    right: npt.NDArray[np.int32]  # [cells], position in the target row
    weight: npt.NDArray[np.float64]  # [cells]
    start: npt.NDArray[np.int64]  # [pairs + 1], where the potentials of a pair begin
    potential: npt.NDArray[np.float64]  # [Σ S_y], g of every pair


class Extremes(NamedTuple):
    """The largest or the smallest values of a matrix [n, m] by row, by column and overall, and where they are."""

    row: npt.NDArray[np.float64]  # [n]
    row_at: npt.NDArray[np.int64]  # [n], column
    column: npt.NDArray[np.float64]  # [m]
    column_at: npt.NDArray[np.int64]  # [m], row
    overall: float
    overall_at: int  # flat


class Report(NamedTuple):
    """The worst that the checker found on a range of pairs."""

    lowest: float  # smallest L - V
    highest: float  # largest U - V
    marginal_error: float  # largest 1-norm error of a coupling's marginals
    potential: float  # largest max |f| + max |g| of a pair
    terms: int  # most terms of a sum
    invalid: int  # number of invalid cells and potentials


class Side(NamedTuple):
    """The rows of a chain with their entries sorted by class, and the rows of its quotient."""

    indptr: npt.NDArray[np.int64]  # [n + 1]
    position: npt.NDArray[np.int32]  # [entries], where a sorted entry is in its row
    class_of: npt.NDArray[np.int32]  # [entries], ascending within a row
    data: npt.NDArray[np.float64]  # [entries]
    small_indptr: npt.NDArray[np.int64]  # [classes + 1]
    small_classes: npt.NDArray[np.int32]  # [entries of the quotient], ascending within a row
    alike: npt.NDArray[np.bool_]  # [n], whether the row is that of its class: one successor in each, same probabilities


class Predecessors(NamedTuple):
    """Transposed rows: the arcs into state t with action a begin at indptr[t · per_state + a]."""

    indptr: npt.NDArray[np.int64]  # [states · per_state + 1]
    state: npt.NDArray[np.int32]  # [arcs], where an arc comes from
    probability: npt.NDArray[np.float64]  # [arcs], positive


class Blocks(NamedTuple):
    """A partition under refinement, its waiting splitters, and work space; all arrays but `counts` have length n."""

    counts: npt.NDArray[np.int64]  # [3], blocks, waiting splitters, and whether different sums were treated as equal
    states: npt.NDArray[np.int32]  # block by block
    place: npt.NDArray[np.int32]  # of a state in `states`
    block: npt.NDArray[np.int32]  # of a state
    is_alone: npt.NDArray[np.bool_]  # of a state: it is a block by itself, so nothing can split it
    first: npt.NDArray[np.int32]  # of a block: its states are states[first : end]
    end: npt.NDArray[np.int32]
    marked: npt.NDArray[np.int32]  # of a block: how many of its states, the first ones, have moves into the splitter
    is_waiting: npt.NDArray[np.bool_]  # of a block
    waiting: npt.NDArray[np.int32]  # a stack of blocks
    splitter: npt.NDArray[np.int32]  # states of the splitter, as it was before it split itself
    reached: npt.NDArray[np.int32]  # states with moves into the splitter
    hit: npt.NDArray[np.int32]  # blocks of those
    total: npt.NDArray[np.float64]  # of a state: its probability of moving into the splitter; zero between splitters
    order: npt.NDArray[np.int32]
    order_before: npt.NDArray[np.int32]
    key: npt.NDArray[np.float64]
    key_before: npt.NDArray[np.float64]


class Scalings(NamedTuple):
    """The logarithms of the scalings of all pairs, as whole numbers plus rests in [-1/2, 1/2]."""

    a: npt.NDArray[np.float64]  # [Σ S_x], whole; the pair (x, y) begins at m·P.indptr[x] + y·S_x
    a_rest: npt.NDArray[np.float64]
    b: npt.NDArray[np.float64]  # [Σ S_y], whole; the pair (x, y) begins at x·nnz(Q) + Q.indptr[y]
    b_rest: npt.NDArray[np.float64]


class Shared(NamedTuple):
    """The logarithm Λ of the kernel that all pairs share, oriented for a half projection, and its exponential."""

    by_source: bool  # whether the source side is projected; that side is "own" below, the opposite one "other"
    whole: npt.NDArray[np.float64]  # [others, owns], Λ = whole + rest
    rest: npt.NDArray[np.float64]  # [others, owns]
    factor: npt.NDArray[np.float64]  # [others, owns], exp(Λ - shift - centre), at most e
    shift: npt.NDArray[np.float64]  # [owns], the reference u
    centre: npt.NDArray[np.float64]  # [others], the reference v


class Supports(NamedTuple):
    """The successors of one side at the pairs (x, 0), …, (x, m - 1), concatenated."""

    states: npt.NDArray[np.int32]  # [entries]
    probability: npt.NDArray[np.float64]  # [entries]
    ends: npt.NDArray[np.int64]  # [m + 1], the pair (x, y) has the entries ends[y] to ends[y + 1]


class Weights(NamedTuple):
    """Probabilities of one side times the exponentials of its scalings, for full supports, relative to exp(middle)."""

    weights: npt.NDArray[np.float64]  # [pairs, others]
    middle: npt.NDArray[np.float64]  # [pairs]


class ChainRows(NamedTuple):
    """The rows of several chains, one chain after the other; indptr and indices count from zero in every chain."""

    state_at: npt.NDArray[np.int64]  # [chains + 1], states of the chains before; its indptr begins at state_at[k] + k
    entry_at: npt.NDArray[np.int64]  # [chains + 1], entries of the chains before
    indptr: npt.NDArray[np.int64]  # [states + chains]
    indices: npt.NDArray[np.int32]  # [entries]
    data: npt.NDArray[np.float64]  # [entries]


class ProblemArrays(NamedTuple):
    """Several problems, one after the other: their chains by number, and where their pairs and trees begin."""

    chains: ChainRows
    source: npt.NDArray[np.int64]  # [problems], number of the source chain
    target: npt.NDArray[np.int64]  # [problems]
    pair_at: npt.NDArray[np.int64]  # [problems + 1], pairs of states of the problems before
    cell_at: npt.NDArray[np.int64]  # [problems + 1], cells of their trees
    cost: npt.NDArray[np.float64]  # [pairs], not scaled
    scale: npt.NDArray[np.float64]  # [problems]
    stop: npt.NDArray[np.bool_]  # [pairs], or empty where no problem stops

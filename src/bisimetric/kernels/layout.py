"""The arrays that kernels work on.

A pair (x, y) of states owns one transport problem between the rows P[x] and Q[y], with S_x and S_y entries.
Its basis is a spanning tree on S_x + S_y nodes (source successors first) with K = S_x + S_y - 1 arcs. Trees
of all pairs lie in flat arrays; the one of (x, y) begins at offset[x] + y·(S_x - 1) + Q.indptr[y], which
needs no array of its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

SMALL = 64  # S_x·S_y up to which a sweep prices all cells and may copy the tree of the pair before

HINT_RUN = 32  # pairs after which a cold sweep over large supports forgets the potentials of the pair before

SPAN = 600.0  # of β + v on a support, for the shared way of a half projection
SMALLEST = 1e-130  # such a sum; e^-300 with e^-708 lost from terms of at most e^300 is still exact


class Rows(NamedTuple):
    """The rows of a stochastic matrix in CSR form, every row summing to one exactly."""

    indptr: npt.NDArray[np.int64]  # [rows + 1]
    indices: npt.NDArray[np.int32]  # [entries]
    data: npt.NDArray[np.float64]  # [entries]


class Trees(NamedTuple):
    """One transport basis per pair, root first, and the cells that carry flow."""

    offset: npt.NDArray[np.int64]  # [n], start of a source row
    code: npt.NDArray[Any]  # [cells], child node << shift | parent node; every parent comes before its children
    shift: int  # bits of a node number
    used: npt.NDArray[Any]  # [pairs], cells with positive flow
    target: npt.NDArray[
        np.int32
    ]  # [cells], flat successor pair of a cell with flow; the first `used` of a pair are used
    weight: npt.NDArray[np.float64]  # [cells], its flow


class Cells(NamedTuple):
    """Couplings and potentials of a range of pairs, as handed to the checker."""

    indptr: npt.NDArray[np.int64]  # [pairs + 1]
    left: npt.NDArray[np.int32]  # [cells], position in the source row
    right: npt.NDArray[np.int32]  # [cells], position in the target row
    weight: npt.NDArray[np.float64]  # [cells]
    start: npt.NDArray[np.int64]  # [pairs + 1], where the potentials of a pair begin
    potential: npt.NDArray[np.float64]  # [Σ S_y], g of every pair


class Scalings(NamedTuple):
    """The logarithms of the scalings of all pairs, whole numbers and rests in [-1/2, 1/2] apart."""

    a: npt.NDArray[np.float64]  # [Σ S_x], whole; the pair (x, y) begins at m·P.indptr[x] + y·S_x
    a_rest: npt.NDArray[np.float64]
    b: npt.NDArray[np.float64]  # [Σ S_y], whole; the pair (x, y) begins at x·nnz(Q) + Q.indptr[y]
    b_rest: npt.NDArray[np.float64]


class Shared(NamedTuple):
    """The logarithm Λ of the kernel that all pairs share, oriented for a half projection, and its exponential."""

    whole: npt.NDArray[np.float64]  # [others, owns], Λ = whole + rest
    rest: npt.NDArray[np.float64]  # [others, owns]
    factor: npt.NDArray[np.float64]  # [others, owns], exp(Λ - shift - centre), at most e
    shift: npt.NDArray[np.float64]  # [owns], u; the reference of the others is handed in


class Weights(NamedTuple):
    """Probabilities of one side times the exponentials of its scalings, for full supports, relative to exp(middle)."""

    weights: npt.NDArray[np.float64]  # [pairs, others]
    middle: npt.NDArray[np.float64]  # [pairs]

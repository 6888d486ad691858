"""Partitions of states: grouped by properties of single states, then refined until classes move alike.

    s ~ t   ⇒   same group, and  Σ_{u ∈ C} P(s, u) = Σ_{u ∈ C} P(t, u)  for every class C

The coarsest such partition is bisimilarity (for chains: ordinary lumpability; Kemeny & Snell 1960, Larsen & Skou 1991).
kernels/refinement.py finds it, in calls of about a tenth of a second so that Ctrl-C works.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric.errors import InvalidChain
from bisimetric.kernels.layout import Blocks, Predecessors

ARCS_AT_ONCE = 2_000_000  # arcs that one call of the kernel looks at; about a tenth of a second
BYTES_PER_STATE = 96  # memory of the kernel's arrays
BYTES_PER_ARC = 24  # memory of the rows and of their transpose
MOST_STATES = 2**31 - 1
DEFAULT_TOL = 1e-12  # largest gap between probabilities that count as equal, absolute

Classes = npt.NDArray[np.int64]  # [n], a number per state: 0, 1, … in the order of the first state of a class


class Moves(NamedTuple):
    """Rows in CSR form; row number s · per_state + a belongs to state s (for a chain, per_state is 1)."""

    indptr: npt.NDArray[Any]  # [rows + 1]
    indices: npt.NDArray[Any]  # [arcs]
    data: npt.NDArray[np.float64]  # [arcs], positive
    per_state: int = 1


def refine(moves: Moves, initial: Classes, tol: float, most: int | None = None) -> Classes | None:
    """The coarsest partition that refines `initial` and in which the states of a class move alike.

    For any two classes C and D, the sorted probabilities with which states of C move into D have no gap above `tol`.
    States whose rows are within tol/2 of rows that make them bisimilar are never separated. None if there are more than
    `most` classes.
    """
    n_states = len(initial)
    most = n_states if most is None else most
    if n_states > MOST_STATES:
        raise InvalidChain(f"{n_states} states are too many to refine, expected at most {MOST_STATES}")
    memory.require(
        BYTES_PER_STATE * n_states + BYTES_PER_ARC * len(moves.data),
        f"finding bisimilar states among {n_states}",
        "take a part of the model",
    )
    refinement = kernels.refinement
    arcs = len(moves.data)
    before = Predecessors(np.empty(n_states * moves.per_state + 1, np.int64), np.empty(arcs, np.int32), np.empty(arcs))
    refinement.transpose(
        moves.indptr.astype(np.int64), moves.indices.astype(np.int32), moves.data.copy(), moves.per_state, before
    )
    blocks = _blocks(initial)
    found = 0
    while found < blocks.counts[refinement.BLOCKS] <= most:
        found = int(blocks.counts[refinement.BLOCKS])
        blocks.counts[refinement.WAITING] = found
        blocks.waiting[:found] = np.arange(found)
        blocks.is_waiting[:found] = True
        while blocks.counts[refinement.WAITING] and blocks.counts[refinement.BLOCKS] <= most:
            refinement.refine(blocks, before, moves.per_state, float(tol), most, ARCS_AT_ONCE)
        if not blocks.counts[refinement.UNEQUAL]:
            break
    return renumber(blocks.block) if blocks.counts[refinement.BLOCKS] <= most else None


def _blocks(initial: Classes) -> Blocks:
    """The kernel's arrays for a partition, whose numbers may have gaps."""
    n_states = len(initial)
    sizes = np.bincount(initial)
    initial = (np.cumsum(sizes > 0) - 1)[initial]

    def whole() -> npt.NDArray[np.int32]:
        return np.zeros(n_states, np.int32)

    states = np.argsort(initial, kind="stable").astype(np.int32)
    place = np.empty(n_states, np.int32)
    place[states] = np.arange(n_states, dtype=np.int32)
    ends = np.cumsum(sizes[sizes > 0])
    first, end = whole(), whole()
    end[: len(ends)] = ends
    first[1 : len(ends)] = ends[:-1]
    return Blocks(
        counts=np.array([len(ends), 0, 0], np.int64),
        states=states,
        place=place,
        block=initial.astype(np.int32),
        is_alone=(sizes[sizes > 0] == 1)[initial],
        first=first,
        end=end,
        marked=whole(),
        is_waiting=np.zeros(n_states, np.bool_),
        waiting=whole(),
        splitter=whole(),
        reached=whole(),
        hit=whole(),
        total=np.zeros(n_states),
        order=whole(),
        order_before=whole(),
        key=np.zeros(n_states),
        key_before=np.zeros(n_states),
    )


def renumber(groups: npt.NDArray[Any]) -> Classes:
    """The same partition with its classes numbered in the order of their first states; groups are 0 … n - 1."""
    first = first_states(groups)
    number = np.empty(len(first), np.int64)
    number[np.argsort(first, kind="stable")] = np.arange(len(first))
    classes: Classes = number[groups]
    return classes


def first_states(groups: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """The first state of every group; all of 0 … max(groups) occur."""
    first = np.empty(int(groups.max()) + 1, np.int64)
    first[groups[::-1]] = np.arange(len(groups) - 1, -1, -1)  # the last assignment to an entry counts
    return first


def equal_numbers(values: npt.NDArray[np.float64]) -> Classes:
    """Groups of equal numbers."""
    return renumber(np.unique(values, return_inverse=True)[1])


def common_refinement(one: Classes, other: Classes) -> Classes:
    """The coarsest partition that refines both."""
    return renumber(np.unique(one * (int(other.max()) + 1) + other, return_inverse=True)[1])

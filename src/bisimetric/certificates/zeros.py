"""Pairs at distance exactly zero: free pairs whose couplings reach only such pairs.

One backward search over the couplings of the candidates finds them, in linear time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.blocks import for_each_block
from bisimetric.couplings.witness import CELLS_AT_ONCE, Witness
from bisimetric.kernels.layout import NEVER
from bisimetric.models.rows import offsets
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness


def closed_subset(
    candidate: npt.NDArray[np.bool_],
    coupled: Callable[[npt.NDArray[np.int64]], tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
    cells_per_pair: int,
) -> npt.NDArray[np.bool_]:
    """The candidates whose coupling reaches only candidates, in any number of steps.

    `coupled` takes ascending flat pairs, and returns how many successor pairs each has, and which; candidate.size
    stands for a pair outside.
    """
    inside = np.append(candidate, False)  # flat; the last entry is for everything outside
    ranges = list(_ranges(candidate.shape, cells_per_pair))
    counts, heads = ([np.zeros(0, np.int32)] * len(ranges) for _ in range(2))
    dropped: list[int] = []  # ranges with candidates that lead outside

    def work(i: int, j: int) -> None:
        for k in range(i, j):
            first, last = ranges[k]
            some = first + np.flatnonzero(inside[first:last])
            if not len(some):
                continue
            count, head = coupled(some)
            leads_inside = inside[head]
            if not leads_inside.all():
                stays = np.ones(len(some), np.bool_)
                stays[np.repeat(np.arange(len(some)), count)[~leads_inside]] = False
                inside[some[~stays]] = False  # at once: pairs of other ranges that lead here need no arcs either
                count, head = count[stays], head[np.repeat(stays, count)]
                dropped.append(k)
            counts[k], heads[k] = count.astype(np.int32), head.astype(np.int32)

    for_each_block(work, len(ranges), serial_below=2)
    if not dropped:
        return candidate.copy()
    pairs = np.flatnonzero(inside)
    number = np.full(inside.size, len(pairs), np.int32)  # one node for everything outside
    number[pairs] = np.arange(len(pairs))
    arcs = number[np.concatenate(heads)]
    heads.clear()
    found = inside[:-1].reshape(candidate.shape)
    if (arcs == len(pairs)).any():
        outside = np.empty(len(pairs), np.bool_)
        kernels.check.lead_outside(offsets(np.concatenate(counts)), arcs, outside)
        found.ravel()[pairs[outside]] = False
    return found


def coupled_pairs(
    bellman: Bellman,
    witness: Witness,
    pairs: npt.NDArray[np.int64],
    named: Callable[[npt.NDArray[np.int64]], npt.NDArray[np.int32]],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """How many successor pairs the coupling has at each of the ascending `pairs`, and which; `named` numbers them."""
    counts, names = [np.empty(0, np.int64)], [np.empty(0, np.int32)]
    for first, last in _ranges(bellman.shape, witness.cells_per_pair):
        some = pairs[np.searchsorted(pairs, first) : np.searchsorted(pairs, last)]
        if len(some):
            count, heads = successor_pairs(bellman, witness, some)
            counts.append(count)
            names.append(named(heads))
    return np.concatenate(counts), np.concatenate(names)


def _ranges(shape: tuple[int, ...], cells_per_pair: int) -> Iterator[tuple[int, int]]:
    """Ranges of flat pairs whose cells fit into memory."""
    size, m = math.prod(shape), math.prod(shape[1:])
    at_once = max(m, CELLS_AT_ONCE // max(cells_per_pair, 1) // m * m)
    for first in range(0, size, at_once):
        yield first, min(first + at_once, size)


def successor_pairs(
    bellman: Bellman, witness: Witness, pairs: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many successor pairs the coupling has at each of the ascending `pairs`, and which; none at a stop.

    Pairs are given by their numbers. A successor at which V is known is left out if V is zero there, else its number is
    n_pairs.
    """
    first, last = int(pairs[0]), int(pairs[-1]) + 1
    x, y = bellman.pairs.states(first, last)
    wanted = pairs - first
    if isinstance(witness, TreeWitness):  # reads trees of a list of pairs as fast as of a range
        x, y, wanted = x[wanted], y[wanted], np.arange(len(pairs))
        cells = witness.some_cells(x, y, pairs)
    else:
        cells = witness.cells(first, last)
    stop = bellman.stop if bellman.pairs.is_complete else NEVER  # no listed pair is a stop
    count, head = np.empty(len(pairs), np.int64), np.empty(len(cells.left), np.int64)
    total = kernels.listing.successors(
        wanted, x, y, cells, bellman.source, bellman.target, bellman.pairs.listed, stop, bellman.cost, count, head
    )
    return count, head[:total]

"""Potentials of the transports of all pairs, added up with weights: what gradients by kernels are made of.

    Σ_y ν(x, y) f_xy(x')        Σ_x ν(x, y) g_xy(y')

Where a problem was solved on classes, f_xy and g_xy are those of the classes. So the weights are added up over the
states of a class first, and the pass goes over pairs of classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.blocks import for_each_block
from bisimetric.couplings.coupling import CELLS_PER_BLOCK
from bisimetric.couplings.lifted import LiftedWitness
from bisimetric.couplings.witness import Witness
from bisimetric.kernels.layout import Rows, Side
from bisimetric.models.partition import Classes
from bisimetric.models.rows import Floats, Mask, offsets

GRADIENT_PARTS = 16  # of the source states at most; sums over each are added in order: threads change nothing
PART_CELLS = 2**16  # of couplings that are worth a part


class TransportSums(NamedTuple):
    """Potentials of the transports of all pairs, added up with weights."""

    source: Floats  # [entries of the source's rows]
    target: Floats  # [entries of the target's rows]
    tied: Mask  # [n, m]


def transport_sums(
    witness: Witness, value: Floats, rows: tuple[Rows, Rows], visits: Floats, tight: float
) -> TransportSums:
    """Σ ν f and Σ ν g over the pairs with weights ν, [n, m], in the scale of `value`."""
    if isinstance(witness, LiftedWitness):
        return _on_classes(witness, rows, visits, tight)
    P, Q = rows
    n, m = visits.shape
    parts = min(GRADIENT_PARTS, n, 1 + n * m * witness.cells_per_pair // PART_CELLS)
    source, target = np.zeros(len(P.data)), np.zeros((parts, len(Q.data)))
    tied = np.zeros((n, m), np.bool_)
    step = max(1, CELLS_PER_BLOCK // max(witness.cells_per_pair, 1) // m)

    def one(part: int) -> None:
        first, last = n * part // parts, n * (part + 1) // parts
        for x in range(first, last, step):
            end = min(x + step, last)
            at = np.flatnonzero(visits[x:end])
            if not len(at):
                continue
            ties = np.zeros(len(at), np.bool_)
            kernels.gradient.potential_sums(
                x + at // m, at % m, at, visits[x:end].ravel()[at], value, P, Q, witness.cells(x * m, end * m), tight,
                source, target[part], ties,
            )  # fmt: skip
            tied[x:end].ravel()[at] = ties

    def work(i: int, j: int) -> None:
        for part in range(i, j):
            one(part)

    for_each_block(work, parts)
    return TransportSums(source, target.sum(axis=0), tied)


def _on_classes(witness: LiftedWitness, rows: tuple[Rows, Rows], visits: Floats, tight: float) -> TransportSums:
    """The same sums for couplings and potentials that were lifted from classes."""
    value, small = witness.value, witness.small
    X, Y = witness.class_x, witness.class_y
    tall, wide = value.shape
    members = *_members(X, tall), *_members(Y, wide)
    by_x, by_y = np.zeros((len(X), wide)), np.zeros((tall, len(Y)))
    kernels.gradient.sum_over_classes(visits, X, Y, by_x, by_y)
    parts = min(GRADIENT_PARTS, tall, 1 + tall * wide * small.cells_per_pair // PART_CELLS)
    source, target = np.zeros(len(rows[0].data)), np.zeros((parts, len(rows[1].data)))
    ties = np.zeros(value.shape, np.bool_), np.zeros(by_x.shape, np.bool_), np.zeros(by_y.shape, np.bool_)
    step = max(1, CELLS_PER_BLOCK // max(small.cells_per_pair, 1) // wide)

    def work(i: int, j: int) -> None:
        for part in range(i, j):
            end = tall * (part + 1) // parts
            for first in range(tall * part // parts, end, step):
                last = min(first + step, end)
                kernels.gradient.class_sums(
                    first, last, value, witness.source, witness.target, members, small.cells(first * wide, last * wide),
                    (by_x, by_y), tight, (source, target[part]), ties,
                )  # fmt: skip

    for_each_block(work, parts)
    tied = ties[0][np.ix_(X, Y)] | ties[1][:, Y] | ties[2][X]
    tied |= np.logical_and.outer(_several(witness.source), _several(witness.target))
    return TransportSums(source, target.sum(axis=0), tied & (visits > 0.0))


def _members(classes: Classes, count: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The states of every class, one class after the other, and where each begins."""
    return offsets(np.bincount(classes, minlength=count)), np.argsort(classes, kind="stable")


def _several(side: Side) -> Mask:
    """Which states have several successors in one class."""
    row = np.repeat(np.arange(len(side.indptr) - 1), np.diff(side.indptr))
    again = (row[1:] == row[:-1]) & (side.class_of[1:] == side.class_of[:-1])
    several = np.zeros(len(side.indptr) - 1, np.bool_)
    several[row[1:][again]] = True
    return several

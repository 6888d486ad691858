"""What one worker holds and does: the transport trees of a range of source rows.

A worker has the whole operator and numbers pairs as everybody does. Its trees are in arrays of the whole size, of which
it touches its own rows only: the rest takes no memory. So it runs the same code on the same numbers as one machine
does, and every result has the same bits for any number of workers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support import memory
from bisimetric._support.blocks import for_even_split
from bisimetric.certificates.check import reports_on
from bisimetric.kernels.layout import Modes, Report
from bisimetric.models.rows import Floats, offsets
from bisimetric.operators.bellman import Bellman, Sweep
from bisimetric.operators.evaluation import product_kernel
from bisimetric.operators.modes import block_flows
from bisimetric.operators.trees import TreeWitness, new_trees


class TreePart(NamedTuple):
    """The trees of a range of source rows; with flows only if an evaluation needs them."""

    code: npt.NDArray[Any]
    used: npt.NDArray[Any]
    target: npt.NDArray[Any]
    weight: npt.NDArray[Any]


class Checked(NamedTuple):
    """The checker's bounds on T V at the pairs of a range of rows, and the worst that it found."""

    upper: Floats
    lower: Floats
    reports: list[Report]


class Shard:
    """The source rows first..last of an operator, with their trees."""

    def __init__(self, bellman: Bellman, rows: tuple[int, int]) -> None:
        self._bellman, self._rows = bellman, rows
        self._trees = new_trees(bellman, may_round=True, rows=rows)
        begins = bellman.pairs.listed.row
        self._out = memory.untouched(bellman.pairs.size, np.float64)  # of products
        self._own = slice(int(begins[rows[0]]), int(begins[rows[1]]))
        ends = np.append(self._trees.offset, self._trees.code.size)
        self._cells = slice(int(ends[rows[0]]), int(ends[rows[1]]))

    def sweep(self, value: Floats, cold: bool, ignore: float) -> Sweep:
        """`Bellman.improve` on these rows; the residual has one entry for each of their pairs."""
        swept = self._bellman.improve(value, self._trees, cold=cold, ignore=ignore, rows=self._rows)
        return swept._replace(residual=swept.residual[self._own])

    def product(self, vector: Floats) -> Floats:
        """(I - γΠ)·vector at the pairs of these rows."""
        bellman, trees, (begin, end) = self._bellman, self._trees, self._rows
        kernel, out, sums = product_kernel(trees), self._out, np.empty((bellman.shape[0], 2))

        def work(i: int, j: int) -> None:
            kernel(
                begin + i, begin + j, vector, out, vector, bellman.discount, bellman.source, bellman.target,
                bellman.pairs.listed, trees, sums,
            )  # fmt: skip

        for_even_split(work, end - begin, cost=self._cells.stop - self._cells.start)
        return out[self._own]

    def flows(self, modes: Modes, jacobi: bool) -> tuple[Floats, npt.NDArray[np.float32]]:
        """The mass that their couplings send from block to block, and the quickness of their pairs."""
        is_own = (modes.member >= self._rows[0]) & (modes.member < self._rows[1])
        member_at = offsets(is_own)[modes.member_at]
        quickness = memory.untouched(self._bellman.pairs.size if jacobi else 0, np.float32)
        own = modes._replace(member=modes.member[is_own], member_at=member_at)
        return block_flows(self._bellman, own, self._trees, quickness), quickness[self._own]

    def check(self, value: Floats) -> Checked:
        """The checker's word on these rows."""
        upper, lower = (memory.untouched(self._bellman.pairs.size, np.float64) for _ in range(2))
        own = self._own.start, self._own.stop
        witness = TreeWitness(self._bellman, value, self._trees)
        reports = reports_on(self._bellman, value, witness, upper, lower, own)
        return Checked(upper[self._own], lower[self._own], reports)

    def trees(self, with_flows: bool) -> TreePart:
        """The trees of these rows."""
        trees = self._trees
        flows = self._cells if with_flows else slice(0, 0)
        return TreePart(trees.code[self._cells], trees.used[self._own], trees.target[flows], trees.weight[flows])

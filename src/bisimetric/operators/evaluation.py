"""Policy evaluation for one operator: (I - γΠ) d = r for one coupling Π after the other.

BiCGSTAB is preconditioned (`_modes`) as soon as an evaluation takes many products; on small or fast mixing chains none
does. Systems that it does not solve go up the ladder of `_linear`. Solves of small
problems are one compiled call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric.kernels.layout import Trees
from bisimetric.linear import krylov
from bisimetric.linear.krylov import Solved
from bisimetric.linear.ladder import Ladder, storable
from bisimetric.models.rows import Floats, offsets
from bisimetric.operators import modes
from bisimetric.operators.modes import Preconditioner

if TYPE_CHECKING:
    from bisimetric.operators.bellman import Bellman

MANY_PRODUCTS = 16  # in one evaluation: more of them suggest slow modes
WORTH_MODES = 4 * 10**6  # multiplications that making the preconditioner takes, about


class Evaluation:
    """Solves the systems of one operator, and remembers what helps."""

    def __init__(self, bellman: Bellman) -> None:
        self._bellman = bellman
        self._ladder = Ladder()
        self._preconditioner: Preconditioner | None = None
        self._worthwhile: bool | None = None  # whether there may be one; not asked yet

    @property
    def is_preconditioned(self) -> bool:
        """Whether evaluations take few products, so that more of them may be less accurate."""
        return self._preconditioner is not None

    def solve(self, trees: Trees, residual: Floats, guess: Floats, target: float) -> Solved:
        """d with (I - γΠ) d = residual for the trees' coupling, up to `target`; `guess` is overwritten."""
        bellman = self._bellman
        n, cells = bellman.shape[0], trees.code.size

        def work(i: int, j: int, vector: Floats, out: Floats, other: Floats, sums: Floats) -> None:
            kernels.evaluation.apply_trees(
                i, j, vector, out, other, bellman.discount, bellman.source, bellman.target, bellman.listed, trees, sums
            )

        apply = krylov.by_rows(work, n, cells)

        def first() -> Solved:
            if self._preconditioner is None:
                budget = self._budget(cells)
                solved = self._plain(trees, residual, guess, target, apply, budget)
                if budget == krylov.MAX_PRODUCTS or solved.residual <= krylov.SLACK * target:
                    return solved
                self._preconditioner = Preconditioner(bellman, dense=self._in_one_call(cells))
            np.copyto(guess, residual)
            return self._preconditioned(self._preconditioner, trees, residual, guess, target, apply)

        return self._ladder.solve(first, lambda: self._matrix(trees), apply, residual, bellman.discount, target)

    def _budget(self, cells: int) -> int:
        """Products without a preconditioner, before one is worth its cost."""
        few = max(MANY_PRODUCTS, WORTH_MODES // cells)
        if few >= krylov.MAX_PRODUCTS or not self._pays(cells):
            return krylov.MAX_PRODUCTS
        return few

    def _pays(self, cells: int) -> bool:
        if self._worthwhile is None:
            self._worthwhile = modes.pays(self._bellman, cells)
        return self._worthwhile

    def _plain(
        self, trees: Trees, residual: Floats, guess: Floats, target: float, apply: krylov.Operator, budget: int
    ) -> Solved:
        bellman = self._bellman
        n = bellman.shape[0]
        if trees.code.size > krylov.ONE_CALL:
            return krylov.bicgstab(apply, residual, guess, rows=n, target=target, budget=budget)
        system = bellman.discount, bellman.source, bellman.target, bellman.listed, trees, np.empty((n, 2))
        return Solved(guess, *kernels.krylov.on_trees(system, residual, guess, target, budget))

    def _in_one_call(self, cells: int) -> bool:
        n, m = self._bellman.shape
        return cells <= krylov.ONE_CALL and n * n + m * m <= cells

    def _preconditioned(
        self,
        modes: Preconditioner,
        trees: Trees,
        residual: Floats,
        u: Floats,
        target: float,
        apply: krylov.Operator,
    ) -> Solved:
        """Solve A M⁻¹ u = residual from `u` (overwritten); d = M⁻¹ u."""
        bellman = self._bellman
        n, scaled = bellman.shape[0], np.empty(residual.size)
        modes.adapt(trees)
        if self._in_one_call(trees.code.size):
            tree_system = bellman.discount, bellman.source, bellman.target, bellman.listed, trees
            system = (
                tree_system, scaled, *modes.inverses, modes.coarse, modes.quickness, modes.modes, modes.work,
                np.empty((n, 2)),
            )  # fmt: skip
            solved = Solved(u, *kernels.krylov.preconditioned(system, residual, u, target, krylov.MAX_PRODUCTS))
        else:
            solved = krylov.bicgstab(
                lambda vector, out, other: apply(modes(vector, scaled), out, other),
                residual, u, rows=n, target=target,
            )  # fmt: skip
        return solved._replace(x=modes(solved.x, scaled))

    def _matrix(self, trees: Trees) -> sparse.csr_array | None:
        """Π on the pairs that are solved."""
        bellman = self._bellman
        size, used = bellman.n_pairs, trees.used.astype(np.int64)
        entries = int(used.sum())
        if not storable(entries, size):
            return None
        x, y = bellman.states(0, size)
        if bellman.pairs is None:
            begin = trees.offset[x] + y * (bellman.sizes[0][x] - 1) + bellman.target.indptr[y]
        else:
            begin = trees.offset[x] + bellman.pairs.begin
        indptr = offsets(used)
        read = np.repeat(begin - indptr[:-1], used) + np.arange(entries)
        return sparse.csr_array((trees.weight[read], trees.target[read], indptr), shape=(size, size))

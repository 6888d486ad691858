"""The values of couplings: (I - γΠ) d = r for one policy after the other, and V = c + γ P V Qᵀ for the independent one.

BiCGSTAB is preconditioned (`operators.modes`) as soon as an evaluation takes many products; on small or fast mixing
chains none does. Systems that it does not solve go up the ladder of `linear.ladder`. Solves of small problems are one
compiled call.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric._support.blocks import for_even_split
from bisimetric.kernels.layout import NO_FLOWS, SLACK, Arrays, Trees
from bisimetric.linear import direct, krylov
from bisimetric.linear.krylov import MAX_PRODUCTS, ONE_CALL, Solved
from bisimetric.linear.ladder import MANY_PRODUCTS, Ladder, storable
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, Ints, offsets
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.modes import DENSE_RESOLVENT_FROM, Preconditioner, rows_matrix
from bisimetric.operators.trees import compact_targets, is_compact, node_bits, tree_begins

SLOW_MODES_FROM = 16  # products in one evaluation: more of them suggest slow modes
WORTH_MODES = 4 * 10**6  # multiplications that making the preconditioner takes, about
PRODUCTS_SAVED = 300  # that the preconditioner's two factorisations may cost
NARROW = 100  # states of a chain that is never too wide to be factorised
WORTH_A_START = 0.25  # share of pairs to be solved from which a start over all pairs pays
MONGE_ROUNDING = 8 * UNIT_ROUNDOFF  # of sums of four costs, scaled
MOST_PRODUCT_ENTRIES = 2**24  # of P ⊗ Q, for a direct solve


class Evaluation:
    """Solves the systems of one operator, and remembers what helps."""

    def __init__(self, bellman: Bellman) -> None:
        self._bellman = bellman
        self._ladder: Ladder | None = None  # until BiCGSTAB fails
        self._preconditioner: Preconditioner | None = None
        self._worthwhile: bool | None = None  # whether there may be one; None until that is known

    @property
    def is_preconditioned(self) -> bool:
        """Whether evaluations take few products, so that more of them may be less accurate."""
        return self._preconditioner is not None

    def solve(self, trees: Trees, residual: Floats, target: float, *, shift: float = 0.0) -> Solved:
        """d with (I - γΠ) d = residual for the trees' coupling, up to `target`; residual + `shift` is a first guess."""
        has_factors = self._ladder is not None and self._ladder.factors is not None
        best = None if has_factors else self._by_bicgstab(trees, residual, shift, target)
        if best is not None and best.residual <= SLACK * target and best.products <= MANY_PRODUCTS:
            return best
        self._ladder = self._ladder or Ladder()
        matrix, discount = (lambda: self._matrix(trees)), self._bellman.discount
        return self._ladder.climb(best, matrix, self._product(trees), residual, discount, target)

    def _by_bicgstab(self, trees: Trees, residual: Floats, shift: float, target: float) -> Solved:
        cells = trees.code.size
        if self._preconditioner is None:
            budget = self._budget(cells)
            solved = self._plain(trees, residual, residual + shift, target, budget)
            if budget == MAX_PRODUCTS or solved.residual <= SLACK * target:
                return solved
            self._preconditioner = self._new_preconditioner(trees)
        return self._preconditioned(self._preconditioner, trees, residual, target)

    def _new_preconditioner(self, trees: Trees) -> Preconditioner:
        return Preconditioner(self._bellman, trees, dense=self._in_one_call(trees))

    def _budget(self, cells: int) -> int:
        """Products without a preconditioner, before one is worth its cost."""
        few = max(SLOW_MODES_FROM, WORTH_MODES // cells)
        if few < MAX_PRODUCTS and self._worthwhile is None:
            self._worthwhile = _preconditioner_pays(self._bellman, cells)
        return few if few < MAX_PRODUCTS and self._worthwhile else MAX_PRODUCTS

    def _product(self, trees: Trees) -> krylov.MatrixProduct:
        """vector ↦ (I - γΠ)·vector."""
        bellman = self._bellman
        kernel = product_kernel(trees)

        def work(i: int, j: int, vector: Floats, out: Floats, other: Floats, sums: Floats) -> None:
            kernel(
                i, j, vector, out, other, bellman.discount, bellman.source, bellman.target, bellman.pairs.listed,
                trees, sums,
            )  # fmt: skip

        return krylov.by_rows(work, bellman.shape[0], trees.code.size)

    def _plain(self, trees: Trees, residual: Floats, guess: Floats, target: float, budget: int) -> Solved:
        bellman = self._bellman
        n = bellman.shape[0]
        if is_compact(trees) or trees.code.size > ONE_CALL:
            return krylov.bicgstab(self._product(trees), residual, guess, rows=n, target=target, budget=budget)
        return _solve_in_one_call(bellman, _flows(bellman, trees), residual, guess, target, budget)

    def _in_one_call(self, trees: Trees) -> bool:
        (n, m), cells = self._bellman.shape, trees.code.size
        return not is_compact(trees) and cells <= ONE_CALL and n * n + m * m <= cells

    def _preconditioned(self, modes: Preconditioner, trees: Trees, residual: Floats, target: float) -> Solved:
        """Solve A M⁻¹ u = residual from u = residual; d = M⁻¹ u."""
        bellman = self._bellman
        n, u, scaled = bellman.shape[0], residual.copy(), np.empty(residual.size)
        if self._in_one_call(trees):
            tree_system = bellman.discount, bellman.source, bellman.target, _flows(bellman, trees)
            system = (
                tree_system, scaled, *modes.inverses, modes.coarse, modes.quickness, modes.modes, modes.work,
                np.empty((n, 2)),
            )  # fmt: skip
            solved = Solved(u, *kernels.krylov.preconditioned(system, residual, u, target, MAX_PRODUCTS))
        else:
            apply = self._product(trees)
            solved = krylov.bicgstab(
                lambda vector, out, other: apply(modes(vector, scaled), out, other),
                residual, u, rows=n, target=target, steps=modes,
            )  # fmt: skip
        return solved._replace(x=modes(solved.x, scaled))

    def _matrix(self, trees: Trees) -> sparse.csr_array | None:
        """Π on the pairs that are solved."""
        size, used = self._bellman.pairs.size, trees.used.astype(np.int64)
        entries = int(used.sum())
        if not storable(entries, size):
            return None
        indptr = offsets(used)
        read = np.repeat(tree_begins(self._bellman, trees) - indptr[:-1], used) + np.arange(entries)
        if not is_compact(trees):
            return sparse.csr_array((trees.weight[read], trees.target[read], indptr), shape=(size, size))
        heads = compact_targets(self._bellman, trees.target[read], used)
        moves = sparse.csr_array((trees.weight[read].astype(np.float64), heads, indptr), shape=(size, size))
        return sparse.csr_array(moves + sparse.diags_array(1.0 - moves.sum(axis=1)))  # as `apply_compact` has it


def _flows(bellman: Bellman, trees: Trees) -> Arrays:
    """The arrays of `layout.Flows`."""
    pairs = bellman.pairs.listed
    return pairs.row, pairs.begin, trees.offset, trees.used, trees.target, trees.weight


def _solve_in_one_call(bellman: Bellman, flows: Arrays, b: Floats, guess: Floats, target: float, budget: int) -> Solved:
    """BiCGSTAB for the trees' coupling, or the independent one if there are no flows; `guess` is overwritten."""
    sums = np.empty((bellman.shape[0], 2))
    system = kernels.krylov.linear_system(bellman.discount, bellman.stop, bellman.source, bellman.target, flows, sums)
    return Solved(guess, *kernels.krylov.bicgstab(system, b, guess, target, budget))


def product_kernel(trees: Trees) -> Any:
    """The kernel that multiplies with I - γΠ for trees of this layout."""
    return kernels.evaluation.apply_compact if is_compact(trees) else kernels.evaluation.apply_trees


def _preconditioner_pays(bellman: Bellman, cells: int) -> bool:
    """Whether factorising I - γP and I - γQ is little work compared with products of so many cells."""
    if min(bellman.shape) == 1 or not bellman.pairs.is_complete or bellman.stop.size:  # modes need all pairs to go on
        return False
    work = 0.0
    for rows in (bellman.source, bellman.target):
        n = len(rows.indptr) - 1
        is_dense = n <= NARROW or len(rows.data) > DENSE_RESOLVENT_FROM * n * n
        width = n if is_dense else direct.bandwidth(rows_matrix(rows))
        work += n * width * width
    return work <= PRODUCTS_SAVED * cells


def rough_value(bellman: Bellman, accuracy: float) -> Floats:
    """Where to begin: the independent coupling's value, or the cost if that would be more work than the rest.

    Between full rows with costs from rewards: the first step of value iteration from the cost, which takes no pivots.
    The best couplings for it are much closer to those for the distances.
    """
    if bellman.pairs.size < WORTH_A_START * bellman.cost.size:
        return bellman.scaled_cost()
    if bellman.is_full and (orders := _monge_orders(bellman)) is not None:
        return _monotone_step(bellman, orders)
    if not bellman.pairs.symmetric:
        return bellman.consistent(independent_value(bellman, accuracy))
    # Less the halves of the diagonal, which changes no best coupling and leaves zeros there.
    stop = bellman.stop & ~np.eye(len(bellman.stop), dtype=np.bool_)
    value = independent_value(replace(bellman, stop=stop), accuracy)
    half = 0.5 * value.diagonal()
    return bellman.consistent(np.maximum(value - half - half[:, None], 0.0))


def _monge_orders(bellman: Bellman) -> tuple[Ints, Ints] | None:
    """Orders of the states by their rewards, if the cost is Monge in those."""
    source, target = bellman.rewards
    if source is None or target is None:
        return None
    orders = np.argsort(source), np.argsort(target)
    cost = bellman.scaled_cost()[np.ix_(*orders)]
    crossed = cost[:-1, 1:] + cost[1:, :-1] - cost[:-1, :-1] - cost[1:, 1:]
    return orders if float(crossed.min()) >= -MONGE_ROUNDING else None


def _monotone_step(bellman: Bellman, orders: tuple[Ints, Ints]) -> Floats:
    """T c for full rows and a cost that is Monge in these orders."""
    n, m = bellman.shape
    P, Q = bellman.source.data.reshape(n, n), bellman.target.data.reshape(m, m)
    cost, moved = bellman.scaled_cost(), np.empty((n, m))
    for_even_split(
        lambda i, j: kernels.transport.starts.monotone_costs(i, j, cost, P, Q, *orders, moved), n, cost=n * m * (n + m)
    )
    return cost + bellman.discount * moved


def independent_value(bellman: Bellman, accuracy: float, *, surely: bool = False) -> Floats:
    """The value of the independent coupling on all pairs, V = c + γ P V Qᵀ, to `accuracy` of the largest cost.

    If BiCGSTAB fails, the result is the cost itself; with `surely` other methods are tried.
    """
    n, m = bellman.shape
    rows = bellman.source, bellman.target
    cost = bellman.scaled_cost().ravel()
    multiplications = m * len(bellman.source.data) + n * len(bellman.target.data)

    def work(i: int, j: int, vector: Floats, out: Floats, other: Floats, sums: Floats) -> None:
        kernels.evaluation.apply_independent(i, j, vector, out, other, bellman.discount, bellman.stop, *rows, sums)

    if multiplications > ONE_CALL:
        apply = krylov.by_rows(work, n, multiplications)
        solved = krylov.bicgstab(apply, cost, cost.copy(), rows=n, target=accuracy)
    else:
        solved = _solve_in_one_call(bellman, NO_FLOWS[node_bits(bellman)], cost, cost.copy(), accuracy, MAX_PRODUCTS)
    if surely and not solved.residual <= SLACK * accuracy:
        apply = krylov.by_rows(work, n, multiplications)
        matrix = lambda: _product_matrix(bellman)  # noqa: E731
        solved = Ladder().climb(solved, matrix, apply, cost, bellman.discount, accuracy)
    start = solved.x if solved.residual <= bellman.largest_cost else cost
    return start.reshape(n, m)


def _product_matrix(bellman: Bellman) -> sparse.csr_array | None:
    """P ⊗ Q, if that is not too large to be stored; for operators that never stop."""
    entries = len(bellman.source.data) * len(bellman.target.data)
    if entries > MOST_PRODUCT_ENTRIES or not storable(entries, bellman.cost.size):
        return None
    return sparse.csr_array(sparse.kron(rows_matrix(bellman.source), rows_matrix(bellman.target), format="csr"))

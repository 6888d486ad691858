"""Factored couplings rounded to valid ones: their value, and the bounds that they prove.

    V = c + γΠV,    Π = the couplings of a `Factored` state after Algorithm 3 of Calo et al. 2024

Rounding is in kernels/sinkhorn/rounding.py. Couplings are computed again in every product with Π, because storing all
of them takes n²m² numbers; small problems store them once. BiCGSTAB solves the linear system and stops at a residual;
where it fails, a factorisation takes over (linear/ladder.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import kernels
from bisimetric.couplings.factored import Factored
from bisimetric.couplings.witness import pair_cells, successors
from bisimetric.kernels.layout import Cells
from bisimetric.linear import krylov, ladder
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import PairList, TreeWitness, new_trees

ROUNDING_BLOCK = 2**12  # scalings that rounding on full supports works on at a time, in a dozen arrays
STORED = 2**18  # cells of all pairs up to which an evaluation stores the couplings
STORED_IN_NEED = 2**24  # the same where BiCGSTAB has failed
UNSETTLED = 1e-3  # error of a marginal, 1-norm, above which scalings are not settled
FEW_UNSETTLED = 0.05  # share of the pairs up to which exact transports settle them: they take less time than a round
FINAL_ACCURACY = 1e-12  # residual of a solver's last evaluation, relative to the largest cost
PASSING_ACCURACY = 1e-4  # the same for the evaluations before
SMALLEST_RESIDUAL = 8 * UNIT_ROUNDOFF  # of an evaluation, relative to the largest value; smaller ones are rounding


def rounded_cells(state: Factored, first: int, last: int) -> Cells:
    """The rounded couplings of the pairs first..last (flat), with room for potentials."""
    cells = pair_cells(state.bellman, first, last)
    rows = state.bellman.source, state.bellman.target
    kernels.sinkhorn.rounding.rounded(first, last, *rows, state.scalings, state.whole, state.rest, True, cells)
    return cells


class StoredPotentials(NamedTuple):
    """Potentials of some pairs."""

    pairs: npt.NDArray[np.int64]  # flat, ascending
    start: npt.NDArray[np.int64]  # [pairs + 1]
    potential: Floats

    def fill(self, first: int, last: int, cells: Cells) -> None:
        """Write those of the pairs first..last into their cells."""
        for k in range(*np.searchsorted(self.pairs, (first, last)).tolist()):
            at = self.pairs[k] - first
            cells.potential[cells.start[at] : cells.start[at + 1]] = self.potential[self.start[k] : self.start[k + 1]]


@dataclass(frozen=True, slots=True, eq=False)
class RoundedWitness:
    """The rounded couplings of a factored state; potentials from its scalings, fitted to `value`.

    At a few pairs scalings may be far from settled, for instance where a new kernel asks for another assignment: one
    such pair would widen all intervals. Those get the potentials of an exact transport.
    """

    factored: Factored
    value: Floats
    settled: StoredPotentials | None = None

    @classmethod
    def of(cls, state: Factored, value: Floats) -> RoundedWitness:
        """With exact potentials at pairs whose marginals are off by more than UNSETTLED, if they are few."""
        bellman = state.bellman
        unsettled = np.maximum(*state.marginals()) > UNSETTLED
        count = np.count_nonzero(unsettled)
        if not 0 < count <= FEW_UNSETTLED * unsettled.size:
            return cls(state, value)
        pairs = PairList.outside(~unsettled, bellman.source, bellman.target, symmetric=False)
        alone = replace(bellman, stop=~unsettled, pairs=pairs)
        trees = new_trees(alone)
        alone.improve(value, trees, cold=True)
        cells = TreeWitness(alone, value, trees).cells(0, pairs.size)
        return cls(state, value, StoredPotentials(np.flatnonzero(unsettled), cells.start, cells.potential))

    @property
    def cells_per_pair(self) -> int:
        bellman = self.factored.bellman
        return bellman.longest[0] * bellman.longest[1]

    def cells(self, first: int, last: int) -> Cells:
        state = self.factored
        bellman = state.bellman
        cells = rounded_cells(state, first, last)
        kernels.sinkhorn.rounding.potentials(
            first, last, self.value, bellman.source, bellman.target, state.scalings, state.total_step, cells
        )
        if self.settled is not None:
            self.settled.fill(first, last, cells)
        return cells


def back_up(state: Factored, value: Floats) -> Floats:
    """c + γΠ·value for the rounded couplings Π."""
    vector = value.ravel()
    out = np.empty(value.size)
    _apply(state, vector, out, vector)
    return state.cost + value - out.reshape(value.shape)


def evaluate(state: Factored, guess: Floats, target: float) -> Floats:
    """The value of the rounded couplings, V = c + γΠV, up to a residual of `target`."""
    state.forget_weights()  # their memory is needed for the vectors of the linear solver
    bellman = state.bellman
    if state.n_cells <= STORED:
        stored = _matrix(state)
        return policy_value(bellman, krylov.of_matrix(stored, bellman.discount), lambda: stored, guess, target)
    storable = state.n_cells <= STORED_IN_NEED and ladder.storable(state.n_cells, guess.size)

    def apply(vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
        return _apply(state, vector, out, other)

    def matrix() -> sparse.csr_array | None:
        return _matrix(state) if storable else None

    return policy_value(bellman, apply, matrix, guess, target)


def evaluation_target(bellman: Bellman, *, last: bool) -> float:
    """The residual at which the evaluation of a round's couplings may stop; the last round's is the answer."""
    return (FINAL_ACCURACY if last else PASSING_ACCURACY) * bellman.largest_cost


def policy_value(
    bellman: Bellman, apply: krylov.MatrixProduct, matrix: ladder.MakeMatrix, guess: Floats, target: float
) -> Floats:
    """V with apply(V) = c up to a residual of `target`, clipped to the range of distances; the guess if all fails."""
    cost = bellman.scaled_cost().ravel()
    floor = SMALLEST_RESIDUAL * bellman.largest_value()
    target = max(target, floor)

    def first() -> krylov.Solved:
        return krylov.bicgstab(apply, cost, guess.ravel().copy(), rows=bellman.shape[0], target=target)

    solved = ladder.Ladder().solve(first, matrix, apply, cost, bellman.discount, target)
    value = solved.x.reshape(bellman.shape) if solved.residual <= float(cost.max()) else guess
    return np.clip(value, 0.0, bellman.largest_value())


def _matrix(state: Factored) -> sparse.csr_array:
    """The rounded couplings of all pairs as one matrix."""
    size = state.bellman.cost.size
    cells = rounded_cells(state, 0, size)
    after = successors(cells, state.bellman.source, state.bellman.target)
    return sparse.csr_array((cells.weight, after, cells.indptr), shape=(size, size))


def _apply(state: Factored, vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
    """out = vector - γΠ·vector; returns <other, out> and <out, out>."""
    bellman = state.bellman
    n = bellman.shape[0]
    sums = np.empty((n, 2))

    def work(first: int, last: int) -> None:
        kernels.sinkhorn.rounding.apply_rounded(
            first, last, vector, out, other, bellman.discount, bellman.stop, bellman.source, bellman.target,
            state.scalings, state.whole, state.rest, sums,
        )  # fmt: skip

    if state.is_full():
        by_products = _apply_by_products(state, work, vector, out, other, sums)
        state.in_blocks(by_products, n, unit=state.rows_at_once(ROUNDING_BLOCK))
    else:
        state.in_blocks(work, n)
    product, square = np.add.reduce(sums, axis=0).tolist()
    return product, square


def _apply_by_products(
    state: Factored,
    general: Callable[[int, int], object],
    vector: Floats,
    out: Floats,
    other: Floats,
    sums: Floats,
) -> Callable[[int, int], None]:
    """Do the same on full supports by matrix products; `general` does the blocks that are out of range."""
    bellman = state.bellman
    n, m = bellman.shape
    centres = state.centres()
    relative = state.whole - centres[0][:, None] - centres[1]
    top = float(relative.max())
    kernel, size = np.exp(relative - top + state.rest), state.rows_at_once(ROUNDING_BLOCK)
    rows, value = (bellman.source, bellman.target), vector.reshape(n, m)

    def work(begin: int, end: int) -> None:
        for first in range(begin, end, size):
            last = min(first + size, end)
            mean = kernels.sinkhorn.dense.rounded_mean(
                first * m, last * m, rows, centres, kernel, top, value, state.scalings
            )
            if mean is None:
                general(first, last)
                continue
            result = value[first:last] - bellman.discount * mean.reshape(last - first, m)
            out.reshape(n, m)[first:last] = result
            sums[first:last, 0] = np.einsum("xy,xy->x", other.reshape(n, m)[first:last], result)
            sums[first:last, 1] = np.einsum("xy,xy->x", result, result)

    return work

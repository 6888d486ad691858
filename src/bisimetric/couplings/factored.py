"""Couplings in factored form: one kernel for all pairs, one pair of scalings for each.

    π(x'y'|xy) = P(x'|x) Q(y'|y) · exp(α_xy(x') + β_xy(y') + Λ(x', y'))

Mirror-descent steps change Λ by a function of the successor pair alone, because what depends on xy cancels in the
projection that follows. So couplings never have to be stored: Λ has n·m entries and the scalings nm(n + m), where the
couplings themselves have n²m². `Factored` is the state of a Sinkhorn solver; a step changes it in place, and whatever
it is, rounding (kernels/rounding.py) makes valid couplings of it.

Reference: Calo et al. 2024, Section 4; that the couplings factor is not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.blocks import for_each_block
from bisimetric.couplings.coupling import pair_cells, successors
from bisimetric.kernels.layout import Cells, Rows, Scalings, Shared, Weights
from bisimetric.linear import krylov, ladder
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import SERIAL_BELOW, Bellman

ONE_CALL = 2**22  # cells of all pairs up to which a kernel is called once; beyond, in blocks that Ctrl-C can part
FULL_PAIRS = 64  # pairs from which numpy's passes pay if all supports are full
# A matrix product a source row, over all target states, pays from PRODUCT_PAIRS pairs and where the target's share of
# nonzeros is at least PRODUCT_SHARE · (1 + PRODUCT_SETUP / mean S_x).
PRODUCT_PAIRS, PRODUCT_SHARE, PRODUCT_SETUP = 256, 0.1, 8.0
DENSE_BLOCK = 2**14  # scalings that a half projection of full supports works on at a time, in two arrays
ROUNDING_BLOCK = 2**12  # the same for rounding, in a dozen arrays
STORED = 2**18  # cells of all pairs up to which an evaluation stores the couplings, instead of making them every time
STORED_IN_NEED = 2**24  # the same where BiCGSTAB has failed
FINAL_ACCURACY = 1e-12  # residual of a solver's last evaluation, relative to the largest cost
PASSING_ACCURACY = 1e-4  # the same for a look on the way
LARGEST_EXPONENT = 1e290  # that a solver may come to
LEAST_STEP = 1e-290  # that scalings are divided by
DRIFT = 100.0  # that Λ may have moved before the references of the shared kernel are chosen again
NOWHERE: Floats = np.empty((0, 0))  # as `expected` of a pass that sets scalings
INITIAL = ("independent", "uniform")
Result = TypeVar("Result")


@dataclass(slots=True, eq=False)
class Factored:
    """The couplings of all pairs, changed in place by half projections."""

    bellman: Bellman
    cost: Floats  # [n, m], in the operator's scale
    scalings: Scalings
    whole: Floats  # [n, m], Λ = whole + rest
    rest: Floats  # [n, m], in [-1/2, 1/2]
    total_step: float = 0.0  # Λ is about -total_step times a value
    by_source: bool = True  # the side of the last projection
    _cells: int = field(init=False)  # of all pairs
    _by_products: bool = field(init=False)  # whether half projections sum by matrix products
    _centre_x: Floats | None = None  # references of the shared kernel
    _centre_y: Floats | None = None
    _drift: float = 0.0
    _weights: Weights | None = None  # of one side, for full supports
    _weights_of_source: bool = False

    def __post_init__(self) -> None:
        (n, m), moves_x, moves_y = self.bellman.shape, len(self.bellman.source.data), len(self.bellman.target.data)
        self._cells = moves_x * moves_y
        self._by_products = (
            n * m >= PRODUCT_PAIRS and moves_y >= PRODUCT_SHARE * (1.0 + PRODUCT_SETUP * n / moves_x) * m**2
        )

    @classmethod
    def start(cls, bellman: Bellman, initial: str) -> Factored:
        """The independent couplings, or those uniform on the supports."""
        n, m = bellman.shape
        size_a, size_b = m * len(bellman.source.data), n * len(bellman.target.data)
        memory.require(
            8 * (2 * (size_a + size_b) + 16 * n * m),
            f"the scalings of {n} x {m} state pairs",
            "PolicyIteration() needs less where supports are small; otherwise compare parts of the chains",
        )
        a, a_rest, b, b_rest = np.zeros(size_a), np.zeros(size_a), np.zeros(size_b), np.zeros(size_b)
        if initial == "uniform":
            to_source, to_target = (_uniform_scaling(rows) for rows in (bellman.source, bellman.target))
            by_row = np.split(to_source, bellman.source.indptr[1:-1])
            a_rest[:] = np.concatenate([np.tile(part, m) for part in by_row])
            b_rest[:] = np.tile(to_target, n)
            for whole, rest in ((a, a_rest), (b, b_rest)):
                np.rint(rest, out=whole)
                rest -= whole
        return cls(bellman, bellman.scaled_cost(), Scalings(a, a_rest, b, b_rest), np.zeros((n, m)), np.zeros((n, m)))

    def probe(self, by_source: bool, step: float, expected: Floats) -> Floats:
        """The Bellman–Sinkhorn operator of these couplings on a value given by its expectation over own successors."""
        shared = self._shared(by_source, self.bellman.discount * step, expected, commit=False)
        out = np.empty(self.bellman.shape)
        self._pass(step, shared, out)
        return out

    def project(self, by_source: bool, step: float, expected: Floats) -> None:
        """Λ -= γ·step·expected, then the half projection on one side."""
        amount = self.bellman.discount * step
        shared = self._shared(by_source, amount, expected, commit=True)
        self._pass(step, shared, NOWHERE)
        self._recentre(amount * float(np.abs(expected).max()))
        self.total_step += amount if amount > LEAST_STEP else 0.0  # no potentials come of less
        self.by_source = by_source

    def price(self, value: Floats, sharpness: float) -> None:
        """Λ = -sharpness·value; the scalings stay as they are."""
        level = -sharpness * value
        drift = float(np.abs(level - self.whole).max())
        np.rint(level, out=self.whole)
        np.subtract(level, self.whole, out=self.rest)
        self.total_step = sharpness
        self._weights = None
        self._recentre(drift)

    def balance(self, by_source: bool) -> None:
        """The half projection on one side, Λ staying as it is."""
        shared = self._shared(by_source, 0.0, self.rest, commit=False)
        self._pass(1.0, shared, NOWHERE)
        self._recentre(0.0)
        self.by_source = by_source

    def dual_value(self) -> Floats:
        """c + γ(<α, P[x]> + <β, Q[y]>)/total_step: what transports smoothed by an entropy cost, seen from the dual."""
        bellman = self.bellman
        out = np.zeros(bellman.shape)

        def work(first: int, last: int) -> None:
            kernels.sinkhorn.projection.duals(
                first, last, bellman.stop, bellman.source, bellman.target, self.scalings, out
            )

        self._in_blocks(work, out.size)
        out *= bellman.discount / self.total_step
        out += self.cost
        return np.clip(out, 0.0, None, out=out)

    def marginals(self, by_source: bool) -> Floats:
        """[n, m], how far the marginals of one side are off at each pair, in the 1-norm."""
        bellman = self.bellman
        out = np.zeros(bellman.shape)

        def work(first: int, last: int) -> None:
            kernels.sinkhorn.rounding.marginal_errors(
                first, last, by_source, bellman.source, bellman.target, bellman.stop, self.scalings, self.whole,
                self.rest, out,
            )  # fmt: skip

        self._in_blocks(work, bellman.shape[0] * bellman.shape[1])
        return out

    def backed_up(self, value: Floats) -> Floats:
        """c + γΠ·value for the rounded couplings Π."""
        vector = value.ravel()
        out = np.empty(value.size)
        self._apply(vector, out, vector)
        return self.cost + value - out.reshape(value.shape)

    def evaluate(self, guess: Floats, target: float) -> Floats:
        """The value of the rounded couplings, V = c + γΠV, up to a residual of `target`."""
        self._weights = None  # memory for the vectors of the linear solver
        discount = self.bellman.discount
        if self._cells <= STORED:
            matrix = self._matrix()
            return policy_value(self.bellman, krylov.of_matrix(matrix, discount), lambda: matrix, guess, target)
        storable = self._cells <= STORED_IN_NEED and ladder.storable(self._cells, guess.size)
        return policy_value(self.bellman, self._apply, self._matrix if storable else _nothing, guess, target)

    def rounded(self, first: int, last: int) -> Cells:
        """The rounded couplings of the pairs first..last (flat), with room for potentials."""
        cells = pair_cells(self.bellman, first, last)
        rows = self.bellman.source, self.bellman.target
        kernels.sinkhorn.rounding.rounded(first, last, *rows, self.scalings, self.whole, self.rest, True, cells)
        return cells

    def _matrix(self) -> sparse.csr_array:
        """The rounded couplings of all pairs as one matrix."""
        size = self.bellman.cost.size
        cells = self.rounded(0, size)
        after = successors(cells, self.bellman.source, self.bellman.target)
        return sparse.csr_array((cells.weight, after, cells.indptr), shape=(size, size))

    def witness(self, value: Floats) -> FactoredWitness:
        """The rounded couplings, with potentials for `value`."""
        return FactoredWitness(self, value)

    def _apply(self, vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
        bellman = self.bellman
        n = bellman.shape[0]
        sums = np.empty((n, 2))

        def work(first: int, last: int) -> None:
            kernels.sinkhorn.rounding.apply_rounded(
                first, last, vector, out, other, bellman.discount, bellman.stop, bellman.source, bellman.target,
                self.scalings, self.whole, self.rest, sums,
            )  # fmt: skip

        if self._is_full():
            self._in_blocks(
                self._apply_by_products(work, vector, out, other, sums), n, unit=self._rows_at_once(ROUNDING_BLOCK)
            )
        else:
            self._in_blocks(work, n)
        product, square = np.add.reduce(sums, axis=0).tolist()
        return product, square

    def _apply_by_products(
        self, general: Callable[[int, int], object], vector: Floats, out: Floats, other: Floats, sums: Floats
    ) -> Callable[[int, int], None]:
        """The same work on full supports; blocks that are out of range are left to `general`."""
        bellman = self.bellman
        n, m = bellman.shape
        centres = self._centres()
        relative = self.whole - centres[0][:, None] - centres[1]
        top = float(relative.max())
        kernel, size = np.exp(relative - top + self.rest), self._rows_at_once(ROUNDING_BLOCK)
        rows, value = (bellman.source, bellman.target), vector.reshape(n, m)

        def work(begin: int, end: int) -> None:
            for first in range(begin, end, size):
                last = min(first + size, end)
                mean = kernels.sinkhorn.dense.rounded_mean(
                    first * m, last * m, rows, centres, kernel, top, value, self.scalings
                )
                if mean is None:
                    general(first, last)
                    continue
                result = value[first:last] - bellman.discount * mean.reshape(last - first, m)
                out.reshape(n, m)[first:last] = result
                sums[first:last, 0] = np.einsum("xy,xy->x", other.reshape(n, m)[first:last], result)
                sums[first:last, 1] = np.einsum("xy,xy->x", result, result)

        return work

    def _is_full(self) -> bool:
        """Whether all pairs have all successors, and are so many that matrix products pay."""
        n, m = self.bellman.shape
        return n * m >= FULL_PAIRS and self._cells == (n * m) ** 2 and not self.bellman.stop.size

    def _rows_at_once(self, block: int) -> int:
        """Source rows of full supports with so many scalings."""
        n, m = self.bellman.shape
        return max(1, block // (m * max(n, m)))

    def _centres(self) -> tuple[Floats, Floats]:
        if self._centre_x is None or self._centre_y is None:
            self._recentre(0.0)
        assert self._centre_x is not None
        assert self._centre_y is not None
        return self._centre_x, self._centre_y

    def _recentre(self, drift: float) -> None:
        """After a change: choose the references of the shared kernel again when Λ has moved by much."""
        n, m = self.bellman.shape
        self._drift += drift
        if n != m:
            self._weights = None
        if self._centre_x is None or self._centre_y is None:
            self._centre_x, self._centre_y = np.zeros(n), np.zeros(m)
        elif self._drift < DRIFT:
            return
        self._drift = 0.0
        self._weights = None
        kernels.sinkhorn.projection.centres(
            self.bellman.source, self.bellman.target, self.scalings, self._centre_x, self._centre_y
        )

    def _shared(self, by_source: bool, amount: float, expected: Floats, *, commit: bool) -> Shared:
        n, m = self.bellman.shape
        shape = (m, n) if by_source else (n, m)
        centre = self._centres()[1 if by_source else 0]
        shared = Shared(by_source, np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape[1]), centre)
        kernels.sinkhorn.projection.gibbs(amount, expected, self.whole, self.rest, commit, shared)
        return shared

    def _pass(self, step: float, shared: Shared, expected: Floats) -> None:
        """One half projection of all pairs; it sets the scalings, or `expected` if that is not empty."""
        bellman = self.bellman
        n, m = bellman.shape
        rows = (bellman.source, bellman.target)
        by_products = self._by_products

        def general(first: int, last: int) -> None:
            kernels.sinkhorn.projection.project(
                first, last, by_products, step, self.cost, bellman.stop, *rows, shared, self.scalings, expected
            )

        if not self._is_full():
            self._in_blocks(general, n)
            return
        by_source, commit = shared.by_source, expected.size == 0
        weights = self._weights
        if weights is None or self._weights_of_source == by_source:
            weights = Weights(np.empty((n * m, m if by_source else n)), np.full(n * m, kernels.sinkhorn.dense.UNKNOWN))
        self._weights = None  # while they change
        own_centre = self._centres()[0 if by_source else 1]
        size = self._rows_at_once(DENSE_BLOCK)

        def work(begin: int, end: int) -> None:
            for row in range(begin * size, min(end * size, n), size):
                first, last = row * m, min(row + size, n) * m
                if weights.middle[first] == kernels.sinkhorn.dense.UNKNOWN and not kernels.sinkhorn.dense.prepare(
                    first, last, by_source, rows, shared.centre, self.scalings, weights
                ):
                    weights.middle[first] = math.nan  # this block is left to the general kernel, now and next time
                if math.isnan(weights.middle[first]) or not kernels.sinkhorn.dense.project(
                    first, last, step, self.cost, rows, shared, weights, own_centre, self.scalings, expected
                ):
                    general(row, min(row + size, n))
                    if commit:
                        weights.middle[first] = kernels.sinkhorn.dense.UNKNOWN

        self._in_blocks(work, -(-n // size))
        self._weights, self._weights_of_source = weights, by_source if commit else not by_source

    def _in_blocks(self, work: Callable[[int, int], object], size: int, *, unit: int = 1) -> None:
        if self._cells <= ONE_CALL:
            work(0, size)
        else:
            for_each_block(work, size, unit=unit, serial_below=min(SERIAL_BELOW, size))


@dataclass(frozen=True, slots=True, eq=False)
class FactoredWitness:
    """The rounded couplings of a factored state; potentials from its scalings, fitted to `value`."""

    factored: Factored
    value: Floats

    @property
    def cells_per_pair(self) -> int:
        bellman = self.factored.bellman
        return bellman.longest[0] * bellman.longest[1]

    def cells(self, first: int, last: int) -> Cells:
        state = self.factored
        bellman = state.bellman
        cells = state.rounded(first, last)
        kernels.sinkhorn.rounding.potentials(
            first, last, self.value, bellman.source, bellman.target, state.scalings, state.total_step,
            state.by_source, cells,
        )  # fmt: skip
        return cells


def _uniform_scaling(rows: Rows) -> Floats:
    """The logarithms of the scalings that make each row uniform on its support."""
    sizes = np.diff(rows.indptr)
    scaling: Floats = -np.log(rows.data * np.repeat(sizes, sizes))
    return scaling


def _nothing() -> None:
    """The matrix of couplings that are too many to be stored."""


def policy_value(
    bellman: Bellman, apply: krylov.Operator, matrix: ladder.Matrix, guess: Floats, target: float
) -> Floats:
    """V with apply(V) = c up to a residual of `target`, cut to the range of distances; the guess if all fails."""
    cost = bellman.scaled_cost().ravel()
    floor = 8 * UNIT_ROUNDOFF * bellman.largest_value()  # of a residual: less is rounding
    target = max(target, floor)

    def first() -> krylov.Solved:
        return krylov.bicgstab(apply, cost, guess.ravel().copy(), rows=bellman.shape[0], target=target)

    solved = ladder.Ladder().solve(first, matrix, apply, cost, bellman.discount, target)
    value = solved.x.reshape(bellman.shape) if solved.residual <= float(cost.max()) else guess
    return np.clip(value, 0.0, bellman.largest_value())


def evaluation_target(bellman: Bellman, *, last: bool) -> float:
    """The residual at which the evaluation of a round's couplings may stop; the last round's is the answer."""
    return (FINAL_ACCURACY if last else PASSING_ACCURACY) * bellman.largest_cost


def largest_exponent(bellman: Bellman, total_step: float) -> float:
    """What |Λ| can reach: infinite where steps are too large for float64."""
    with np.errstate(over="ignore"):
        return float(np.float64(total_step) * bellman.largest_value()) if total_step < math.inf else math.inf

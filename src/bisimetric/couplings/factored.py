"""Couplings in factored form: one kernel for all pairs, one pair of scalings for each.

    π(x'y'|xy) = P(x'|x) Q(y'|y) · exp(α_xy(x') + β_xy(y') + Λ(x', y'))

Mirror-descent steps change Λ by a function of the successor pair alone, because what depends on xy cancels in the
projection that follows. So couplings are never stored: Λ has n·m entries and the scalings nm(n + m), where the
couplings themselves have n²m². `Factored` is the state of a Sinkhorn solver; a step changes it in place. At any time
rounding (couplings/rounded.py) turns it into valid couplings. A half projection is one pass over the pairs, so nothing
here iterates.

Reference: Calo et al. 2024, Section 4; that the couplings factor is not in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bisimetric import kernels
from bisimetric._support import memory
from bisimetric._support.blocks import for_each_block
from bisimetric.kernels.layout import Rows, Scalings, Shared, Weights
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import SERIAL_BELOW, Bellman

ONE_PASS = 2**22  # cells of all pairs up to which a pass is one call; beyond, it goes in blocks on several threads
FULL_PAIRS = 64  # pairs from which numpy's passes pay if all supports are full
# A matrix product a source row, over all target states, pays from PRODUCT_PAIRS pairs and where the target's share of
# nonzeros is at least PRODUCT_SHARE · (1 + PRODUCT_SETUP / mean S_x).
PRODUCT_PAIRS, PRODUCT_SHARE, PRODUCT_SETUP = 256, 0.1, 8.0
DENSE_BLOCK = 2**14  # scalings that a half projection of full supports works on at a time, in two arrays
LARGEST_EXPONENT = 1e290  # bound on |Λ| over a whole run
LEAST_STEP = 1e-290  # smallest step, in units of one over the scaled cost: its inverse has to be finite
DRIFT = 100.0  # change of Λ after which the references of the shared kernel are chosen again
NOWHERE: Floats = np.empty((0, 0))  # as `expected` of a pass that sets scalings
INITIAL = ("independent", "uniform")


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
    n_cells: int = field(init=False)  # of all pairs
    _by_products: bool = field(init=False)  # whether half projections sum by matrix products
    _centre_x: Floats | None = None  # references of the shared kernel
    _centre_y: Floats | None = None
    _drift: float = 0.0
    _weights: Weights | None = None  # of one side, for full supports
    _weights_of_source: bool = False
    _kept: dict[bool, Shared] = field(default_factory=dict)  # by side, while neither Λ nor the references change

    def __post_init__(self) -> None:
        (n, m), moves_x, moves_y = self.bellman.shape, len(self.bellman.source.data), len(self.bellman.target.data)
        self.n_cells = moves_x * moves_y
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
        self._kept.clear()
        shared = self._shared(by_source, amount, expected, commit=True)
        self._pass(step, shared, NOWHERE)
        self._recentre(amount * float(np.abs(expected).max()))
        self.total_step += amount if amount > LEAST_STEP else 0.0  # potentials are scalings divided by it
        self.by_source = by_source

    def price(self, value: Floats, sharpness: float) -> None:
        """Λ = -sharpness·value; the scalings stay as they are."""
        level = -sharpness * value
        drift = float(np.abs(level - self.whole).max())
        np.rint(level, out=self.whole)
        np.subtract(level, self.whole, out=self.rest)
        self.total_step = sharpness
        self._weights = None
        self._kept.clear()
        self._recentre(drift)

    def balance(self, by_source: bool, relaxation: float = 1.0) -> None:
        """The half projection on one side with Λ as it is; a relaxation above 1 goes that many times as far."""
        self._pass(1.0, self._unchanged(by_source), NOWHERE, relaxation)
        self._recentre(0.0)
        self.by_source = by_source

    def misfit(self) -> float:
        """How far the side that was not projected last is from its marginals: the mean over the pairs of √(2·KL).

        That bounds the 1-norm of the error of a marginal (Pinsker). It takes one pass and changes nothing.
        """
        by_source, out = not self.by_source, np.empty(self.bellman.shape)
        self._pass(1.0, self._unchanged(by_source), out)
        divergence = np.abs(np.subtract(out, self.cost, out=out), out=out)
        going = out.size - int(np.count_nonzero(self.bellman.stop))
        return float(np.sqrt(2.0 * divergence).sum()) / max(going, 1)

    def sharpen(self) -> None:
        """Double the logarithms of the scalings, for twice the Λ; exact."""
        for whole, rest in ((self.scalings.a, self.scalings.a_rest), (self.scalings.b, self.scalings.b_rest)):
            whole *= 2.0
            rest *= 2.0
            carry = np.rint(rest)
            whole += carry
            rest -= carry
        self._weights = None

    def dual_value(self) -> Floats:
        """c + γ(<α, P[x]> + <β, Q[y]>)/total_step: the backed-up cost of entropic transports, from their duals."""
        bellman = self.bellman
        out = np.zeros(bellman.shape)

        def work(first: int, last: int) -> None:
            kernels.sinkhorn.projection.duals(
                first, last, bellman.stop, bellman.source, bellman.target, self.scalings, out
            )

        self.in_blocks(work, out.size)
        out *= bellman.discount / self.total_step
        out += self.cost
        return np.clip(out, 0.0, None, out=out)

    def marginals(self) -> tuple[Floats, Floats]:
        """[n, m] each, how far the marginals of the source side and of the target side are off, in the 1-norm."""
        bellman = self.bellman
        off_x, off_y = np.zeros(bellman.shape), np.zeros(bellman.shape)

        def work(first: int, last: int) -> None:
            kernels.sinkhorn.rounding.marginal_errors(
                first, last, bellman.source, bellman.target, bellman.stop, self.scalings, self.whole, self.rest, off_x,
                off_y,
            )  # fmt: skip

        self.in_blocks(work, off_x.size)
        return off_x, off_y

    def is_full(self) -> bool:
        """Whether every pair has all successors, and there are enough pairs for numpy's passes to pay."""
        n, m = self.bellman.shape
        return n * m >= FULL_PAIRS and self.n_cells == (n * m) ** 2 and not self.bellman.stop.size

    def rows_at_once(self, block: int) -> int:
        """How many source rows of full supports have about `block` scalings."""
        n, m = self.bellman.shape
        return max(1, block // (m * max(n, m)))

    def centres(self) -> tuple[Floats, Floats]:
        """The references u [n] and v [m] of the shared kernel."""
        if self._centre_x is None or self._centre_y is None:
            self._recentre(0.0)
        assert self._centre_x is not None
        assert self._centre_y is not None
        return self._centre_x, self._centre_y

    def forget_weights(self) -> None:
        """Free the memory of weights that were kept for the next projection."""
        self._weights = None

    def _recentre(self, drift: float) -> None:
        """Call after a change of Λ by `drift`: chooses the references of the shared kernel again if it adds up."""
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
        self._kept.clear()
        kernels.sinkhorn.projection.centres(
            self.bellman.source, self.bellman.target, self.scalings, self._centre_x, self._centre_y
        )

    def _unchanged(self, by_source: bool) -> Shared:
        """The shared kernel for Λ as it is."""
        if by_source not in self._kept:
            self._kept[by_source] = self._shared(by_source, 0.0, self.rest, commit=False)
        return self._kept[by_source]

    def _shared(self, by_source: bool, amount: float, expected: Floats, *, commit: bool) -> Shared:
        """The shared kernel for Λ - amount·expected, which becomes Λ if `commit`."""
        n, m = self.bellman.shape
        shape = (m, n) if by_source else (n, m)
        centre = self.centres()[1 if by_source else 0]
        shared = Shared(by_source, np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape[1]), centre)
        kernels.sinkhorn.projection.gibbs(amount, expected, self.whole, self.rest, commit, shared)
        return shared

    def _pass(self, step: float, shared: Shared, expected: Floats, relaxation: float = 1.0) -> None:
        """One half projection of all pairs; it sets the scalings, or `expected` if that is not empty."""
        bellman = self.bellman
        n, m = bellman.shape
        rows = (bellman.source, bellman.target)

        def general(first: int, last: int) -> None:
            kernels.sinkhorn.projection.project(
                first, last, self._by_products, relaxation, step, self.cost, bellman.stop, *rows, shared,
                self.scalings, expected,
            )  # fmt: skip

        if not self.is_full():
            self.in_blocks(general, n)
            return
        by_source, commit = shared.by_source, expected.size == 0
        weights = self._weights
        if weights is None or self._weights_of_source == by_source:
            weights = Weights(np.empty((n * m, m if by_source else n)), np.full(n * m, kernels.sinkhorn.dense.UNKNOWN))
        self._weights = None  # while they change
        own_centre = self.centres()[0 if by_source else 1]
        size = self.rows_at_once(DENSE_BLOCK)

        def work(begin: int, end: int) -> None:
            for row in range(begin * size, min(end * size, n), size):
                first, last = row * m, min(row + size, n) * m
                if weights.middle[first] == kernels.sinkhorn.dense.UNKNOWN and not kernels.sinkhorn.dense.prepare(
                    first, last, by_source, rows, shared.centre, self.scalings, weights
                ):
                    weights.middle[first] = math.nan  # the general kernel does this block, now and next time
                if math.isnan(weights.middle[first]) or not kernels.sinkhorn.dense.project(
                    first, last, relaxation, step, self.cost, rows, shared, weights, own_centre, self.scalings, expected
                ):
                    general(row, min(row + size, n))
                    if commit:
                        weights.middle[first] = kernels.sinkhorn.dense.UNKNOWN

        self.in_blocks(work, -(-n // size))
        self._weights, self._weights_of_source = weights, by_source if commit else not by_source

    def in_blocks(self, work: Callable[[int, int], object], size: int, *, unit: int = 1) -> None:
        """work(first, last) on 0..size: in one call if the problem is small, else in blocks on several threads."""
        if self.n_cells <= ONE_PASS:
            work(0, size)
        else:
            for_each_block(work, size, unit=unit, serial_below=min(SERIAL_BELOW, size))


def _uniform_scaling(rows: Rows) -> Floats:
    """The logarithms of the scalings that make each row uniform on its support."""
    sizes = np.diff(rows.indptr)
    scaling: Floats = -np.log(rows.data * np.repeat(sizes, sizes))
    return scaling


def largest_exponent(bellman: Bellman, total_step: float) -> float:
    """The bound on |Λ| after steps that sum to `total_step`; infinite if it exceeds float64."""
    with np.errstate(over="ignore"):
        return float(np.float64(total_step) * bellman.largest_value()) if total_step < math.inf else math.inf

"""Krylov methods for (I - γΠ) x = b: BiCGSTAB with restarts and, for large vectors, several threads; GMRES.

γΠ is a contraction, so a few products with the matrix usually suffice. After a breakdown BiCGSTAB restarts from its
last iterate, a few times. It returns the last iterate with its true residual (infinite if it left the range of
numbers), and the caller decides; `linear.ladder` then tries other methods. The algorithm is in `kernels/krylov.py`.

Reference: van der Vorst 1992.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric._support.blocks import for_even_split
from bisimetric.models.rows import Floats

# Matrix products of GMRES in all and between restarts, and the most entries of the vectors that it stores.
GMRES_PRODUCTS, GMRES_RESTART, GMRES_NUMBERS = 1500, 60, 2 * 10**7
MAX_PRODUCTS = 800  # matrix products in one solve; beyond this a new sweep gains more
ONE_CALL = 2**19  # up to this many multiplications in a product a solve is one call: at most half a second


class MatrixProduct(Protocol):
    """Computes out = (I - γΠ)·vector and returns <other, out> and <out, out>."""

    def __call__(self, vector: Floats, out: Floats, other: Floats) -> tuple[float, float]: ...


class BicgstabSteps(Protocol):
    """The two steps of BiCGSTAB that make what is multiplied next."""

    def direction(self, p: Floats, r: Floats, v: Floats, beta: float, omega: float) -> None:
        """p ← r + β(p - ωv)."""
        ...

    def half(self, r: Floats, v: Floats, alpha: float) -> None:
        """r ← r - αv."""
        ...


def by_rows(work: Callable[[int, int, Floats, Floats, Floats, Floats], None], rows: int, cost: int) -> MatrixProduct:
    """The operator of a kernel that works on a range of source rows; `cost` as in `for_even_split`."""

    def apply(vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
        sums = np.empty((rows, 2))
        for_even_split(lambda i, j: work(i, j, vector, out, other, sums), rows, cost=cost)
        product, square = np.add.reduce(sums, axis=0).tolist()
        return product, square

    return apply


def of_matrix(matrix: Any, discount: float) -> MatrixProduct:
    """The operator of a coupling, or of its transpose, that is stored in any sparse form."""

    def apply(vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
        with np.errstate(over="ignore", invalid="ignore"):  # BiCGSTAB itself detects numbers out of range
            np.subtract(vector, discount * (matrix @ vector), out=out)
            return float(np.einsum("i,i->", other, out)), float(np.einsum("i,i->", out, out))

    return apply


class Solved(NamedTuple):
    """An approximate solution with the largest entry of its true residual, or the sum of all, as asked."""

    x: Floats
    residual: float
    products: int


def bicgstab(
    apply: MatrixProduct,
    b: Floats,
    guess: Floats,
    *,
    rows: int,
    target: float,
    budget: int = MAX_PRODUCTS,
    in_total: bool = False,
    steps: BicgstabSteps | None = None,
) -> Solved:
    """Solve apply(x) = b from `guess` (overwritten) until the residual's largest entry is at most `target`.

    With `in_total` the target is for the sum of its entries' sizes, and that is what is returned. `steps` replaces
    the two steps that come before a product.
    """
    passes = kernels.evaluation
    sums = np.empty((rows, 2))

    def norms(r: Floats, spare: Floats) -> tuple[float, float]:
        largest = float(np.abs(r, out=spare).sum()) if in_total else float(np.maximum.reduce(sums[:, 1]))
        return float(np.add.reduce(sums[:, 0])), largest

    def begin(_: None, b: Floats, t: Floats, r: Floats, shadow: Floats) -> tuple[float, float]:
        for_even_split(lambda i, j: passes.step_begin(i, j, b, t, r, shadow, sums), rows, cost=r.size)
        return norms(r, t)

    def direction(p: Floats, r: Floats, v: Floats, beta: float, omega: float) -> None:
        for_even_split(lambda i, j: passes.step_direction(i, j, p, r, v, beta, omega), p.size, cost=p.size)

    def half(r: Floats, v: Floats, alpha: float) -> None:
        for_even_split(lambda i, j: passes.step_half(i, j, r, v, alpha), r.size, cost=r.size)

    def full(
        _: None, x: Floats, p: Floats, r: Floats, t: Floats, shadow: Floats, alpha: float, omega: float
    ) -> tuple[float, float]:
        for_even_split(lambda i, j: passes.step_full(i, j, x, p, r, t, shadow, alpha, omega, sums), rows, cost=x.size)
        return norms(r, t)

    before_products = (direction, half) if steps is None else (steps.direction, steps.half)
    method = kernels.krylov.bicgstab_over(
        lambda _, vector, out, other: apply(vector, out, other), begin, *before_products, full
    )
    return Solved(guess, *method(None, b, guess, target, budget))


def gmres(
    product: Callable[[Floats], Floats], b: Floats, start: Floats, target: float, diagonal: Floats | None = None
) -> Floats:
    """Restarted GMRES, preconditioned by `diagonal` if it is given; the caller must check the residual of x."""
    from scipy.sparse import linalg

    restart = min(GMRES_RESTART, max(10, GMRES_NUMBERS // b.size))
    system = linalg.LinearOperator((b.size, b.size), matvec=product, dtype=np.float64)
    x: Floats = linalg.gmres(
        system, b, x0=start, rtol=0.0, atol=target, restart=restart, maxiter=GMRES_PRODUCTS // restart,
        M=None if diagonal is None else sparse.diags_array(1.0 / diagonal),
    )[0]  # fmt: skip
    return x

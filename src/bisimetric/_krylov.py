"""BiCGSTAB for (I - γΠ) x = b, with the vectors in compiled, fused steps.

The matrix is a contraction away from the identity, so a few products usually suffice. On a breakdown the
method restarts from where it is, a few times; the caller gets the last iterate with its residual (infinite if
it left the range of numbers), and decides.

Reference: van der Vorst 1992.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from bisimetric import kernels
from bisimetric._parallel import for_even_split
from bisimetric._stochastic import Floats

MAX_PRODUCTS = 800  # matrix products in one solve; beyond, a new sweep is worth more
MAX_RESTARTS = 4


class Operator(Protocol):
    """Computes out = (I - γΠ)·vector and returns <other, out> and <out, out>."""

    def __call__(self, vector: Floats, out: Floats, other: Floats) -> tuple[float, float]: ...


class Solved(NamedTuple):
    """An approximate solution with the largest entry of its residual."""

    x: Floats
    residual: float
    products: int


def bicgstab(apply: Operator, b: Floats, guess: Floats, *, rows: int, target: float) -> Solved:
    """Solve apply(x) = b from `guess` (overwritten) until the residual's largest entry is at most `target`."""
    x = guess
    products = 0
    for _ in range(MAX_RESTARTS):
        x, residual, used, broke_down = _cycle(apply, b, x, rows, target, MAX_PRODUCTS - products)
        products += used
        if not broke_down or products >= MAX_PRODUCTS:
            break
    return Solved(x, residual, products)


def _cycle(
    apply: Operator, b: Floats, x: Floats, rows: int, target: float, budget: int
) -> tuple[Floats, float, int, bool]:
    """One run up to convergence, breakdown or the budget; (x, residual, products, broke down)."""
    steps = kernels.evaluation
    size = b.size
    r = np.empty(size)
    apply(x, r, b)
    np.subtract(b, r, out=r)
    residual = float(np.abs(r).max())
    if residual <= target:
        return x, residual, 1, False
    shadow = r.copy()
    p, v, t = np.zeros(size), np.zeros(size), np.empty(size)
    sums = np.empty((rows, 2))
    rho, rho_old, alpha, omega = float(np.einsum("i,i->", r, r)), 1.0, 1.0, 1.0
    products = 1
    while products < budget:
        beta = rho / rho_old * (alpha / omega)
        for_even_split(lambda i, j: steps.step_direction(i, j, p, r, v, beta, omega), size, cost=size)  # noqa: B023
        along, _ = apply(p, v, shadow)
        alpha = rho / along if along else np.nan
        for_even_split(lambda i, j: steps.step_half(i, j, r, v, alpha), size, cost=size)  # noqa: B023
        product, square = apply(r, t, r)
        omega = product / square if square > 0 else 0.0
        products += 2
        if not np.isfinite(alpha) or not np.isfinite(omega):
            return x, residual, products, True
        for_even_split(
            lambda i, j: steps.step_full(i, j, size // rows, x, p, r, t, shadow, alpha, omega, sums),  # noqa: B023
            rows,
            cost=size,
        )
        rho_old, rho = rho, float(np.add.reduce(sums[:, 0]))
        residual = float(np.maximum.reduce(sums[:, 1]))
        if not np.isfinite(residual):
            return x, np.inf, products, False
        if residual <= target:
            return x, residual, products, False
        if omega == 0.0 or rho == 0.0:
            return x, residual, products, True
    return x, residual, products, False

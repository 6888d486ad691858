"""A ladder of methods for linear systems (I - γΠ) x = b: if one fails, the next one tries.

    1. BiCGSTAB, preconditioned where that pays      a few products, for nearly all models
    2. structure and sparse factorisations           periodic, deterministic, long-memory models (`linear.direct`)
    3. GMRES with many products                      where Π or its factors are too large to be stored

The matrix is regular for every γ < 1, so the second method fails only if the problem is too large. Every method returns
the *true* residual, computed from x. The ladder stops as soon as that is within the target or at the level of rounding;
otherwise the caller gets the best result and its residual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from bisimetric._support import memory
from bisimetric.kernels.layout import SLACK
from bisimetric.linear import direct, krylov
from bisimetric.linear.krylov import MatrixProduct, Solved
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats

RESIDUAL_ROUNDING = 32 * UNIT_ROUNDOFF  # residual, relative to the solution, that may be rounding
MANY_PRODUCTS = 200  # if BiCGSTAB without factors needs more, the next system is factorised
FEW_PRODUCTS = 30  # if BiCGSTAB with the factors of an earlier system needs more, they are computed again

MakeMatrix = Callable[[], sparse.csr_array | None]  # Π, or None where it takes too much memory


class Ladder:
    """Solves the systems of one run, and remembers the factors that helped.

    Once BiCGSTAB has failed, the factors of an earlier system precondition it: the next policies differ little. They
    are computed again when BiCGSTAB needs too many products.
    """

    def __init__(self) -> None:
        self.factors: direct.Factors | None = None
        self._can_factorise = True

    def solve(
        self,
        first: Callable[[], Solved],
        matrix: MakeMatrix,
        apply: MatrixProduct,
        b: Floats,
        discount: float,
        target: float,
    ) -> Solved:
        """Solve (I - γΠ) x = b by the `first` method, else by the others; returns the best result if all fail."""
        return self.climb(None if self.factors else first(), matrix, apply, b, discount, target)

    def climb(
        self, best: Solved | None, matrix: MakeMatrix, apply: MatrixProduct, b: Floats, discount: float, target: float
    ) -> Solved:
        """Go on from the result of the first method; None if it was not tried because there are factors already."""
        if best is None:
            assert self.factors is not None
            best = _preconditioned(self.factors, apply, b, target)
        if best.residual <= SLACK * target or best.residual <= RESIDUAL_ROUNDING * _largest(best.x):
            if self.factors is None and self._can_factorise and best.products > MANY_PRODUCTS:
                self._factorise(matrix, discount)
            return best
        factors = self._factorise(matrix, discount)
        if factors is None:
            found = _by_gmres(apply, b, best, target)
        else:
            x, residual = factors.solve(b, target)
            found = Solved(x, residual, best.products)
        return found if found.residual < best.residual else best

    def _factorise(self, matrix: MakeMatrix, discount: float) -> direct.Factors | None:
        """Factors of this system, kept for the next ones if they are exact."""
        self.factors = None  # frees their memory
        stored = matrix()
        factors = None if stored is None else direct.Factors(stored, discount)
        self._can_factorise = factors is not None and factors.exact
        self.factors = factors if self._can_factorise else None
        return factors

    def solve_stored(
        self, matrix: Any, b: Floats, guess: Floats, discount: float, target: float, *, rows: int = 1
    ) -> Solved:
        """Solve the system of a matrix in any sparse form; threads may share `rows` parts of the vectors."""
        apply = krylov.of_matrix(matrix, discount)

        def first() -> Solved:
            return krylov.bicgstab(apply, b, guess.copy(), rows=rows, target=target)

        return self.solve(first, lambda: sparse.csr_array(matrix), apply, b, discount, target)


def _largest(x: Floats) -> float:
    """max |x|, or 0 if that is not finite."""
    largest = float(np.abs(x).max())
    return largest if largest < np.inf else 0.0


def storable(entries: int, size: int) -> bool:
    """Whether Π with this many entries, and its factors, are worth storing."""
    return memory.fits(direct.bytes_needed(entries, size))


def _preconditioned(factors: direct.Factors, apply: MatrixProduct, b: Floats, target: float) -> Solved:
    """BiCGSTAB for A M⁻¹ u = b, x = M⁻¹ u, with the factors of an earlier A as M."""

    def product(vector: Floats, out: Floats, other: Floats) -> tuple[float, float]:
        return apply(factors.once(vector, target), out, other)

    solved = krylov.bicgstab(product, b, b.copy(), rows=1, target=target, budget=FEW_PRODUCTS)
    return solved._replace(x=factors.once(solved.x, target))


def _by_gmres(apply: MatrixProduct, b: Floats, best: Solved, target: float) -> Solved:
    """GMRES from the best x so far."""
    out = np.empty(b.size)
    products = best.products

    def product(vector: Floats) -> Floats:
        nonlocal products
        products += 1
        apply(np.ascontiguousarray(vector, np.float64).ravel(), out, b)
        return out.copy()

    start = best.x if best.residual < float(np.abs(b).max()) else np.zeros(b.size)
    x = krylov.gmres(product, b, start, target)
    residual = float(np.abs(b - product(x)).max())
    return Solved(x, residual if np.isfinite(residual) else np.inf, products)

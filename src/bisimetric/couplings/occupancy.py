"""How often coupled chains visit each pair of states: ν = b + γΠᵀν.

Without a discount Π has empty rows at the ends, which the chains reach with probability one; ν then counts visits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric.errors import SolverFailed
from bisimetric.linear import direct, krylov
from bisimetric.linear.ladder import Ladder
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, Ints, offsets

AIM = 0.1  # of the accepted error, for the linear system
FINEST_OCCUPANCY = (
    1e-14,
    8 * UNIT_ROUNDOFF,
)  # otherwise this 1-norm error, and this residual, relative to the mass of an occupancy
OCCUPANCY_TOL = 1e-14  # residual of a factorised occupancy, relative to the largest entry of the right-hand side
SWEEPS = 10  # sweeps ν ← b + γΠᵀν before BiCGSTAB
FAIL_ABOVE = 1e-10  # 1-norm error of an occupancy, relative to its mass, that is always accepted
TIMES_ACCURACY = 0.5  # residual of expected numbers of steps, in steps
WORTH_AN_ORDER = 2**15  # entries of Π from which sorting its rows by their lengths pays
LONG_ROW = 255  # entries of a row; longer ones count as this long
OCCUPANCY_ROUNDING = 64 * UNIT_ROUNDOFF  # residual of an occupancy, in the 1-norm, that may be rounding


def occupancy_error(discount: float) -> float:
    """The accepted 1-norm error of an occupancy, relative to its mass."""
    return _accepted(1.0 / (1.0 - discount)) if discount < 1.0 else FAIL_ABOVE


def _accepted(longest: float) -> float:
    """The same for chains that go on for so many steps at most, in the mean."""
    return max(FAIL_ABOVE, OCCUPANCY_ROUNDING * longest)


def reached(moves: sparse.csr_array, law: Floats) -> Ints:
    """The flat pairs that the law leads to, ascending."""
    seen, first = law > 0.0, np.flatnonzero(law > 0.0)
    queue = np.empty(law.size, np.int64)
    queue[: len(first)] = first
    kernels.listing.follow(moves.indptr, moves.indices, seen, queue, len(first))
    return np.flatnonzero(seen)


def _by_length(matrix: sparse.csr_array) -> tuple[Ints, sparse.csr_array]:
    """An order of the pairs in which rows of the same length follow each other, and the matrix in that order.

    A product takes half the time then: where lengths change from row to row, processors guess them wrong.
    """
    length = np.diff(matrix.indptr)
    order = np.argsort(np.minimum(length, LONG_ROW).astype(np.uint8), kind="stable")  # few values: sorted by counting
    place = np.empty(len(order), matrix.indices.dtype)
    place[order] = np.arange(len(order), dtype=place.dtype)
    indptr = offsets(length[order])
    read = np.repeat(matrix.indptr[order] - indptr[:-1], length[order])
    read += np.arange(matrix.nnz)
    indptr = indptr.astype(matrix.indptr.dtype)
    return order, sparse.csr_array((matrix.data[read], place[matrix.indices[read]], indptr), shape=matrix.shape)


def longest_time(transposed: Any, b: Floats) -> float:
    """The largest expected number of steps to an end from a pair that b leads to; Πᵀ has empty columns at the ends."""
    from scipy.sparse import csgraph

    matrix = sparse.csr_array(transposed.T)
    size = matrix.shape[0]
    begin = sparse.csr_array((b > 0.0).astype(np.float64)[None, :])
    graph = sparse.hstack([sparse.vstack([matrix, begin]), sparse.csr_array((size + 1, 1))], format="csr")
    inside = np.sort(csgraph.breadth_first_order(graph, size, return_predecessors=False))[:-1]
    part, one = matrix[inside][:, inside], np.ones(len(inside))
    times = Ladder().solve_stored(part, one, one, 1.0, FAIL_ABOVE)
    if not times.residual < TIMES_ACCURACY:
        raise SolverFailed("the coupled chains take too many steps to count their visits; choose a discount below 1")
    return float(times.x.max())


def visits(
    transposed: Any, b: Floats, discount: float, *, rows: int, closed: bool, accuracy: float | None = None
) -> Floats:
    """ν = b + γΠᵀν, not negative; `transposed` is Πᵀ in any sparse form, `closed` says that Π loses no mass.

    Without a discount Π has ends, which it reaches with probability one. `accuracy` is the accepted 1-norm error,
    relative to the mass of ν; None: as small as rounding allows, if possible.

    From a single pair BiCGSTAB often diverges, so sweeps spread the law first. If the residual of its result is too
    large, in the 1-norm, a factorisation solves the system.
    """
    longest = 1.0 / (1.0 - discount) if discount < 1.0 else longest_time(transposed, b)
    mass = float(b.sum()) * longest
    certain = _accepted(longest) if accuracy is None else max(accuracy, _accepted(longest))
    aim = FINEST_OCCUPANCY[0] if accuracy is None else AIM * accuracy
    transposed = sparse.csr_array(transposed)
    order = None
    if transposed.nnz >= WORTH_AN_ORDER:
        order, transposed = _by_length(transposed)
        b = b[order]
    target = max(aim / longest, FINEST_OCCUPANCY[1]) * mass

    def by_bicgstab() -> Floats:
        spread = _sweep(transposed, b, discount, b, SWEEPS)
        return krylov.on_stored(transposed, discount, b, spread, rows=rows, target=target).x

    def by_factors() -> Floats:
        return direct.Factors(transposed, discount).solve(b, OCCUPANCY_TOL * float(b.max()))[0]

    error = np.inf
    for method in (by_bicgstab, by_factors):
        law = method()
        if not np.isfinite(law).all():
            continue
        law = _sweep(transposed, b, discount, np.maximum(law, 0.0), 1)
        if closed and law.sum() > 0:
            law *= mass / law.sum()
        error = float(np.abs(b + discount * (transposed @ law) - law).sum()) * longest
        if error <= certain * mass:
            return law if order is None else in_place(law, order)
    raise SolverFailed(f"an occupancy is known only to {error:.1g} in total; choose a smaller discount")


def in_place(part: Floats, at: Ints, size: int | None = None) -> Floats:
    """A vector of this size, or of the part's, with the entries of the part at these places and zeros elsewhere."""
    whole = np.zeros(len(part) if size is None else size)
    whole[at] = part
    return whole


def _sweep(transposed: Any, b: Floats, discount: float, law: Floats, times: int) -> Floats:
    """Apply ν ← b + γΠᵀν this many times."""
    law = law.copy()
    parts = transposed.indptr, transposed.indices, transposed.data
    kernels.evaluation.sweep_stored(*parts, b, discount, law, np.empty(law.size), times)
    return law

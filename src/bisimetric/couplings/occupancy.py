"""How often coupled chains visit each pair of states: ν = b + γΠᵀν.

Without a discount Π has empty rows at the ends, which the chains reach with probability one; ν then counts visits.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from bisimetric import kernels
from bisimetric.errors import SolverFailed
from bisimetric.linear import direct
from bisimetric.linear.ladder import Ladder
from bisimetric.linear.splitting import Split
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, Ints

AIM = 0.1  # of the accepted error, for the linear system
FINEST_ERROR = 1e-14  # otherwise this 1-norm error, relative to the mass of an occupancy
FINEST_RESIDUAL = 8 * UNIT_ROUNDOFF  # of the linear system, in the 1-norm, relative to the mass
OCCUPANCY_TOL = 1e-14  # residual of a factorised occupancy, relative to the largest entry of the right-hand side
FAIL_ABOVE = 1e-10  # 1-norm error of an occupancy, relative to its mass, that is always accepted
MOST_ACCEPTED = 1e-4  # the same without a discount, however many steps there are
VISITS_STEPS_TARGET = 1e-10  # residual of expected numbers of steps that is aimed at, in steps
VISITS_STEPS_ACCURACY = 0.5  # and that is accepted
OCCUPANCY_ROUNDING = 64 * UNIT_ROUNDOFF  # residual of an occupancy, in the 1-norm, that may be rounding


def occupancy_error(discount: float) -> float:
    """The accepted 1-norm error of an occupancy, relative to its mass."""
    return _accepted(1.0 / (1.0 - discount)) if discount < 1.0 else FAIL_ABOVE


def _accepted(longest: float) -> float:
    """The same for chains that go on for so many steps at most, in the mean."""
    return max(FAIL_ABOVE, OCCUPANCY_ROUNDING * longest)


def reached(moves: sparse.csr_array, law: Floats) -> Ints:
    """The flat pairs that the law leads to, ascending."""
    seen = law > 0.0
    kernels.listing.follow(moves.indptr, moves.indices, seen, np.empty(law.size, np.int64))
    return np.flatnonzero(seen)


def expected_steps(moves: sparse.csr_array) -> Floats:
    """The expected number of steps from every pair to an end; Π has empty rows at the ends."""
    one = np.ones(moves.shape[0])
    steps = Ladder().solve_stored(moves, one, one, 1.0, VISITS_STEPS_TARGET)
    if not steps.residual < VISITS_STEPS_ACCURACY:
        raise SolverFailed("the coupled chains take too many steps to count their visits; choose a discount below 1")
    return steps.x


def visits(
    moves: sparse.csr_array, b: Floats, discount: float, *, closed: bool, accuracy: float | None = None
) -> Floats:
    """ν = b + γΠᵀν, not negative; `moves` is Π, and `closed` says that it loses no mass.

    Without a discount Π has ends, which it reaches with probability one. `accuracy` is the accepted 1-norm error,
    relative to the mass of ν; None: as small as rounding allows, if possible.

    The system has the pairs that b leads to. If the residual of BiCGSTAB's result is too large, in the 1-norm, a
    factorisation solves the system.
    """
    inside = reached(moves, b)
    if not len(inside):
        return np.zeros(b.size)
    system = Split.of(moves, inside, discount)
    size, b = b.size, b[inside]
    if discount < 1.0:
        longest = 1.0 / (1.0 - discount)
        mass, certain = float(b.sum()) * longest, _accepted(longest)
    else:  # some pairs may take many more steps than those where most of the mass is
        steps = expected_steps(_between(moves, inside))
        longest, mass = float(steps.max()), float(b @ steps)
        certain = min(_accepted(longest), MOST_ACCEPTED)
    certain = certain if accuracy is None else max(accuracy, certain)
    aim = FINEST_ERROR if accuracy is None else AIM * accuracy
    target = max(aim / longest, FINEST_RESIDUAL) * mass

    def by_bicgstab() -> Floats:
        return system.solve(b, target).x

    def by_factors() -> Floats:
        transposed = _between(moves, inside).T.tocsr()
        return direct.Factors(transposed, discount).solve(b, OCCUPANCY_TOL * float(b.max()))[0]

    error = np.inf
    for method in (by_bicgstab, by_factors):
        law = method()
        if not np.isfinite(law).all():
            continue
        law, _ = system.sweep(b, np.maximum(law, 0.0))
        if closed and law.sum() > 0:
            law *= mass / law.sum()
        error = system.sweep(b, law)[1] * longest
        if error <= certain * mass:
            return in_place(law, inside, size)
    raise SolverFailed(f"an occupancy is known only to {error:.1g} in total; choose a smaller discount")


def _between(moves: sparse.csr_array, pairs: Ints) -> sparse.csr_array:
    """The moves between these pairs, in their order."""
    return sparse.csr_array(moves[pairs][:, pairs])


def in_place(part: Floats, at: Ints, size: int) -> Floats:
    """A vector of this size with the entries of the part at these places, and zeros elsewhere."""
    whole = np.zeros(size)
    whole[at] = part
    return whole

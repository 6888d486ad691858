"""A second certificate in rational arithmetic: without rounding, so no bound is widened.

Stored floats are rational numbers. With the stored value V, couplings and potentials of a solution,

    U = c + γ<π, V>,   f(i) = min_j V(i, j) - g(j),   L = c + γ(<f, P[x]> + <g, Q[y]>),
    L + γ/(1-γ)·min(L - V)  ≤  V*  ≤  U + γ/(1-γ)·max(U - V),

all exactly. For a coupling whose marginals have the error ε (in 1-norm), U grows by γ·ε·max|V|. This is plain Python
that shares no code with the kernels: a second opinion for small problems.

Reference: MacQueen 1966 (the bounds).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable, frozen
from bisimetric.errors import InvalidProblem, InvalidWitness
from bisimetric.kernels.layout import Cells
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solution import Solution

MOST_CELLS = 2_000_000  # limit of Σ S_x·S_y; a million takes about ten seconds

Rationals = npt.NDArray[Any]  # of Fraction
ExactRow = list[tuple[int, Fraction]]  # successors and probabilities


@dataclass(frozen=True, slots=True, eq=False)
class ExactCertificate(Immutable):
    """Bounds on the distances as fractions, without any rounding; `certify_exactly` returns it.

    They hold for the rows, costs and discount as stored, read as the rational numbers they are.

    Attributes
    ----------
    lower, upper : [n, m] arrays of `fractions.Fraction`
        lower ≤ V* ≤ upper; NaN at pairs that were not solved.
    gap : Fraction
        The width of the widest interval.
    """

    lower: Rationals
    upper: Rationals

    @property
    def gap(self) -> Fraction:
        """The width of the widest interval."""
        return Fraction(max(width for width in (self.upper - self.lower).ravel() if width == width))

    def __repr__(self) -> str:
        n, m = self.lower.shape
        return f"ExactCertificate({n} x {m} state pairs, gap {float(self.gap):.2g})"


def certify_exactly(solution: Solution) -> ExactCertificate:
    """Check the coupling and the potentials of a solution in rational arithmetic.

    This is a second opinion for small problems: plain Python that shares no code with the solvers or the checker.

    Parameters
    ----------
    solution : Solution

    Returns
    -------
    ExactCertificate

    Raises
    ------
    InvalidProblem
        The problem is too large: Σ S_x·S_y over all pairs, with S the numbers of successors, exceeds 2 million.
    InvalidWitness
        A coupling has negative mass, or mass outside its supports.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    >>> exact = bm.certify_exactly(bm.distance(chain, chain, discount=0.5))
    >>> exact.lower[0, 1] <= Fraction(4, 3) <= exact.upper[0, 1]
    True
    """
    if not isinstance(solution, Solution):
        raise InvalidProblem(f"solution is a {type(solution).__name__}, expected a Solution; solve(...) makes one")
    problem = solution.problem
    if problem.discount == 1.0:
        raise InvalidProblem(
            "the problem has no discount, expected one below 1: the bounds of this solution are proved "
            "from numbers of steps, not from the discount"
        )
    n, m = problem.shape
    work = problem.source.transitions.nnz * problem.target.transitions.nnz
    if work > MOST_CELLS:
        raise InvalidProblem(f"{work} cells are too many for rational arithmetic, expected at most {MOST_CELLS}")
    P, Q = _rows(problem.source.transitions), _rows(problem.target.transitions)
    gamma, scale = Fraction(problem.discount), Fraction(solution._proof.scale)
    V = _rationals(solution._proof.value) / scale
    largest = max(map(abs, V.ravel()))
    c = _rationals(problem.cost)
    lower, upper = c.copy(), c.copy()
    for x in range(n):
        cells = solution._proof.witness.cells(x * m, (x + 1) * m)
        for y in range(m):
            if problem.stop is None or not problem.stop[x, y]:
                expected, error = _transport_cost(cells, y, P[x], Q[y], V)
                upper[x, y] += gamma * (expected + error * largest)
                lower[x, y] += gamma * _dual(cells, y, P[x], Q[y], V, scale)
    return _bounds(problem, V, lower, upper, gamma, c)


def _bounds(
    problem: Problem, V: Rationals, lower: Rationals, upper: Rationals, gamma: Fraction, c: Rationals
) -> ExactCertificate:
    """MacQueen's bounds, with the clamps that hold for every problem."""
    below, above = min((lower - V).ravel()), max((upper - V).ravel())
    if problem.stop is not None:
        below, above = min(below, Fraction(0)), max(above, Fraction(0))
    lower = np.maximum(lower + gamma / (1 - gamma) * below, c)
    upper = np.maximum(upper + gamma / (1 - gamma) * above, c)
    if problem.stop is not None:
        lower[problem.stop] = upper[problem.stop] = c[problem.stop]
    if problem.unsolved is not None:
        lower[problem.unsolved] = upper[problem.unsolved] = np.nan
    return ExactCertificate(frozen(lower), frozen(upper))


def _transport_cost(cells: Cells, y: int, p: ExactRow, q: ExactRow, V: Rationals) -> tuple[Fraction, Fraction]:
    """<π, V>, and the 1-norm error of the marginals."""
    left, right = [mass for _, mass in p], [mass for _, mass in q]
    total = Fraction(0)
    for k in range(int(cells.indptr[y]), int(cells.indptr[y + 1])):
        i, j, mass = int(cells.left[k]), int(cells.right[k]), Fraction(float(cells.weight[k]))
        if mass < 0 or not (0 <= i < len(p) and 0 <= j < len(q)):
            raise InvalidWitness(
                f"cell {(i, j)} of a coupling has mass {float(mass):g}, expected a cell of the supports"
            )
        left[i] -= mass
        right[j] -= mass
        total += mass * V[p[i][0], q[j][0]]
    error = sum(map(abs, left), Fraction(0)) + sum(map(abs, right), Fraction(0))
    return total, error


def _dual(cells: Cells, y: int, p: ExactRow, q: ExactRow, V: Rationals, scale: Fraction) -> Fraction:
    """<f, P[x]> + <g, Q[y]> with f from g."""
    first = int(cells.start[y])
    g = [Fraction(float(cells.potential[first + j])) / scale for j in range(len(q))]
    total = sum((mass * g[j] for j, (_, mass) in enumerate(q)), Fraction(0))
    for i, mass in p:
        total += mass * min(V[i, j] - g[k] for k, (j, _) in enumerate(q))
    return total


def _rows(matrix: Any) -> list[ExactRow]:
    bounds = matrix.indptr
    return [
        [(int(matrix.indices[k]), Fraction(float(matrix.data[k]))) for k in range(bounds[x], bounds[x + 1])]
        for x in range(matrix.shape[0])
    ]


def _rationals(array: npt.NDArray[np.float64]) -> Rationals:
    exact = np.empty(array.shape, object)
    exact.ravel()[:] = [Fraction(float(entry)) for entry in array.ravel()]
    return exact

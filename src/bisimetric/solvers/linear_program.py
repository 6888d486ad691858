"""The distance as a linear program over occupancy couplings, by HiGHS.

Let μ(xy, x'y') be the discounted number of moves from the pair xy to x'y' and ν(xy) that of visits, started once at
every pair:

    minimise  Σ ν c     over μ, ν ≥ 0 with
    flow      ν(xy) - γ Σ μ(·, xy)  = 1                        for every xy
    X         Σ_{y'} μ(xy, x'y')    = P(x'|x) ν(xy)            for every x, y and x'
    Y         Σ_{x'} μ(xy, x'y')    = Q(y'|y) ν(xy)            for every x, y and y'

This is Theorem 1 of Calo et al. 2024, with the coherence constraints for every *pair* and successor (written "for
all x, x'" they are too weak), and ν as variables of its own, which keeps the matrix sparse. Since every pair is
visited, the flow multipliers are V* at all pairs, those of X and Y divided by γ are potentials, and μ/ν is an
optimal coupling. That coupling is rounded to exact marginals and evaluated by a sparse LU factorisation: one exact
policy evaluation. No code is shared with the transport kernels.

HiGHS works to absolute tolerances of 1e-10, and so does the answer, times 1/(1-γ) and relative to the largest cost.
That is one step, and there is no other.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric import _memory
from bisimetric._background import aside
from bisimetric._bellman import Bellman
from bisimetric._coupling import IndependentWitness, StoredWitness, successors
from bisimetric._errors import InvalidOption, SolverFailed
from bisimetric._stochastic import Floats, offsets
from bisimetric.kernels.layout import Cells, Rows
from bisimetric.solvers.base import Iterate, Solver

METHODS = ("ipm", "simplex", "choose")
FEASIBILITY = 1e-10  # the tightest that HiGHS takes, absolute
SMALLEST_ENTRY = 1e-12  # of the matrix; the lowest that HiGHS takes, its default 1e-9 drops probabilities
DUST = 1e-9  # probabilities below are left out of the program, which HiGHS would else call infeasible or never solve
PIVOTS_PER_ROW = 200  # and column: a simplex that needs more is cycling
BYTES_PER_VARIABLE = 400  # seen for HiGHS, simplex and interior point alike


@dataclass(frozen=True, slots=True)
class LinearProgram(Solver[Iterate]):
    """Exact; one linear program over occupancy couplings (Theorem 1), for small problems."""

    name: ClassVar[str] = "linear-program"
    default_tol: ClassVar[float] = 1e-8
    default_max_steps: ClassVar[int] = 2

    method: str = "ipm"  # of HiGHS: interior point with crossover, simplex, or HiGHS may choose

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise InvalidOption(f"method is {self.method!r}, expected one of {', '.join(METHODS)}")

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> Iterate:
        """Solve the program; a guess of the distances is of no use to it."""
        program = _Program.of(bellman)
        optimum = _optimise(program, self.method)
        cells = _rounded(bellman, program.cells, optimum.moves)
        # The multipliers of Y, over γ, are potentials; those of a stopped pair do not exist and stay 0.
        potential = np.zeros(len(program.cells.potential))
        potential[program.in_use] = optimum.multipliers_y / bellman.discount
        witness = StoredWitness(cells._replace(potential=potential))
        exact = _evaluated(bellman, cells)
        return Iterate(exact, witness, 0.0)

    def step(self, bellman: Bellman, iterate: Iterate) -> Iterate:
        """There is nothing after the optimum."""
        return iterate


class _Program(NamedTuple):
    """min cost·z, matrix z = rhs, z ≥ 0, with z = (ν, μ) and rows (flow, X, Y)."""

    cost: Floats
    matrix: sparse.csc_array
    rhs: Floats
    cells: Cells  # which pair and successors a μ belongs to
    in_use: npt.NDArray[np.bool_]  # [Σ S_y], potentials of pairs that are not stopped
    n_flow: int
    n_x: int

    @classmethod
    def of(cls, bellman: Bellman) -> _Program:
        n, m = bellman.shape
        source, target = bellman.source, bellman.target
        sizes_x, sizes_y = bellman.sizes
        moves = int(sizes_x.sum() * sizes_y.sum())
        _memory.require(
            moves * BYTES_PER_VARIABLE,
            f"the linear program of {n} x {m} state pairs",
            "PolicyIteration() needs far less",
        )
        cells = IndependentWitness(bellman).cells(0, n * m)
        count = np.diff(cells.indptr)
        pair = np.repeat(np.arange(n * m), count)
        running = count > 0
        x, y = np.divmod(np.arange(n * m), m)
        pairs_x = np.repeat(np.arange(n * m), np.where(running, sizes_x[x], 0))
        pairs_y = np.repeat(np.arange(n * m), np.where(running, sizes_y[y], 0))
        first_x = offsets(np.where(running, sizes_x[x], 0))
        first_y = offsets(np.where(running, sizes_y[y], 0))
        successor = successors(cells, source, target)
        p = _without_dust(source)[source.indptr[x][pairs_x] + np.arange(len(pairs_x)) - first_x[pairs_x]]
        q = _without_dust(target)[target.indptr[y][pairs_y] + np.arange(len(pairs_y)) - first_y[pairs_y]]
        ones, here = np.ones(len(pair)), np.arange(len(pair))
        flow = sparse.hstack(
            [sparse.eye_array(n * m), _entries(-bellman.discount * ones, successor, here, (n * m, len(pair)))]
        )
        rows_x = _entries(ones, first_x[pair] + cells.left, here, (len(p), len(pair)))
        rows_y = _entries(ones, first_y[pair] + cells.right, here, (len(q), len(pair)))
        shares_x = _entries(-p, np.arange(len(p)), pairs_x, (len(p), n * m))
        shares_y = _entries(-q, np.arange(len(q)), pairs_y, (len(q), n * m))
        matrix = sparse.vstack(
            [flow, sparse.hstack([shares_x, rows_x]), sparse.hstack([shares_y, rows_y])], format="csc"
        )
        cost = np.concatenate([bellman.scaled_cost().ravel() / 2.0, np.zeros(len(pair))])  # at most 1
        rhs = np.concatenate([np.ones(n * m), np.zeros(len(p) + len(q))])
        return cls(cost, matrix, rhs, cells, np.repeat(running, sizes_y[y]), n * m, len(p))


def _without_dust(rows: Rows) -> Floats:
    """The probabilities, with those below DUST moved to the largest of their row."""
    data = rows.data.copy()
    data[data < DUST] = 0.0
    for first, last in pairwise(rows.indptr):
        data[first + int(np.argmax(data[first:last]))] += 1.0 - data[first:last].sum()
    return data


def _entries(
    data: Floats, rows: npt.NDArray[Any], columns: npt.NDArray[Any], shape: tuple[int, int]
) -> sparse.coo_array:
    return sparse.coo_array((data, (rows, columns)), shape=shape)


class _Optimum(NamedTuple):
    moves: Floats  # μ, not negative
    multipliers_y: Floats  # of the Y rows, in the operator's scale


def _optimise(program: _Program, method: str) -> _Optimum:
    """Run HiGHS in a thread of its own, so that Ctrl-C can stop it."""
    import highspy

    highs = highspy.Highs()
    options = {
        "output_flag": False,
        "solver": method,
        "primal_feasibility_tolerance": FEASIBILITY,
        "dual_feasibility_tolerance": FEASIBILITY,
        "ipm_optimality_tolerance": FEASIBILITY,
        "small_matrix_value": SMALLEST_ENTRY,
        "threads": 1,
    }
    rows, columns = program.matrix.shape
    options["simplex_iteration_limit"] = PIVOTS_PER_ROW * (rows + columns + 50)
    for option, value in options.items():
        highs.setOptionValue(option, value)
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = rows, columns
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = program.cost, np.zeros(columns), np.full(columns, highspy.kHighsInf)
    lp.row_lower_ = lp.row_upper_ = program.rhs
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = program.matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = program.matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = program.matrix.data
    highs.passModel(lp)
    highs.HandleUserInterrupt = True
    try:
        aside(highs.run)  # highs.startSolve() would allow one program at a time in a process
    finally:
        highs.cancelSolve()  # if it still runs; it listens after its presolve and until then goes on unheard
    status = highs.getModelStatus()
    if status != highspy.HighsModelStatus.kOptimal:
        if method != "simplex":  # slower and steadier
            return _optimise(program, "simplex")
        raise SolverFailed(
            f"HiGHS ended with {highs.modelStatusToString(status)!r}, expected an optimum; try PolicyIteration()"
        )
    solution = highs.getSolution()
    moves = np.maximum(np.array(solution.col_value)[program.n_flow :], 0.0)
    return _Optimum(moves, 2.0 * np.array(solution.row_dual)[program.n_flow + program.n_x :])


def _rounded(bellman: Bellman, cells: Cells, moves: Floats) -> Cells:
    """μ/ν as couplings with exact marginals: shrink what exceeds them, then spread what is missing as a product.

    Reference: Altschuler, Weed & Rigollet 2017, for all pairs at once.
    """
    n, m = bellman.shape
    count = np.diff(cells.indptr)
    pair = np.repeat(np.arange(n * m), count)
    x, y = np.divmod(pair, m)
    # Positions in flat arrays with one slot per pair and successor.
    slots_x = offsets(bellman.sizes[0][np.arange(n * m) // m])
    at_x, at_y = slots_x[pair] + cells.left, cells.start[pair] + cells.right
    p = bellman.source.data[bellman.source.indptr[x] + cells.left]
    q = bellman.target.data[bellman.target.indptr[y] + cells.right]
    total = np.bincount(pair, weights=moves, minlength=n * m)
    weight = np.where(total[pair] > 0, moves / np.maximum(total[pair], np.finfo(float).tiny), p * q)
    for at, wanted, size in ((at_x, p, slots_x[-1]), (at_y, q, cells.start[-1])):
        mass = np.bincount(at, weights=weight, minlength=size)[at]
        weight *= np.minimum(1.0, wanted / np.maximum(mass, np.finfo(float).tiny))
    missing_x = np.maximum(p - np.bincount(at_x, weights=weight, minlength=slots_x[-1])[at_x], 0.0)
    missing_y = np.maximum(q - np.bincount(at_y, weights=weight, minlength=cells.start[-1])[at_y], 0.0)
    missing = 1.0 - np.bincount(pair, weights=weight, minlength=n * m)[pair]
    weight += np.where(missing > 0, missing_x * missing_y / np.where(missing > 0, missing, 1.0), 0.0)
    return cells._replace(weight=weight)


def _evaluated(bellman: Bellman, cells: Cells) -> Floats:
    """V = c + γΠV for the couplings, by a sparse LU factorisation."""
    from scipy.sparse.linalg import spsolve

    n, m = bellman.shape
    to = successors(cells, bellman.source, bellman.target)
    policy = sparse.csr_array((cells.weight, to, cells.indptr), shape=(n * m, n * m)).tocsc()
    system = sparse.eye_array(n * m, format="csc") - bellman.discount * policy
    value: Floats = spsolve(system, bellman.scaled_cost().ravel()).reshape(n, m)
    return value

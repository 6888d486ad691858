"""The distance as a linear program over occupancy couplings, by HiGHS.

Start equally often at every pair. Let μ(xy, x'y') be the discounted number of moves from the pair xy to x'y', and ν(xy)
the discounted number of visits to xy:

    minimise  Σ ν c     over μ, ν ≥ 0 with
    flow      ν(xy) - γ Σ μ(·, xy)  = 1 - γ                    for every xy
    X         Σ_{y'} μ(xy, x'y')    = P(x'|x) ν(xy)            for every x, y and x'
    Y         Σ_{x'} μ(xy, x'y')    = Q(y'|y) ν(xy)            for every x, y and y'

This is Theorem 1 of Calo et al. 2024, with the coherence constraints for every *pair* and successor (written "for all
x, x'" they are too weak). Separate variables ν keep the matrix sparse. Since every pair is visited, the flow
multipliers are V* at all pairs, those of X and Y are potentials, and μ/ν is an optimal coupling. That coupling is
rounded to exact marginals and evaluated by a sparse LU factorisation.

HiGHS has absolute tolerances, but probabilities may be tiny. So a row of X or Y is divided by its probability, and the
variables are γμ / min(P(x'|x), Q(y'|y)): the largest entry of every row and column is 1 or γ. One row of Y follows from
the other rows of its pair. It is left out, since rounding would make the rows contradict one another.

The program is the first step, and usually the only one. It shares no code with the transport kernels. Where the
tolerances of HiGHS are too coarse for the requested gap (discounts near 1, tiny probabilities), the next steps are
policy iteration from there, with the transports of this package, which stops as `PolicyIteration` does.
`Solution.history` shows every step, and max_steps=1 runs the program alone. HiGHS itself stops at an optimum or at one
of the limits below.

Reference: Calo et al. 2024, Theorem 1.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support import memory
from bisimetric._support.options import is_positive
from bisimetric._support.threads import call_in_thread, require_time, seconds_left
from bisimetric.couplings.witness import IndependentWitness, StoredWitness, Witness, successors
from bisimetric.errors import InvalidOption, SolverFailed
from bisimetric.kernels.layout import Cells
from bisimetric.linear.direct import Factors
from bisimetric.models.rows import Floats, offsets
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import TreeWitness, new_trees
from bisimetric.solvers.base import Iterate, Solver

HIGHS_METHODS = ("ipm", "simplex", "choose")
TIGHT = 1e-10  # feasibility tolerance, absolute: the smallest that HiGHS accepts
LOOSE = 1e-7  # feasibility tolerance, absolute: HiGHS' default, for programs that it cannot solve to the tight one
SMALLEST_ENTRY = 1e-12  # HiGHS drops smaller entries of the matrix: its lowest limit; its default 1e-9 loses moves
PIVOTS_PER_ROW = 30  # limit of the simplex per row and column; it needs 1 to 3, unless it cycles
INTERIOR_STEPS = 500  # limit of the interior point method; it needs about 30, unless it loops
DEPENDENT_EQUATIONS = 1 << 10  # rule of HiGHS' presolve that may take 1000 s; no row of this program depends on others
SECONDS, SECONDS_PER_SQUARE = 10.0, 5e-6  # default time limit: constant, and per variables²; a simplex needs about 1e-7
BYTES_PER_VARIABLE = 2000  # measured: 1300 to 1800, for interior point and simplex


@dataclass(frozen=True, slots=True, eq=False)
class ProgramIterate(Iterate[Witness]):
    """An iterate whose gap comes from the checker."""

    @property
    def due(self) -> bool:
        return True


@dataclass(frozen=True, slots=True)
class LinearProgram(Solver[Bellman, ProgramIterate]):
    """Exact; one linear program over occupancy couplings, solved by HiGHS, for small problems.

    Theorem 1 of Calo et al. 2024. The program has about n²m² variables for dense chains and needs about 2 kB each, so
    it suits problems of up to a few hundred pairs. Its first step shares no code with the transports of the other
    solvers, which makes it a good second opinion. Where the tolerances of HiGHS are too coarse for the gap asked for,
    further steps are policy iteration; max_steps=1 is the program alone. The default tolerance is a relative gap of
    1e-8. `initial` of `solve` is checked but not used.

    Parameters
    ----------
    method : {"ipm", "simplex", "choose"}, default "ipm"
        What HiGHS uses: the interior point method with crossover, the simplex method, or its own choice. If it finds no
        optimum within its limits, the simplex method and looser tolerances are tried.
    time_limit : float, optional
        Seconds for HiGHS in all, positive. By default 10 + 5·(variables/1000)².

    Raises
    ------
    InvalidOption
        If an option is out of range.
    SolverFailed
        By a solve, if HiGHS finds no optimum.
    NotEnoughMemory
        By a solve, if the program is too large for the memory.

    References
    ----------
    Calo, Jonsson, Neu, Schwartz & Segovia-Aguas 2024, "Bisimulation metrics are optimal transport distances, and can be
    computed efficiently", Theorem 1.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1])
    >>> other = bm.MarkovChain([[0.9, 0.1], [0, 1]], reward=[0, 1])
    >>> solution = bm.distance(chain, other, discount=0.5, solver=bm.LinearProgram())
    >>> solution.status.name, round(float(solution.value[0, 1]), 6)
    ('SOLVED', 1.333333)
    """

    name: ClassVar[str] = "linear-program"
    default_tol: ClassVar[float] = 1e-8
    default_max_steps: ClassVar[int] = 100
    uses_initial: ClassVar[bool] = False

    method: str = "ipm"
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.method not in HIGHS_METHODS:
            raise InvalidOption(f"method is {self.method!r}, expected one of {', '.join(HIGHS_METHODS)}")
        if self.time_limit is not None and not is_positive(self.time_limit):
            raise InvalidOption(f"time_limit is {self.time_limit!r}, expected a positive number of seconds, or None")

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> ProgramIterate:
        """Solve the program; ignores the guess `value`."""
        program = call_in_thread(_Program.of, bellman)
        seconds = self.time_limit
        if seconds is None:
            seconds = SECONDS + SECONDS_PER_SQUARE * len(program.cost) ** 2
        optimum = _optimise(program, self.method, min(seconds, seconds_left()))
        cells = _round(bellman, program.cells, optimum.moves)
        cells.potential[program.side_y.slot] = optimum.potentials
        return ProgramIterate(_evaluate(bellman, cells, bellman.scaled_cost()), StoredWitness(cells), math.inf)

    def step(self, bellman: Bellman, iterate: ProgramIterate) -> ProgramIterate:
        """One step of policy iteration: improve the couplings, evaluate them, then find their potentials."""
        trees = new_trees(bellman)
        sweep = bellman.improve(iterate.value, trees, cold=True)
        cells = TreeWitness(bellman, iterate.value, trees).cells(0, bellman.pairs.size)
        value = iterate.value + _evaluate(bellman, cells, sweep.residual)
        bellman.improve(value, trees, cold=False)
        return ProgramIterate(value, TreeWitness(bellman, value, trees), math.inf)


class _Program(NamedTuple):
    """min cost·z, matrix z = rhs, z ≥ 0, with z = (ν, γμ/scale) and rows (flow, X, Y)."""

    cost: Floats
    matrix: sparse.csc_array
    rhs: Floats
    cells: Cells  # which pair and successors a μ belongs to
    scale: Floats  # [cells], min(P(x'|x), Q(y'|y))
    side_x: _Marginals
    side_y: _Marginals  # its slots are positions in cells.potential

    @property
    def n_flow(self) -> int:
        """The number of flow rows: a pair has one, and one variable ν."""
        return len(self.cells.indptr) - 1

    @classmethod
    def of(cls, bellman: Bellman) -> _Program:
        n, m = bellman.shape
        source, target = bellman.source, bellman.target
        sizes_x, sizes_y = bellman.sizes
        moves = int(sizes_x.sum() * sizes_y.sum())
        memory.require(
            moves * BYTES_PER_VARIABLE,
            f"the linear program of {n} x {m} state pairs",
            "PolicyIteration() needs far less",
        )
        cells = IndependentWitness(bellman).cells(0, n * m)
        pair, p, q = _per_cell(bellman, cells)
        scale = np.minimum(p, q)
        moved = _entries(-scale, successors(cells, source, target), np.arange(len(pair)), (n * m, len(pair)))
        flow = sparse.hstack([sparse.eye_array(n * m), moved])
        x, y = np.divmod(np.arange(n * m), m)
        side_x = _Marginals.of(bellman, pair, offsets(sizes_x[x])[pair] + cells.left, p, scale)
        side_y = _Marginals.of(bellman, pair, cells.start[pair] + cells.right, q, scale)
        largest = np.array([np.argmax(target.data[first:last]) for first, last in pairwise(target.indptr)])
        side_y = side_y.without(cells.start[:-1] + largest[y])
        matrix = sparse.vstack([flow, side_x.matrix, side_y.matrix], format="csc")
        cost = np.concatenate([bellman.scaled_cost().ravel() / 2.0, np.zeros(len(pair))])  # at most 1
        rhs = np.zeros(matrix.shape[0])
        rhs[: n * m] = 1.0 - bellman.discount
        return cls(cost, matrix, rhs, cells, scale, side_x, side_y)


class _Marginals(NamedTuple):
    """The rows of X or of Y: one for every successor of every pair that is no stop."""

    slot: npt.NDArray[np.int64]  # [rows], place of a row in a flat array of all pairs and successors
    share: Floats  # [rows], P(x'|x) or Q(y'|y)
    matrix: sparse.csr_array  # [rows, variables], divided by the share

    @classmethod
    def of(
        cls, bellman: Bellman, pair: npt.NDArray[Any], at: npt.NDArray[Any], share: Floats, scale: Floats
    ) -> _Marginals:
        """Make the rows from the pair, the slot, the share and the scale of every cell."""
        slot, first, row = np.unique(at, return_index=True, return_inverse=True)
        visits = _entries(
            np.full(len(slot), -bellman.discount), np.arange(len(slot)), pair[first], (len(slot), bellman.pairs.size)
        )
        moves = _entries(scale / share, row, np.arange(len(row)), (len(slot), len(row)))
        return cls(slot, share[first], sparse.hstack([visits, moves], format="csr"))

    def without(self, slots: npt.NDArray[Any]) -> _Marginals:
        """The rows at other slots."""
        kept = ~np.isin(self.slot, slots)
        return _Marginals(self.slot[kept], self.share[kept], self.matrix[kept])


def _per_cell(bellman: Bellman, cells: Cells) -> tuple[npt.NDArray[np.int64], Floats, Floats]:
    """The pair of every cell, and the probabilities P(x'|x) and Q(y'|y)."""
    source, target = bellman.source, bellman.target
    pair = np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr))
    x, y = np.divmod(pair, bellman.shape[1])
    return pair, source.data[source.indptr[x] + cells.left], target.data[target.indptr[y] + cells.right]


def _entries(
    data: Floats, rows: npt.NDArray[Any], columns: npt.NDArray[Any], shape: tuple[int, int]
) -> sparse.coo_array:
    return sparse.coo_array((data, (rows, columns)), shape=shape)


class _Optimum(NamedTuple):
    moves: Floats  # γμ, not negative
    potentials: Floats  # of the rows of Y, in the operator's scale


def _optimise(program: _Program, method: str, seconds: float) -> _Optimum:
    """The optimum by the first attempt that finds it: `method`, then simplex, then interior points without crossover.

    Each attempt takes at most half of the remaining seconds; the last one takes all of them.
    """
    attempts = [
        (method, TIGHT, "on", "on"),
        ("simplex", TIGHT, "on", "on"),
        ("simplex", LOOSE, "on", "on"),
        ("simplex", LOOSE, "off", "on"),
        ("ipm", LOOSE, "on", "off"),  # without crossover: it can fail where the simplex fails
    ]
    if method == "simplex":
        del attempts[0]
    end = time.monotonic() + seconds
    found = []
    while attempts:
        options = attempts.pop(0)
        left = end - time.monotonic()
        highs, status = _run(program, *options, left / 2 if attempts else left)
        if status == "Optimal":
            solution = highs.getSolution()
            moves = program.scale * np.maximum(np.array(solution.col_value)[program.n_flow :], 0.0)
            multipliers = np.array(solution.row_dual)[program.n_flow + len(program.side_x.slot) :]
            return _Optimum(moves, 2.0 * multipliers / program.side_y.share)
        found.append(status)
        require_time()
    raise SolverFailed(
        f"HiGHS ended with {', '.join(map(repr, found))}, expected an optimum within its iteration limits and "
        f"{seconds:g} seconds; raise time_limit, or use PolicyIteration()"
    )


def _run(program: _Program, method: str, tol: float, presolve: str, crossover: str, seconds: float) -> tuple[Any, str]:
    """Run HiGHS in a separate thread, so that Ctrl-C can stop it."""
    import highspy

    rows, columns = program.matrix.shape
    highs = highspy.Highs()
    options = {
        "output_flag": False,
        "solver": method,
        "presolve": presolve,
        "presolve_rule_off": DEPENDENT_EQUATIONS,
        "run_crossover": crossover,
        "primal_feasibility_tolerance": tol,
        "dual_feasibility_tolerance": tol,
        "ipm_optimality_tolerance": tol,
        "small_matrix_value": SMALLEST_ENTRY,
        "simplex_iteration_limit": PIVOTS_PER_ROW * (rows + columns + 50),
        "ipm_iteration_limit": INTERIOR_STEPS,
        "time_limit": max(seconds, 0.0),
        "threads": 1,
    }
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
    call_in_thread(highs.passModel, lp)
    highs.HandleUserInterrupt = True
    try:
        call_in_thread(highs.run)  # highs.startSolve() allows only one program at a time in a process
    finally:
        highs.cancelSolve()  # if it still runs; it stops once its presolve is over
    return highs, highs.modelStatusToString(highs.getModelStatus())


def _round(bellman: Bellman, cells: Cells, moves: Floats) -> Cells:
    """Round μ/ν to couplings with exact marginals, for all pairs at once.

    Shrinks rows and columns that exceed the marginals, then spreads the missing mass as a product (Altschuler, Weed &
    Rigollet 2017).
    """
    n, m = bellman.shape
    pair, p, q = _per_cell(bellman, cells)
    # Positions in flat arrays with one slot per pair and successor.
    slots_x = offsets(bellman.sizes[0][np.arange(n * m) // m])
    at_x, at_y = slots_x[pair] + cells.left, cells.start[pair] + cells.right
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


def _evaluate(bellman: Bellman, cells: Cells, cost: Floats) -> Floats:
    """Solve V = cost + γΠV for the couplings."""
    n, m = bellman.shape
    to = successors(cells, bellman.source, bellman.target)
    policy = sparse.csr_array((cells.weight, to, cells.indptr), shape=(n * m, n * m))
    return Factors(policy, bellman.discount).solve(cost.ravel(), 0.0)[0].reshape(n, m)

"""Other ways to compute the same distances, written as a competent user would.

    (T V)(x, y) = c(x, y) + γ · OT_V(P[x], Q[y])

Value iteration repeats V ← T V; policy iteration evaluates the couplings that attain T V, by a sparse LU
factorisation or by scipy's BiCGSTAB. Transports come from POT: its public `emd` and `emd2`, or the C core below them
without the checks around. The linear program goes to HiGHS. All of them get what helps: transports restricted to
supports, costs gathered once a sweep for all pairs and scaled to at most 1 (POT is silently wrong for tiny costs), no
checks of marginals, HiGHS' own tolerances and a presolve without the rule that takes minutes.

Everybody stops at the same relative gap. With R = T V - V and MacQueen's bounds,

    T V + γ/(1-γ)·min R  ≤  V*  ≤  T V + γ/(1-γ)·max R,

which is the sharpest simple stopping rule; the textbook's knows max |R| only, so its interval has both ends at
±γ/(1-γ)·max |R|. On chains that mix fast the difference is large, so value iteration is there with either.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.linalg import bicgstab, spsolve

import bisimetric as bm

Floats = npt.NDArray[np.float64]
Method = Callable[[bm.Problem, float], Floats]
Transport = Callable[[Floats, Floats, Floats], tuple[float, Floats | None]]

MAX_PIVOTS = 1_000_000
OPTIMAL = 1  # POT's status of an optimal plan
NO_GAIN = 1e-12  # smallest improvement of a policy that counts, relative to the largest distance


class Transports:
    """The transport problems of all pairs, on the supports of their rows."""

    def __init__(self, problem: bm.Problem) -> None:
        n, m = problem.shape
        rows, columns = problem.source.transitions, problem.target.transitions
        sources, targets = (np.split(chain.indices, chain.indptr[1:-1]) for chain in (rows, columns))
        marginals = (np.split(chain.data, chain.indptr[1:-1]) for chain in (rows, columns))
        self._marginals = list(product(*marginals))
        shapes = [(len(a), len(b)) for a, b in self._marginals]
        self._slices = list(_slices(shapes))
        self.successor = np.concatenate([(i[:, None] * np.int64(m) + j).ravel() for i, j in product(sources, targets)])
        self.indptr = np.concatenate([[0], np.cumsum([a * b for a, b in shapes])])
        self.pairs = n * m

    def solve(self, value: Floats, transport: Transport) -> tuple[Floats, Floats]:
        """OT_value of every pair, and the plans where `transport` gives them (flat, on the supports)."""
        scale = float(value.max())
        costs = (value / scale)[self.successor]
        moved, plans = np.empty(self.pairs), np.empty(len(costs))
        for pair, ((a, b), (part, shape)) in enumerate(zip(self._marginals, self._slices, strict=True)):
            moved[pair], plan = transport(a, b, costs[part].reshape(shape))
            if plan is not None:
                plans[part] = plan.ravel()
        return scale * moved, plans

    def coupling(self, plans: Floats) -> sparse.csr_array:
        """The plans as one matrix [pairs, pairs]."""
        parts = plans, self.successor, self.indptr
        matrix = sparse.csr_array(parts, shape=(self.pairs, self.pairs), copy=True)
        matrix.eliminate_zeros()
        return matrix


def _slices(shapes: list[tuple[int, int]]) -> Iterator[tuple[slice, tuple[int, int]]]:
    at = 0
    for shape in shapes:
        yield slice(at, at + shape[0] * shape[1]), shape
        at += shape[0] * shape[1]


def emd2() -> Transport:
    """POT's public function, without the options that cost time."""
    import ot

    def transport(a: Floats, b: Floats, costs: Floats) -> tuple[float, None]:
        return ot.emd2(a, b, costs, numItermax=MAX_PIVOTS, center_dual=False, check_marginals=False), None

    return transport


def emd() -> Transport:
    """POT's public function for plans, without the options that cost time."""
    import ot

    def transport(a: Floats, b: Floats, costs: Floats) -> tuple[float, Floats]:
        plan, log = ot.emd(a, b, costs, numItermax=MAX_PIVOTS, log=True, center_dual=False, check_marginals=False)
        return log["cost"], plan

    return transport


def emd_core() -> Transport:
    """The compiled function that `emd` and `emd2` wrap."""
    from ot.lp.emd_wrap import emd_c

    def transport(a: Floats, b: Floats, costs: Floats) -> tuple[float, Floats]:
        plan, cost, _, _, status = emd_c(a, b, costs, MAX_PIVOTS, 1)
        if status != OPTIMAL:
            raise ArithmeticError(f"POT ended with status {status}")
        return cost, plan

    return transport


def value_iteration(make: Callable[[], Transport], *, macqueen: bool) -> Method:
    """V ← T V until the bounds are within the relative gap."""

    def method(problem: bm.Problem, tol: float) -> Floats:
        transport, transports = make(), Transports(problem)
        cost, discount = problem.cost.ravel(), problem.discount
        onward = discount / (1 - discount)
        value = cost
        while True:
            swept = cost + discount * transports.solve(value, transport)[0]
            low, high = onward * float((swept - value).min()), onward * float((swept - value).max())
            value = swept
            if macqueen and high - low <= tol * (value.max() + high):
                return (value + 0.5 * (low + high)).reshape(problem.shape)
            if not macqueen and 2 * max(-low, high) <= tol * value.max():
                return value.reshape(problem.shape)

    return method


def policy_iteration(
    make: Callable[[], Transport], evaluate: Callable[[sparse.csr_array, Floats, Floats], Floats]
) -> Method:
    """Policy iteration with POT's plans, until they improve nothing or the bounds are within the relative gap."""

    def method(problem: bm.Problem, tol: float) -> Floats:
        transport, transports = make(), Transports(problem)
        cost, discount = problem.cost.ravel(), problem.discount
        onward = discount / (1 - discount)
        identity = sparse.eye_array(transports.pairs, format="csr")
        value = cost
        while True:
            moved, plans = transports.solve(value, transport)
            residual = cost + discount * moved - value
            low, high = onward * float(residual.min()), onward * float(residual.max())
            if high - low <= tol * value.max() or np.abs(residual).max() <= NO_GAIN * value.max():
                return (value + residual + 0.5 * (low + high)).reshape(problem.shape)
            value = evaluate(identity - discount * transports.coupling(plans), cost, value)

    return method


def by_factorisation(system: sparse.csr_array, cost: Floats, guess: Floats) -> Floats:
    """Evaluate a policy by sparse LU."""
    value: Floats = spsolve(system.tocsc(), cost)
    return value


def by_bicgstab(system: sparse.csr_array, cost: Floats, guess: Floats) -> Floats:
    """Evaluate a policy by scipy's BiCGSTAB to nearly full accuracy, from the last value."""
    value, status = bicgstab(system, cost, x0=guess, rtol=1e-12)
    if status != 0:
        raise ArithmeticError(f"scipy's BiCGSTAB ended with status {status}")
    return np.asarray(value)


def highs(solver: str, *, crossover: bool) -> Method:
    """The program of `LinearProgram`; the distances are the multipliers of its flow constraints."""

    def method(problem: bm.Problem, tol: float) -> Floats:
        import highspy

        from bisimetric.operators.bellman import Bellman
        from bisimetric.solvers.linear_program import DEPENDENT_EQUATIONS, SMALLEST_ENTRY, _Program

        bellman = Bellman.of(problem)
        program = _Program.of(bellman)
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "solver": solver,
            "run_crossover": "on" if crossover else "off",
            "small_matrix_value": SMALLEST_ENTRY,
            "presolve_rule_off": DEPENDENT_EQUATIONS,
        }
        model = highspy.Highs()
        for option, choice in options.items():
            model.setOptionValue(option, choice)
        lp = highspy.HighsLp()
        lp.num_row_, lp.num_col_ = program.matrix.shape
        lp.col_cost_, lp.col_lower_ = program.cost, np.zeros(lp.num_col_)
        lp.col_upper_ = np.full(lp.num_col_, highspy.kHighsInf)
        lp.row_lower_ = lp.row_upper_ = program.rhs
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = program.matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = program.matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = program.matrix.data
        model.passModel(lp)
        model.run()
        status = model.getModelStatus()
        if status != highspy.HighsModelStatus.kOptimal:
            raise ArithmeticError(f"HiGHS ended with {model.modelStatusToString(status)!r}")
        multipliers = np.array(model.getSolution().row_dual)[: program.n_flow]
        return (2.0 * multipliers / bellman.scale).reshape(problem.shape)  # the program uses half of the scaled cost

    return method


def ours(problem: bm.Problem, tol: float) -> Floats:
    """The exact solver of this package, certified."""
    return bm.solve(problem, tol=tol).value


METHODS: dict[str, Method] = {
    "ours": ours,
    "pi-emd-lu": policy_iteration(emd, by_factorisation),
    "pi-core-lu": policy_iteration(emd_core, by_factorisation),
    "pi-core-bicgstab": policy_iteration(emd_core, by_bicgstab),
    "vi-core-macqueen": value_iteration(emd_core, macqueen=True),
    "vi-emd2-macqueen": value_iteration(emd2, macqueen=True),
    "vi-emd2": value_iteration(emd2, macqueen=False),
    "highs-ipm": highs("ipm", crossover=False),
    "highs-ipm-crossover": highs("ipm", crossover=True),
    "highs-simplex": highs("simplex", crossover=True),
}


def solve(method: str, problem: bm.Problem, tol: float) -> Floats:
    """The distances by this method; warnings of its libraries are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return METHODS[method](problem, tol)

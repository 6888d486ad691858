"""The value of the independent coupling, which reinforcement learning calls MICo.

    V(s, t) = (1-γ)·|r(s) - r'(t)| + γ Σ_ij P(i|s) P'(j|t) V(i, j)

One linear system (`linear`), solved once more where V turns out to be much smaller than it could be, since the target
of the first solve was relative to that. The bounds are MacQueen's, from one more application of the right-hand side
that shares no code with the linear solver, widened for rounding. The coupling is not optimised, so V is at least the
bisimulation metric, and a state that can move in several ways is at a positive distance from itself.

Reference: Castro, Kastner, Panangaden & Rowland 2021.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bisimetric._support import memory
from bisimetric._support.options import seconds_of
from bisimetric._support.threads import require_time, within
from bisimetric.certificates.check import immediate
from bisimetric.certificates.interval import SPAN_ROUNDING, Application, Certificate, Errors, Range, interval
from bisimetric.errors import SolverFailed
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman, is_immediate
from bisimetric.operators.evaluation import independent_value
from bisimetric.problems.discounted import Problem
from bisimetric.readers.convert import as_chain

MICO_SOLVED = 8 * UNIT_ROUNDOFF  # residual at which the linear system counts as solved, relative to the largest value
MICO_TOL = 1e-9  # relative gap to reach, as in the docstring of `mico`
BYTES_PER_MICO_PAIR = 80  # the vectors of BiCGSTAB, the problem and the bounds


def mico(chain: Any, other: Any = None, *, discount: float, time_limit: float | None = None) -> Certificate:
    """Compute the MICo distances of a chain, or between two: the value of the independent coupling.

    They have the factor 1 - γ as the bisimulation metric has, and are never below it. A state may be at a positive
    distance from itself.

    Parameters
    ----------
    chain, other : MarkovChain, or anything that `as_chain` takes
        Chains with rewards, n and m states. Without `other` the chain is compared with itself.
    discount : float in [0, 1)
    time_limit : float, optional
        Seconds after which to give up.

    Returns
    -------
    Certificate
        `value`, `lower` and `upper`, [n, m]. The relative gap is at most 1e-9, or what rounding leaves close to
        discount 1.

    Raises
    ------
    InvalidChain, InvalidProblem
        A chain cannot be read or has no rewards.
    SolverFailed
        The linear system cannot be solved to that gap, or not before `time_limit`.

    Examples
    --------
    >>> import bisimetric as bm
    >>> coin = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1])
    >>> bm.mico(coin, discount=0.5).value.round(10).tolist()
    [[0.25, 0.75], [0.75, 0.25]]
    """
    seconds = seconds_of(time_limit)
    source = as_chain(chain)
    target = source if other is None else as_chain(other)
    n, m = source.n_states, target.n_states
    memory.require(
        BYTES_PER_MICO_PAIR * n * m, f"MICo on {n} x {m} states", "merge bisimilar states with quotient(...)"
    )
    problem = Problem(source, target, discount=discount, normalised=True)
    if is_immediate(problem):
        return immediate(problem)
    bellman = Bellman.of(problem)
    with within(seconds, f"MICo on {n} x {m} states"):
        found = _solved(problem, bellman, bellman.largest_cost / (1.0 - problem.discount))
        if not found.is_accurate:
            found = _solved(problem, bellman, found.largest)
    if not found.is_accurate:
        raise SolverFailed(
            f"the MICo distances are known only to {found.gap / bellman.scale:.1g}; choose a smaller discount"
        )
    return _certify(problem, bellman, found)


class _Values(NamedTuple):
    """V and c + γ P V P'ᵀ, in the operator's scale."""

    value: Floats
    swept: Floats
    discount: float

    @property
    def largest(self) -> float:
        """The largest value."""
        return float(np.abs(self.swept).max())

    @property
    def gap(self) -> float:
        """What the residuals leave."""
        return self.discount / (1.0 - self.discount) * float(np.ptp(self.swept - self.value))

    @property
    def is_accurate(self) -> bool:
        """Whether the gap is small enough, or the residuals may be rounding."""
        rounding = SPAN_ROUNDING * self.discount / (1.0 - self.discount)
        return self.gap <= max(MICO_TOL, rounding) * self.largest


def _solved(problem: Problem, bellman: Bellman, largest: float) -> _Values:
    """Solve the linear system for values of about this size."""
    value = independent_value(bellman, MICO_SOLVED * largest, surely=True)
    require_time()
    return _Values(value, _apply(problem, bellman, value), problem.discount)


def _apply(problem: Problem, bellman: Bellman, value: Floats) -> Floats:
    """c + γ P V P'ᵀ."""
    P, Q = problem.source.transitions, problem.target.transitions
    moved: Floats = (Q @ (P @ value).T).T
    return bellman.scaled_cost() + problem.discount * moved


def _certify(problem: Problem, bellman: Bellman, found: _Values) -> Certificate:
    chains = problem.source, problem.target
    terms = sum(float(np.diff(chain.transitions.indptr).max()) for chain in chains)
    rows = 0.5 * sum(float(chain.row_error.max()) for chain in chains)
    residual = found.swept - found.value

    def apply() -> Application:
        both = found.swept.copy(), found.swept.copy()
        return Application(*both, float(residual.min()), float(residual.max()), Errors(terms, rows))

    return Certificate(*interval(bellman, bellman.cost, Range.of(found.value), apply, lambda *bounds: None))

"""pyotc: a discounted problem as one about averages, through a meeting point.

pyotc minimises the average cost of two chains run for ever, with no discount. A chain that restarts with probability
1-γ has an average, but two such chains may be coupled to restart at different times, which can be cheaper: for
`dense-4` and γ = 0.75 the average times 1/(1-γ) is 0.51629, the distance between the starts 0.51689. So the restart
gets a state * of its own,

    x → P[x] with probability γ, → * with 1-γ;      * → start;      c(*, *) = 0,   c(*, y) = c(x, *) = M,

and with M large it pays to be in * together. A tour from (*, *) costs V(start, start') and takes 1 + 1/(1-γ) steps on
average, so

    V(start, start') = average · (2-γ)/(1-γ).

M = 3·max c/(1-γ) is enough: the relative values of pairs without * span at most max c/(1-γ), one step with a single *
costs M, and the average is at most max c. pyotc improves every pair, so the couplings it ends with, divided by γ, are
a policy for all of them; that policy is what counts. Its stopping rules are absolute (1e-4 of the relative values), so
the largest cost is set by the setting `scale`.
"""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stdout

import numpy as np

import bisimetric as bm
from benchmarks.outcomes import Outcome, Supports, policy_value
from benchmarks.peers import Floats

APART = 3.0  # M, relative to max c/(1-γ)
START = 0


def pyotc(problem: bm.Problem, setting: dict[str, float]) -> Outcome:
    """Run pyotc's exact method on dense matrices; the sparse one did not converge on `grid-3` with γ = 0.99."""
    plans, _, said = coupled(problem, setting["scale"])
    supports = Supports.full(problem.source), Supports.full(problem.target)
    return Outcome(None, lambda: policy_value(problem, plans, *supports), said)


def coupled(problem: bm.Problem, scale: float) -> tuple[Floats, float, tuple[str, ...]]:
    """The couplings of all pairs, the distance between the first states, and the warnings."""
    from pyotc import exact_otc

    n, m = problem.shape
    discount, unit = problem.discount, scale / float(problem.cost.max())
    cost = np.full((n + 1, m + 1), APART * scale / (1 - discount))
    cost[:n, :m], cost[n, m] = unit * problem.cost, 0.0
    rows = (restarted(chain, discount) for chain in (problem.source, problem.target))
    with redirect_stdout(io.StringIO()), warnings.catch_warnings(record=True) as caught:  # pyotc prints its progress
        warnings.simplefilter("always")
        average, coupling, _ = exact_otc(*rows, cost, stat_dist=None)
    if average is None:
        raise ArithmeticError("pyotc did not converge")
    plans = coupling.reshape(n + 1, m + 1, n + 1, m + 1)[:n, :m, :n, :m] / discount
    said = tuple(dict.fromkeys(str(warning.message) for warning in caught))
    return plans, average * (2 - discount) / (1 - discount) / unit, said


def restarted(chain: bm.MarkovChain, discount: float) -> Floats:
    """The chain with the additional state * at the end."""
    n = chain.n_states
    rows = np.zeros((n + 1, n + 1))
    rows[:n, :n] = discount * chain.transitions.toarray()
    rows[:n, n], rows[n, START] = 1 - discount, 1.0
    return rows

"""Bounds on the values of a finite horizon, step by step.

Let V be the value that was computed for time t + 1, and V - a ≤ V*_{t+1} ≤ V + b. The checker gives U ≥ T_t V ≥ L for
the couplings and potentials of the step. T_t is monotone and carries constants through times γ, hence

    L - γ·a  ≤  V*_t  ≤  U + γ·b,

widened for rounding and inexact rows as in `certificates.interval`, except that the errors of a step are paid once and
not forever. A pair is *proved zero* if it costs nothing and its coupling leads only to pairs proved zero at time t + 1.
Before time 0 is reached, the steps that are left add at least nothing and at most their largest costs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bisimetric.certificates.check import check_application
from bisimetric.certificates.interval import (
    OPERATIONS_AFTER,
    OPERATIONS_AROUND,
    SUBNORMAL_BELOW,
    Application,
    Certificate,
    raise_to_cost,
)
from bisimetric.certificates.zeros import coupled_pairs
from bisimetric.cost.ground import cost_above, cost_below, largest_cost_error
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats, Mask, offsets
from bisimetric.operators.bellman import FOREVER_ROUNDING, Bellman
from bisimetric.operators.horizon import HorizonBellman
from bisimetric.operators.trees import TreeWitness
from bisimetric.problems.horizon import HorizonProblem


@dataclass(frozen=True, slots=True, eq=False)
class StepBounds:
    """What is proved about the value of one time, in the operator's scale: found - below ≤ V*_t ≤ found + above."""

    time: int
    found: Floats  # [n, m]
    below: float
    above: float
    zero: Mask  # [n, m], where V*_t is exactly zero


@dataclass(frozen=True, slots=True, eq=False)
class HorizonBounds:
    """Bounds on the value of time 0, which are far apart until that is reached."""

    certificate: Certificate
    is_complete: bool  # time 0 is reached

    @property
    def gap(self) -> float:
        """The width of the widest interval."""
        return self.certificate.gap

    @property
    def relative_gap(self) -> float:
        """The gap divided by the largest upper bound; infinite before time 0 is reached, which no tolerance allows."""
        return self.certificate.relative_gap if self.is_complete else np.inf

    def around(self, estimate: Floats | None = None, scale: float = 1.0) -> Certificate:
        """The certificate, with another estimate (times `scale`), cut to the bounds."""
        return self.certificate.around(estimate, scale)


def terminal_bounds(operator: HorizonBellman) -> StepBounds:
    """What is known about the last time: the terminal cost, as exact as it is."""
    problem, terminal = operator.problem, operator.terminal()
    error = largest_cost_error(float(problem.terminal.max()), problem.cost_error) * operator.scale
    return StepBounds(problem.horizon, terminal, error, error, problem.terminal == 0.0)


def check_step(operator: HorizonBellman, later: StepBounds, witness: TreeWitness, found: Floats) -> StepBounds:
    """What follows for the time before `later` from one application; `found` is the value computed for it."""
    problem, time = operator.problem, later.time - 1
    source, target = problem.sources[time], problem.targets[time]
    rows = 0.5 * (float(source.row_error.max()) + float(target.row_error.max()))
    once = check_application(witness.bellman, later.found, witness, rows)
    down, up = _widening(operator, witness.bellman, later, once)
    largest = float(operator.largest_from[time]) * (1.0 + FOREVER_ROUNDING * (operator.horizon + 1))
    largest += largest_cost_error(problem.largest_cost, problem.cost_error) * operator.scale * operator.horizon
    lower = np.clip(once.lower - down, 0.0, largest)
    upper = np.clip(once.upper + up, 0.0, largest)
    exact = once.errors.marginal == 0.0 and not source.uncertain and not target.uncertain
    zero = _proved_zero(witness, problem.costs[time], later.zero, exact=exact)
    below, above = float((found - lower).max()), float((upper - found).max())
    slip = OPERATIONS_AFTER * UNIT_ROUNDOFF * (float(np.abs(found).max()) + max(abs(below), abs(above)))
    return StepBounds(time, found, max(below, 0.0) + slip, max(above, 0.0) + slip, zero)


def _widening(operator: HorizonBellman, bellman: Bellman, later: StepBounds, once: Application) -> tuple[float, float]:
    """By how much the computed ends of one application have to be moved outwards."""
    value, errors, discount = later.found, once.errors, operator.problem.discount
    largest = float(np.abs(value).max())
    unit = (errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF
    span = float(value.max() - value.min()) + later.below + later.above
    cost = largest_cost_error(float(bellman.cost.max()), bellman.cost_error) * operator.scale
    moved = cost + discount * errors.rows * span
    below = unit * (bellman.largest_cost + discount * max(largest, errors.potential)) + moved
    above = unit * (bellman.largest_cost + discount * largest) + moved + discount * errors.marginal * largest
    onward = discount * (1.0 + OPERATIONS_AROUND * UNIT_ROUNDOFF)
    return below + onward * later.below, above + onward * later.above


def _proved_zero(witness: TreeWitness, cost: Floats, later: Mask, *, exact: bool) -> Mask:
    """The pairs that cost nothing and whose coupling leads only to pairs proved zero at the next time."""
    zero = np.zeros(cost.shape, np.bool_)
    candidates = np.flatnonzero(cost == 0.0)
    if not exact or not len(candidates) or not later.any():
        return zero
    outside = ~later.ravel()
    counts, leaves = coupled_pairs(witness.bellman, witness, candidates, lambda heads: outside[heads].astype(np.int32))
    left = np.add.reduceat(np.append(leaves, 0), np.minimum(offsets(counts)[:-1], len(leaves)))
    zero.ravel()[candidates] = (left == 0) | (counts == 0)
    return zero


def value_bounds(operator: HorizonBellman, step: StepBounds) -> Certificate:
    """The value of one time in the units of the cost, with its bounds."""
    problem, scale = operator.problem, operator.scale
    lower, upper = np.maximum(step.found - step.below, 0.0) / scale, (step.found + step.above) / scale
    if problem.largest_cost < SUBNORMAL_BELOW:
        np.nextafter(lower, -np.inf, out=lower)
        np.nextafter(upper, np.inf, out=upper)
    np.maximum(lower, 0.0, out=lower)
    paid = problem.terminal if step.time == problem.horizon else problem.costs[step.time]
    raise_to_cost(lower, paid, problem.cost_error)
    if step.time == problem.horizon:
        np.minimum(upper, cost_above(paid, problem.cost_error), out=upper)
    lower[step.zero] = upper[step.zero] = 0.0
    return Certificate(np.clip(step.found / scale, lower, upper), lower, upper)


def a_priori(problem: HorizonProblem) -> Certificate:
    """What holds before anything is computed: the cost of time 0, and the largest costs of all later times."""
    lower = cost_below(problem.cost, problem.cost_error)
    most = float(problem.largest_values[0]) * (1.0 + problem.cost_error)
    most *= 1.0 + FOREVER_ROUNDING * (problem.horizon + 1)
    upper = np.full(problem.shape, np.nextafter(most, np.inf))
    return Certificate(lower + 0.5 * (upper - lower), lower, upper)

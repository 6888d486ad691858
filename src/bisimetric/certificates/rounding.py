"""What rounding and inexact rows may do to an interval around the fixed point of a discounted operator.

Let T V = c + γ·(mean of V under laws with given marginals), or any choice (min, max) among such numbers; R = T V - V.
A computed sum of k products errs by at most k·u times the sum of the absolute values. A row that moved by δ in
1-norm moves a mean of V by at most δ/2·span V. The errors of one application are carried on forever: 1/(1-γ). Those
of the few operations that make bounds of it are not.

A cost is what the user gave, or it was computed from rewards and a discount and so is rounded itself. Its relative
error is known (`Problem.cost_error`); `cost_below` and `cost_above` are what the true cost is between. Where underflow
makes a product inexact, one more unit in the last place on either side covers that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bisimetric.cost import cost_below
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats

OPERATIONS_AROUND = 5  # roundings of one application besides those of its longest sum: γ, c, V, a potential, and these
OPERATIONS_AFTER = 8  # roundings in the bounds made from it, which nothing carries on
SUBNORMAL_BELOW = 2.0**-1000  # costs this small may round when scaled back
AT_ONCE = 2**14  # bounds, which then need no further memory to speak of


class Errors(NamedTuple):
    """What one application of the operator may have got wrong."""

    terms: float  # of the longest sum
    rows: float  # half the 1-norm between the joint marginals given and those stored, at worst
    potential: float = 0.0  # the largest |f| + |g| that a lower bound was computed from
    marginal: float = 0.0  # 1-norm by which a coupling misses its marginals
    cost: float = 0.0  # by which the largest cost may be off


def widening(
    value: Floats, residuals: tuple[float, float], largest_cost: float, discount: float, errors: Errors
) -> tuple[float, float]:
    """How much further the lower and the upper end may be than MacQueen's bounds, as computed, say."""
    largest = float(np.abs(value).max())
    unit = (errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF
    residual = max(abs(residuals[0]), abs(residuals[1]))
    below = unit * (largest_cost + discount * max(largest, errors.potential) + residual)
    above = unit * (largest_cost + discount * largest + residual)
    reach = 2 * residual / (1.0 - discount)  # the true distances are this close to `value`
    moved = errors.rows * (float(value.max() - value.min()) + reach)
    below += errors.cost + discount * moved
    above += errors.cost + discount * (moved + errors.marginal * (largest + reach))  # a coupling may also lack mass
    last = OPERATIONS_AFTER * UNIT_ROUNDOFF * (largest_cost + largest + reach)
    return below / (1.0 - discount) + last, above / (1.0 - discount) + last


def raise_to_cost(lower: Floats, cost: Floats, error: float) -> None:
    """Lift lower bounds to what no true cost is below, in place."""
    if error == 0.0:
        np.maximum(lower, cost, out=lower)
        return
    flat, costs = lower.reshape(-1), cost.reshape(-1)
    for first in range(0, len(flat), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        np.maximum(flat[part], cost_below(costs[part], error), out=flat[part])

"""What rounding and inexact rows may do to an interval around the fixed point of a discounted operator.

Let T V = c + γ·(mean of V under laws with given marginals), or any choice (min, max) among such numbers; R = T V - V.
A computed sum of k products errs by at most k·u times the sum of the absolute values. A row that moved by δ in
1-norm moves a mean of V by at most δ/2·span V. The errors of one application are carried on forever: 1/(1-γ).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bisimetric._stochastic import UNIT_ROUNDOFF, Floats

OPERATIONS_AROUND = 12  # roundings besides those of the longest sum: scaling, γ, c, the cost itself
SUBNORMAL_BELOW = 2.0**-1000  # costs this small may round when scaled back


class Errors(NamedTuple):
    """What one application of the operator may have got wrong."""

    terms: float  # of the longest sum
    rows: float  # half the 1-norm between the joint marginals given and those stored, at worst
    potential: float = 0.0  # the largest that a lower bound was computed from
    marginal: float = 0.0  # 1-norm by which a coupling misses its marginals


def widening(
    value: Floats, residuals: tuple[float, float], largest_cost: float, discount: float, errors: Errors
) -> tuple[float, float]:
    """How much further the lower and the upper end may be than MacQueen's bounds, as computed, say."""
    largest = float(np.abs(value).max())
    unit = (errors.terms + OPERATIONS_AROUND) * UNIT_ROUNDOFF
    residual = max(abs(residuals[0]), abs(residuals[1]))
    below = unit * (largest_cost + discount * (largest + 2 * errors.potential) + residual)
    above = unit * (largest_cost + discount * largest + residual)
    reach = 2 * residual / (1.0 - discount)  # the true distances are this close to `value`
    moved = errors.rows * (float(value.max() - value.min()) + reach)
    below += discount * moved
    above += discount * (moved + errors.marginal * (largest + reach))  # a coupling may also lack mass
    return below / (1.0 - discount), above / (1.0 - discount)

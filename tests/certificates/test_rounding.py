"""The widening of intervals: enough for what rounding does, and no more than it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.certificates.interval import Errors, widening
from bisimetric.cost import cost_above, cost_below, largest_cost_error
from bisimetric.models.rows import UNIT_ROUNDOFF

NUMBERS = st.floats(0.0, 1.0, allow_subnormal=False)


@given(NUMBERS, NUMBERS, st.floats(0.0, 0.9999))
def test_one_state(cost, value, discount):
    """One state that stays: c/(1-γ), rational, lies between the widened bounds that floats give."""
    truth = Fraction(cost) / (1 - Fraction(discount))
    swept = cost + discount * value
    residual = swept - value
    bound = swept + discount / (1.0 - discount) * residual
    down, up = widening(np.array([[value]]), (residual, residual), cost, discount, Errors(1, 0.0))
    assert Fraction(bound - down) <= truth <= Fraction(bound + up)


def test_what_it_pays_for():
    """Nothing to round, nothing to widen; every error adds to the side it concerns."""
    value = np.array([[0.0, 1.0]])
    exact = widening(np.zeros((1, 1)), (0.0, 0.0), 0.0, 0.9, Errors(3, 0.0))
    assert exact == (0.0, 0.0)
    plain = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0))
    assert plain == ((9 * 1.5 * 2 + 8 * 2) * UNIT_ROUNDOFF,) * 2  # one application carried on, then the bounds
    moved = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 1e-6))
    assert moved[0] - plain[0] == moved[1] - plain[1]
    np.testing.assert_allclose(moved[0] - plain[0], 1e-6)
    lower_only = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, potential=2.0))
    assert lower_only[0] > plain[0]
    assert lower_only[1] == plain[1]
    upper_only = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, marginal=1e-6))
    assert upper_only[0] == plain[0]
    assert upper_only[1] > plain[1]
    both = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, cost=1.0))
    assert (both[0] - plain[0], both[1] - plain[1]) == (2.0, 2.0)


@given(st.floats(0.0, 1e300), st.integers(1, 40))
def test_costs_with_an_error(cost, roundings):
    """The bounds enclose every cost within the error, also where products underflow; a zero has none."""
    error = 2 * roundings * UNIT_ROUNDOFF
    low, high = (float(bound(np.array([cost]), error)[0]) for bound in (cost_below, cost_above))
    assert 0 <= Fraction(low) <= Fraction(cost) * (1 - Fraction(error))
    assert Fraction(high) >= Fraction(cost) * (1 + Fraction(error))
    assert largest_cost_error(cost, error) >= high - cost
    assert (low, high) == (0.0, 0.0) or cost > 0.0
    assert cost_below(np.array([cost]), 0.0)[0] == cost_above(np.array([cost]), 0.0)[0] == cost

"""The widening of intervals: enough for what rounding does, and no more than it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bisimetric._rounding import Errors, widening
from bisimetric._stochastic import UNIT_ROUNDOFF

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
    assert plain == (16 * UNIT_ROUNDOFF * 1.5 * 2,) * 2
    moved = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 1e-6))
    assert moved[0] - plain[0] == moved[1] - plain[1]
    np.testing.assert_allclose(moved[0] - plain[0], 1e-6)
    lower_only = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, potential=2.0))
    assert lower_only[0] > plain[0]
    assert lower_only[1] == plain[1]
    upper_only = widening(value, (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, marginal=1e-6))
    assert upper_only[0] == plain[0]
    assert upper_only[1] > plain[1]

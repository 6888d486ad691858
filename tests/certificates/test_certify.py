"""A user's guess, and what the checker proves of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.errors import InvalidProblem
from tests import strategies

ONE = bm.MarkovChain([[1.0]])
PLAIN = bm.Problem(ONE, ONE, discount=0.9, cost=[[1.0]])


@given(strategies.chains(max_states=5, reward=True), strategies.discounts)
def test_a_chain_of_zeros_is_found_from_a_guess_of_zero(chain, discount):
    """certify with the true value finds the zero diagonal as well."""
    problem = bm.Problem(chain, chain, discount=discount)
    truth = bm.solve(problem).value
    assert (np.diag(bm.certify(problem, truth).upper) == 0).all()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.ones((2, 1)), r"value has shape \(2, 1\)"),
        ([1.0], "expected 2 dimension"),
        ([[np.nan]], "is nan"),
        ([[np.inf]], "is inf"),
        ([[1j]], "dtype complex"),
        ([["1"]], "dtype <U1"),
    ],
)
def test_what_is_not_a_guess(value, message):
    """Wrong shape or kind, or not finite."""
    with pytest.raises(InvalidProblem, match=message):
        bm.certify(PLAIN, value)

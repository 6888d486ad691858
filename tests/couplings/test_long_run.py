"""Long-run shares of time under a coupling."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from tests.strategies import average_problems


@given(average_problems(max_states=3, tiny=False, start=True, scale=st.just(1.0)))
def test_shares_are_stationary_and_pay_the_distance(problem):
    """ν = Πᵀν, Σν = 1, and <ν, c> is the average."""
    solution = bm.solve(problem)
    share = solution.coupling.occupancy()
    flat, moves = share.ravel(), solution.coupling.matrix()
    assert flat.sum() == pytest.approx(1.0, abs=1e-9)
    assert np.abs(moves.T @ flat - flat).sum() <= 1e-9
    paid = (share * problem.cost).sum()
    assert solution.interval[0] - 1e-8 <= paid <= solution.interval[1] + 1e-8


def test_starts_decide_where_it_ends():
    """Two absorbing states, reached with 1/4 and 3/4; and paths go there."""
    fork = bm.MarkovChain([[0, 0.25, 0.75], [0, 1, 0], [0, 0, 1]], reward=[9, 1, 2], start=0)
    still = bm.MarkovChain([[1.0]], reward=[0], start=0)
    solution = bm.average_distance(fork, still)
    assert solution.distance == pytest.approx(1.75, rel=1e-14)
    assert solution.coupling.occupancy().ravel().tolist() == pytest.approx([0, 0.25, 0.75])
    assert solution.coupling.occupancy((1, 0)).ravel().tolist() == [0, 1, 0]
    assert solution.coupling.simulate(3, seed=1).shape == (4, 2)

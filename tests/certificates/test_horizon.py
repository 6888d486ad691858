"""Bounds over a finite horizon hold for real numbers, at every time."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from tests.reference import exact_horizon_distances
from tests.strategies import chains, horizon_problems


def inside(certificate, exact):
    """Whether all true values are between the bounds."""
    n, m = certificate.value.shape
    return all(
        Fraction(float(certificate.lower[x, y])) <= exact[x][y] <= Fraction(float(certificate.upper[x, y]))
        and certificate.lower[x, y] <= certificate.value[x, y] <= certificate.upper[x, y]
        for x in range(n)
        for y in range(m)
    )


@given(horizon_problems())
def test_bounds_contain_the_true_values_of_all_times(problem):
    """In rational arithmetic, for the stored rows and costs; and they are narrow."""
    solution, exact = bm.solve(problem), exact_horizon_distances(problem)
    for time in range(problem.horizon + 1):
        assert inside(solution.at(time), exact[time])
    assert solution.relative_gap <= 1e-13


@given(chains(max_states=4, reward=True), st.integers(1, 6))
def test_a_chain_is_at_zero_from_itself(chain, horizon):
    """Every state from itself, exactly, in all three numbers."""
    solution = bm.solve(bm.HorizonProblem(chain, chain, horizon=horizon))
    for bound in (solution.value, solution.lower, solution.upper):
        assert not bound.diagonal().any()


def test_rows_that_were_rounded_are_paid_for():
    """1/3 is no float: the interval holds for rows of thirds."""
    thirds = bm.MarkovChain([[1 / 3, 2 / 3], [2 / 3, 1 / 3]], reward=[0, 1])
    halves = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 1])
    solution = bm.solve(bm.HorizonProblem(thirds, halves, horizon=2))
    assert Fraction(float(solution.lower[0, 0])) <= Fraction(1, 6) <= Fraction(float(solution.upper[0, 0]))


def test_no_zero_is_proved_for_rows_that_are_not_known():
    """Two chains within the errors may differ although the given rows are equal."""
    known, other = (bm.MarkovChain([[p, 1 - p], [0.3, 0.7]], reward=[0, 1], start=0) for p in (0.4, 0.6))
    given = [bm.MarkovChain([[0.5, 0.5], [0.3, 0.7]], reward=[0, 1], start=0, row_error=0.2) for _ in range(2)]
    low, high = bm.solve(bm.HorizonProblem(*given, horizon=3)).interval
    true = bm.solve(bm.HorizonProblem(known, other, horizon=3)).distance
    assert low <= true <= high

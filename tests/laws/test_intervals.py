"""Certified intervals against rational arithmetic: no interval may ever miss the true distance."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from tests import reference, strategies


def holds(certificate, truth):
    """lower ≤ V* ≤ upper as exact rationals; zeros are zeros; the value lies inside and is not negative."""
    for lower, upper, value, true in zip(
        certificate.lower.ravel(),
        certificate.upper.ravel(),
        certificate.value.ravel(),
        (v for row in truth for v in row),
        strict=True,
    ):
        assert Fraction(float(lower)) <= true <= Fraction(float(upper)), (lower, float(true), upper)
        assert 0.0 <= lower <= value <= upper
    return True


# ------------------------------------------------------------------ lower ≤ V* ≤ upper


@given(strategies.problems())
def test_intervals_hold_exactly(exact_solver, problem):
    """A solve to the default tolerance never misses the rational distance, whatever the scale."""
    assert holds(exact_solver.solve(problem), reference.exact_distances(problem))


@given(strategies.problems(), st.sampled_from((0.5, 0.1, 1e-4)), st.integers(1, 3))
def test_intervals_hold_for_loose_solves(exact_solver, problem, tol, max_steps):
    """Stopping early widens the interval and keeps it true."""
    solution = exact_solver.solve(problem, tol=tol, max_steps=max_steps, throw=False)
    assert holds(solution, reference.exact_distances(problem))
    if solution.status is bm.Status.SOLVED:
        assert solution.relative_gap <= tol


@given(st.data(), strategies.problems())
def test_certify_holds_for_any_guess(data, problem):
    """Any finite array, however wrong, gives a true interval."""
    guess = data.draw(strategies.guesses(problem))
    assert holds(bm.certify(problem, guess), reference.exact_distances(problem))


@given(strategies.problems())
def test_certify_holds_next_to_the_truth(problem):
    """The rounded rational distance as a guess: rounding alone must not push the truth out of the interval."""
    truth = reference.exact_distances(problem)
    assert holds(bm.certify(problem, np.array(truth, float)), truth)


@given(strategies.discounts, st.floats(0.0, 1.0, exclude_min=True, allow_subnormal=False), strategies.scales)
def test_one_state_each(exact_solver, discount, cost, scale):
    """c/(1-γ) of a 1×1 problem; without widening for rounding, half of all intervals would miss it."""
    one = bm.MarkovChain([[1.0]])
    problem = bm.Problem(one, one, discount=discount, cost=[[cost * scale]])
    truth = Fraction(cost * scale) / (1 - Fraction(discount))
    assert holds(exact_solver.solve(problem), [[truth]])


@given(strategies.problems(start=True))
def test_intervals_between_starts_hold_exactly(exact_solver, problem):
    """solution.interval contains the rational transport between the two starts."""
    solution = exact_solver.solve(problem)
    truth = reference.exact_transport(problem.source.start, problem.target.start, reference.exact_distances(problem))
    low, high = solution.interval
    assert Fraction(low) <= truth <= Fraction(high)
    assert 0.0 <= low <= solution.distance <= high


def test_costs_that_vanish_beside_the_largest(exact_solver):
    """A cost that underflows in the scale of the largest one still bounds its distance; it is V at a stop."""
    small, huge = 1.5 * 2.0**-78, 2.0**996
    source = bm.MarkovChain([[0, 1, 0], [0, 1, 0], [0, 0, 1]])
    for stop in (None, [[True], [False], [False]]):
        problem = bm.Problem(source, bm.MarkovChain([[1]]), discount=0.5, cost=[[small], [0], [huge]], stop=stop)
        assert holds(exact_solver.solve(problem), [[Fraction(small)], [Fraction(0)], [Fraction(2 * huge)]])
    assert exact_solver.solve(problem).value[0, 0] == small


@given(st.data(), strategies.tame_problems())
def test_certify_contains_the_truth(data, problem):
    """Bounds from any guess contain the oracle's distances, and a good guess gives tight ones."""
    truth = reference.distances(problem)
    slip = 1e-10 * truth.max()
    certificate = bm.certify(problem, data.draw(strategies.guesses(problem)))
    assert (certificate.lower <= truth + slip).all()
    assert (truth - slip <= certificate.upper).all()
    assert bm.certify(problem, truth).gap <= 1e-7 * truth.max()


# ------------------------------------------------------------------ zeros


rewarded = strategies.chains(max_states=3, reward=True)


@given(rewarded, st.one_of(st.none(), rewarded), strategies.discounts)
def test_proved_zeros_are_zero(exact_solver, source, target, discount):
    """lower = upper = 0 only where the rational distance is exactly 0; and all of those are found."""
    problem = bm.Problem(source, source if target is None else target, discount=discount)
    solution = exact_solver.solve(problem)
    truth = np.array(reference.exact_distances(problem))
    proved = (solution.lower == 0) & (solution.upper == 0)
    assert (truth[proved] == 0).all()
    assert (solution.value[proved] == 0).all()
    assert not exact_solver.proves_zeros or proved[truth == 0].all()


@given(strategies.problems())
def test_zeros_claimed_are_zero(exact_solver, problem):
    """An upper bound of zero is a statement about the rational distance."""
    solution = exact_solver.solve(problem, tol=0.5, throw=False)
    truth = np.array(reference.exact_distances(problem))
    assert (truth[solution.upper == 0] == 0).all()

"""The question about a finite horizon, through the one loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidOption, InvalidProblem, SolveInterrupted, ToleranceNotReached
from tests.reference import horizon_distances
from tests.strategies import horizon_problems, tame_problems

ROOMS = [bm.as_chain(name) for name in ("four-rooms:p1", "four-rooms:p0")]


@given(horizon_problems(max_states=4, max_horizon=3, tiny=False, scale=st.just(1.0)))
def test_the_naive_recursion_with_linear_programs(problem):
    """To 1e-12 of the largest distance, up to what linear programs in floats leave."""
    expected = horizon_distances(problem)
    assert np.abs(bm.solve(problem).value - expected).max() <= 1e-10 * max(expected.max(), 1.0)


@given(tame_problems(max_states=3, stop=False).filter(lambda problem: problem.discount <= 0.9))
def test_a_long_horizon_is_the_discounted_distance(problem):
    """As h → ∞: off by at most γ^h of the largest distance."""
    steps = int(np.ceil(np.log(1e-13) / np.log(problem.discount)))
    long = bm.HorizonProblem(
        problem.source, problem.target, horizon=steps, discount=problem.discount, cost=problem.cost
    )
    forever, found = bm.solve(problem), bm.solve(long, bm.solvers.BackwardInduction(keep_steps=False))
    assert np.abs(forever.value - found.value).max() <= 2e-9 * max(float(forever.value.max()), 1e-300)


def test_horizons_that_follow_one_another():
    """h + k steps are h steps to the value of k steps."""
    late = bm.solve(bm.HorizonProblem(*ROOMS, horizon=6, discount=0.9))
    both = bm.solve(bm.HorizonProblem(*ROOMS, horizon=10, discount=0.9))
    first = bm.solve(bm.HorizonProblem(*ROOMS, horizon=4, discount=0.9, terminal=late.value))
    assert np.allclose(both.value, first.value, rtol=0, atol=1e-13)
    assert np.allclose(both.at(4).value, late.value, rtol=0, atol=1e-13)


def test_one_step_is_the_cost():
    """And without a discount costs add up."""
    one = bm.solve(bm.HorizonProblem(*ROOMS, horizon=1))
    assert np.array_equal(one.value, one.problem.cost)
    constant = bm.solve(bm.HorizonProblem(*ROOMS, horizon=5, cost=np.full((40, 40), 0.5), terminal=np.ones((40, 40))))
    assert np.allclose(constant.value, 3.5, rtol=1e-15)


def test_limits_leave_a_certified_interval():
    """Far apart before time 0 is reached, and the tolerance counts as missed."""
    problem = bm.HorizonProblem(*ROOMS, horizon=30)
    true = bm.solve(problem)
    cut = bm.solve(problem, max_steps=3)
    assert cut.status is bm.Status.STEP_LIMIT
    assert not cut.reached_tol
    assert (cut.lower <= true.value).all()
    assert (true.value <= cut.upper).all()
    with pytest.raises(ToleranceNotReached, match="max_steps"):
        bm.solve(problem, max_steps=3, tol=1e-6)
    with pytest.raises(InvalidOption, match="limit"):
        cut.at(3)


def test_interrupts_keep_what_is_known():
    """Ctrl-C in the middle: the values of the times that were reached, and valid bounds."""

    def stop(step):
        if step.step == 5:
            raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        bm.solve(bm.HorizonProblem(*ROOMS, horizon=12), on_step=stop)
    solution = caught.value.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert solution.at(7).gap < 1e-12
    assert (solution.lower <= solution.upper).all()


def test_guesses_are_refused():
    """Nothing could be done with them; nor does `certify` take such a problem."""
    problem = bm.HorizonProblem(*ROOMS, horizon=3)
    with pytest.raises(InvalidOption, match="initial"):
        bm.solve(problem, initial=np.zeros((40, 40)))
    with pytest.raises(InvalidProblem):
        bm.certify(problem, np.zeros((40, 40)))

"""The question about the long run, through the one loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import InvalidOption, SolveInterrupted, ToleranceNotReached
from tests.strategies import average_problems

ROOMS = [bm.as_chain(name) for name in ("four-rooms:p1", "four-rooms:p0")]


@given(average_problems(max_states=4, tiny=False, scale=st.just(1.0)))
def test_discounts_that_tend_to_one(problem):
    """(1-γ)·V_γ → g, from every pair."""
    gamma = 1.0 - 1e-6
    near = bm.solve(bm.Problem(problem.source, problem.target, cost=problem.cost, discount=gamma), throw=False)
    assert np.abs((1.0 - gamma) * near.value - bm.solve(problem).value).max() <= 1e-3


@given(average_problems(max_states=3), st.sampled_from((2.0**-40, 2.0**30)))
def test_scaling_is_exact(problem, factor):
    """By powers of two to the last bit."""
    if not 1e-200 < problem.cost.max() < 1e200:
        return
    scaled = bm.AverageProblem(problem.source, problem.target, cost=problem.cost * factor)
    one, other = bm.solve(problem), bm.solve(scaled)
    assert np.array_equal(one.value * factor, other.value)
    assert np.array_equal(one.upper * factor, other.upper)


@given(average_problems(max_states=4, tiny=False, scale=st.just(1.0)))
def test_constants_and_transposition(problem):
    """Adding b to the cost adds b; swapping the chains transposes; a ten-thousandth of the cost costs that much."""
    value = bm.solve(problem).value
    raised = bm.AverageProblem(problem.source, problem.target, cost=problem.cost + 0.5)
    assert np.abs(bm.solve(raised).value - 0.5 - value).max() <= 4e-9
    swapped = bm.AverageProblem(problem.target, problem.source, cost=problem.cost.T)
    assert np.abs(bm.solve(swapped).value.T - value).max() <= 2e-9
    small = bm.AverageProblem(problem.source, problem.target, cost=problem.cost * 1e-4)
    assert np.abs(bm.solve(small).value * 1e4 - value).max() <= 2e-9


def test_a_known_distance():
    """4-rooms, solved to more digits than shown."""
    solution = bm.average_distance(*ROOMS, tol=1e-11)
    assert solution.interval[0] <= 0.0398735645 + 5e-11
    assert solution.interval[1] >= 0.0398735645 - 5e-11
    assert solution.relative_gap <= 1e-11


def test_limits_and_interrupts_leave_certified_bounds():
    """Also before gains outside the closed classes are known."""
    fork = bm.MarkovChain([[0, 0.25, 0.75], [0, 1, 0], [0, 0, 1]], reward=[9, 1, 2])
    true = bm.average_distance(fork, ROOMS[0])
    cut = bm.average_distance(fork, ROOMS[0], max_steps=1)
    assert cut.status is bm.Status.STEP_LIMIT
    assert (cut.lower <= true.upper).all()
    assert (true.lower <= cut.upper).all()
    with pytest.raises(ToleranceNotReached):
        bm.average_distance(*ROOMS, max_steps=1, tol=1e-6)

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        bm.average_distance(*ROOMS, on_step=stop)
    solution = caught.value.solution
    assert solution.status is bm.Status.INTERRUPTED
    assert solution.interval[0] <= 0.0398735645 <= solution.interval[1]
    assert solution.coupling[0, 0].sum() == pytest.approx(1.0)
    looked = bm.solve(bm.AverageProblem(*ROOMS), look_every=1)
    assert all(step.interval[0] <= 0.0398735646 and step.interval[1] >= 0.0398735644 for step in looked.history)


def test_what_is_refused():
    """Guesses and other solvers."""
    problem = bm.AverageProblem(*ROOMS)
    with pytest.raises(InvalidOption, match="initial"):
        bm.solve(problem, initial=np.zeros((40, 40)))
    with pytest.raises(InvalidOption, match="solver=None"):
        bm.solve(problem, bm.PolicyIteration())
    assert bm.solve(problem, "average-iteration").reached_tol


def test_nothing_to_pay():
    """Answered at once."""
    solution = bm.average_distance(np.eye(2), np.eye(3), cost=np.zeros((2, 3)))
    assert not solution.upper.any()
    assert not solution.history
    assert solution.explain().parts == ()

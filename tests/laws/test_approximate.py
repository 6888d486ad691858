"""Laws that hold for approximate solvers too, whatever their options: the interval is true, the couplings are valid."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject

import bisimetric as bm
from bisimetric.errors import InvalidOption, SolveInterrupted, ToleranceNotReached
from tests import reference, strategies

VALID = 1e-12  # marginals of a rounded coupling, 1-norm


def assert_valid(solution):
    """The couplings are non-negative with the right marginals, except where the game stops."""
    problem = solution.problem
    n, m = problem.shape
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    for x in range(n):
        for y in range(m):
            if problem.stop is not None and problem.stop[x, y]:
                continue
            law = solution.coupling[x, y].toarray()
            assert law.min() >= 0
            assert np.abs(law.sum(axis=1) - P[x]).sum() <= VALID
            assert np.abs(law.sum(axis=0) - Q[y]).sum() <= VALID


@given(strategies.problems())
def test_intervals_hold_exactly(approximate_solver, problem):
    """No interval misses the rational distance, whatever the scale; every number is finite.

    A step size is in units of one over the cost: where it does not fit the scale, the solver says so.
    """
    try:
        solution = bm.solve(problem, approximate_solver)
    except InvalidOption as error:
        if "step_size" not in str(error):
            raise
        reject()
    truth = [v for row in reference.exact_distances(problem) for v in row]
    for low, value, high, true in zip(
        solution.lower.ravel(), solution.value.ravel(), solution.upper.ravel(), truth, strict=True
    ):
        assert Fraction(float(low)) <= true <= Fraction(float(high))
        assert 0.0 <= low <= value <= high < np.inf
    assert solution.status in (bm.Status.COMPLETED, bm.Status.SOLVED)


@given(strategies.tame_problems())
def test_couplings_are_valid(approximate_solver, problem):
    """The proof of the upper bound is a coupling, and its value is the estimate where that is inside the interval."""
    solution = bm.solve(problem, approximate_solver)
    assert_valid(solution)
    if problem.stop is None and problem.cost.any():
        plans = solution.coupling.matrix().toarray().reshape(*problem.shape, *problem.shape)
        value = reference.evaluate(problem, plans)
        np.testing.assert_allclose(solution.value, value, rtol=0, atol=1e-9 * value.max() / (1 - problem.discount))


def rooms(discount=0.9):
    """Two small rooms."""
    return bm.Problem(bm.environments.small_four_rooms("a"), bm.environments.small_four_rooms("b"), discount=discount)


def test_an_explicit_tolerance_is_a_promise(approximate_solver):
    """Reached: SOLVED, and no more rounds than needed. Missed: an exception with the solution, or a status."""
    problem = rooms()
    loose = bm.solve(problem, approximate_solver, tol=10.0)
    assert loose.status is bm.Status.SOLVED
    assert len(loose.history) == 1
    with pytest.raises(ToleranceNotReached) as caught:
        bm.solve(problem, approximate_solver, tol=1e-13)
    quiet = bm.solve(problem, approximate_solver, tol=1e-13, throw=False)
    for solution in (caught.value.solution, quiet):
        assert solution.status is bm.Status.COMPLETED
        assert solution.relative_gap > 1e-13


def test_without_a_tolerance_it_runs_its_rounds(approximate_solver):
    """COMPLETED is no failure; max_steps cuts it short, with another status."""
    problem = rooms()
    whole = bm.solve(problem, approximate_solver)
    assert whole.status is bm.Status.COMPLETED
    if len(whole.history) > 1:
        short = bm.solve(problem, approximate_solver, max_steps=1)
        assert short.status is bm.Status.STEP_LIMIT
        assert len(short.history) == 1
    exact = bm.solve(problem)
    assert (whole.lower <= exact.upper).all()
    assert (exact.lower <= whole.upper).all()


def test_every_round_is_reported(approximate_solver):
    """on_step sees the history as it grows, with certified gaps after 1, 2, 4, … rounds."""
    seen = []
    solution = bm.solve(rooms(), approximate_solver, on_step=seen.append)
    assert tuple(seen) == solution.history
    assert [step.step for step in seen] == list(range(1, len(seen) + 1))
    assert all(np.isfinite(step.gap) for step in seen)
    assert seen[-1].gap == pytest.approx(solution.gap)


def test_interrupts_carry_a_certified_solution(approximate_solver):
    """Ctrl-C in any round: the interval holds for what there is."""
    problem = rooms()
    exact = bm.solve(problem)
    last = len(bm.solve(problem, approximate_solver).history)
    for stop_at in {1, (last + 1) // 2, last}:

        def interrupt(step, stop_at=stop_at):
            if step.step == stop_at:
                raise KeyboardInterrupt

        with pytest.raises(SolveInterrupted) as caught:
            bm.solve(problem, approximate_solver, on_step=interrupt)
        solution = caught.value.solution
        assert solution.status is bm.Status.INTERRUPTED
        assert (solution.lower <= exact.upper).all()
        assert (exact.lower <= solution.upper).all()


def test_a_guess_is_taken(approximate_solver):
    """`initial` is the value that the first round starts from; any guess keeps the interval true."""
    problem = rooms()
    exact = bm.solve(problem)
    for guess in (exact, np.full(problem.shape, 1e6), np.zeros(problem.shape)):
        solution = bm.solve(problem, approximate_solver, initial=guess)
        assert (solution.lower <= exact.upper).all()
        assert (exact.lower <= solution.upper).all()


def test_solutions_survive_files(approximate_solver, tmp_path):
    """Saved and loaded: the same bounds, proved again."""
    solution = bm.solve(rooms(), approximate_solver)
    solution.save(tmp_path / "solution.npz")
    loaded = bm.load(tmp_path / "solution.npz")
    assert loaded.status is solution.status
    assert loaded.history == solution.history
    np.testing.assert_allclose(loaded.upper, solution.upper, rtol=1e-12)
    np.testing.assert_allclose(loaded.lower, solution.lower, rtol=1e-12)


def test_threads_do_not_matter(approximate_solver, monkeypatch):
    """The same bits with one thread, two and three."""
    from bisimetric.couplings import factored

    monkeypatch.setattr(factored, "ONE_PASS", 0)
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(12), 12)) for _ in range(2)]
    for problem in (rooms(), bm.Problem(*chains, discount=0.8, cost=random.random((12, 12)))):
        answers = set()
        for threads in "123":
            monkeypatch.setenv("BISIMETRIC_THREADS", threads)
            solution = bm.solve(problem, approximate_solver, max_steps=3)
            answers.add((solution.value.tobytes(), solution.lower.tobytes(), solution.upper.tobytes()))
        assert len(answers) == 1

"""Many problems in one call have the answers of single solves."""

from __future__ import annotations

import io
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import (
    InvalidOption,
    InvalidProblem,
    ManyInterrupted,
    ToleranceNotReached,
)
from bisimetric.problems.bisimilarity import BisimilarityProblem
from tests.strategies import problems

RANDOM = np.random.default_rng(5)


def random_problem(n=3, m=4, discount=0.9, scale=1.0, **options):
    """A problem between two random chains with starts."""
    chains = [bm.MarkovChain(RANDOM.dirichlet(np.ones(k), k), start=0) for k in (n, m)]
    return bm.Problem(*chains, discount=discount, cost=scale * RANDOM.random((n, m)), **options)


@given(st.lists(problems(), min_size=1, max_size=8))
def test_answers_are_those_of_single_solves(asked):
    """Both intervals hold the true distances, so they meet; gaps are within the tolerance where a single one is."""
    for problem, found in zip(asked, bm.solve_many(asked), strict=True):
        alone = bm.solve(problem)
        assert found.problem is problem
        assert (found.lower <= alone.upper).all()
        assert (alone.lower <= found.upper).all()
        assert (found.lower <= found.value).all()
        assert (found.value <= found.upper).all()
        assert found.relative_gap <= max(alone.relative_gap, 1e-9)
        assert found.status is bm.Status.SOLVED or found.status is alone.status


def test_costs_of_all_scales_share_a_batch():
    """One tolerance fits them, since every cost is scaled by its own power of two."""
    asked = [random_problem(scale=scale) for scale in (1e-300, 1e-5, 1.0, 1e7, 1e300)]
    for problem, found in zip(asked, bm.solve_many(asked, tol=1e-10), strict=True):
        assert found.relative_gap <= 1e-10
        np.testing.assert_allclose(found.value, bm.solve(problem).value, rtol=1e-9)


def test_coupling_potentials_and_files_are_those_of_the_problem():
    """A part of a batch is a whole solution: its proof is checked again when a file is read."""
    asked = [random_problem(n, m) for n, m in ((3, 4), (2, 2), (5, 1), (1, 1), (4, 3))]
    for problem, found in zip(asked, bm.solve_many(asked), strict=True):
        for x in range(problem.shape[0]):
            for y in range(problem.shape[1]):
                joint = found.coupling[x, y]
                assert joint.shape == problem.shape
        file = io.BytesIO()
        bm.save(found, file)
        file.seek(0)
        np.testing.assert_allclose(bm.load(file).value, found.value, rtol=1e-9)
        assert bm.certify_exactly(found).gap <= found.gap
        assert found.explain().distance == pytest.approx(found.distance, rel=1e-8)


def test_what_does_not_fit_into_a_batch_is_solved_alone():
    """Large problems, problems without a future, other kinds, other discounts, stops, one chain against itself."""
    chain = bm.MarkovChain(RANDOM.dirichlet(np.ones(4), 4), reward=[0, 1, 2, 3], start=0)
    other = bm.MarkovChain(RANDOM.dirichlet(np.ones(4), 4), reward=[0, 1, 2, 3], start=1)
    mdp = bm.MDP([[[0.5, 0.5], [0, 1]], [[1, 0], [0.5, 0.5]]], [[0, 1], [1, 0]])
    asked = [
        random_problem(20, 20),
        random_problem(discount=0.0),
        random_problem(discount=0.5),
        bm.Problem(chain, chain, discount=0.9),
        bm.Problem(other, other, discount=0.9),
        bm.Problem(chain, other, discount=0.9, normalised=True),
        bm.Problem(chain, other, discount=0.9, stop=RANDOM.random((4, 4)) < 0.4),
        bm.bisimulation_metric(mdp, discount=0.9).problem,
    ]
    for problem, found in zip(asked, bm.solve_many(asked), strict=True):
        np.testing.assert_allclose(found.value, bm.solve(problem).value, rtol=1e-8, atol=1e-12)


def test_other_solvers_solve_one_after_the_other():
    """By object or name; the answers are theirs."""
    asked = [random_problem(), random_problem()]
    for found in bm.solve_many(asked, "value-iteration"):
        assert found.solver == "value-iteration"
    for found in bm.solve_many(asked, bm.SinkhornValueIteration(rounds=5)):
        assert found.status is bm.Status.COMPLETED


def test_a_missed_tolerance_comes_with_all_solutions():
    """After all problems are solved; with throw=False the statuses tell."""
    asked = [random_problem() for _ in range(3)]
    with pytest.raises(ToleranceNotReached) as caught:
        bm.solve_many(asked, tol=1e-19)
    assert len(caught.value.solutions) == 3
    assert caught.value.solution is caught.value.solutions[0]
    assert all(found.status is bm.Status.STALLED for found in bm.solve_many(asked, tol=1e-19, throw=False))


def test_a_time_limit_is_one_for_all():
    """What is not solved by then has an interval all the same."""
    asked = [random_problem() for _ in range(20)]
    late = bm.solve_many(asked, time_limit=1e-9)
    for problem, found in zip(asked, late, strict=True):
        alone = bm.solve(problem)
        assert found.status is bm.Status.TIME_LIMIT
        assert (found.lower <= alone.upper).all()
        assert (alone.lower <= found.upper).all()


def test_progress_and_ctrl_c():
    """Every solution is told with its place; an interrupt keeps those that are finished."""
    asked = [random_problem(n) for n in (20, 3, 3, 20)]  # the middle ones share a batch
    seen = {}
    solutions = bm.solve_many(asked, on_solution=seen.__setitem__)
    assert [seen[k] for k in range(4)] == solutions

    def interrupt(place, solution):
        if place == 1:
            raise KeyboardInterrupt

    with pytest.raises(ManyInterrupted) as caught:
        bm.solve_many(asked, on_solution=interrupt)
    assert [found is not None for found in caught.value.solutions] == [False, True, True, False]


def test_max_steps():
    """For every problem, as in `solve`."""
    asked = [random_problem(n, n, discount=0.99) for n in (3, 4, 20)]
    for found in bm.solve_many(asked, "value-iteration", max_steps=2):
        assert len(found.history) == 2
        assert found.status is bm.Status.STEP_LIMIT
    assert all(len(found.history) == 1 for found in bm.solve_many(asked, max_steps=1))
    with pytest.raises(InvalidOption, match="max_steps"):
        bm.solve_many(asked, max_steps=0)


def test_bad_input():
    """One problem instead of a list, and things that are no problems, named before anything is solved."""
    with pytest.raises(InvalidOption, match="list of problems"):
        bm.solve_many(random_problem())
    seen = []
    with pytest.raises(InvalidProblem, match=r"problems\[2\] is a str, expected a Problem"):
        bm.solve_many(
            [random_problem(), random_problem(), "four-rooms:p1"], on_solution=lambda *done: seen.append(done)
        )
    assert not seen
    assert bm.solve_many([]) == []


def test_a_time_limit_in_the_middle_of_a_large_problem():
    """Problems that are solved alone have an answer too, and so has the rest; with a tolerance that is an error."""
    chains = [bm.environments.random_sparse_chain(90, 4, seed=seed) for seed in range(2)]
    asked = [bm.Problem(*chains, discount=0.999) for _ in range(3)]
    for found in bm.solve_many(asked, time_limit=0.02):
        assert found.status in {bm.Status.TIME_LIMIT, bm.Status.SOLVED}
        assert (found.lower <= found.upper).all()
    with pytest.raises(bm.errors.ToleranceNotReached, match="raise tol or time_limit"):
        bm.solve_many(asked, tol=1e-9, time_limit=1e-9)


def test_a_solver_that_does_not_fit_is_told_at_once():
    """With the place of the problem, before anything is solved."""
    told = []
    for other in (bm.AverageProblem, partial(bm.HorizonProblem, horizon=3)):
        chains = [bm.MarkovChain(np.eye(2), reward=[0, 1], start=0)] * 2
        asked = [random_problem(), random_problem(), other(*chains)]
        with pytest.raises(InvalidOption, match=r"^problems\[2\]: value-iteration solves no .*; leave solver=None"):
            bm.solve_many(asked, "value-iteration", on_solution=lambda *done: told.append(done))
    labelled = bm.MarkovChain(np.eye(2), labels=[0, 1])
    with pytest.raises(InvalidOption, match=r"^problems\[1\]: .* needs a discount below 1"):
        bm.solve_many([random_problem(), BisimilarityProblem(labelled, labelled)], "sinkhorn-value-iteration")
    assert not told

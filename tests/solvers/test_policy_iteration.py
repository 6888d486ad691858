"""Policy iteration: few steps, decreasing gaps, warm trees. What it computes is in tests/laws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.linear import krylov
from bisimetric.operators import evaluation
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import new_trees
from tests import reference, strategies


@pytest.mark.parametrize("accuracy", [0.0, 1.0, -0.5, 2, float("nan")])
def test_accuracy_out_of_range(accuracy):
    """A fraction of the residual's span."""
    with pytest.raises(InvalidOption, match="accuracy is"):
        bm.PolicyIteration(accuracy=accuracy)


@pytest.mark.parametrize("accuracy", [0.5, 1e-6])
@pytest.mark.parametrize("discount", [0.5, 0.99, 0.9999])
def test_any_accuracy_gives_the_same_distances(accuracy, discount):
    """How well policies are evaluated changes the way, not the end."""
    one, zero = bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0")
    problem = bm.Problem(one, zero, discount=discount)
    usual, other = bm.solve(problem), bm.solve(problem, bm.PolicyIteration(accuracy=accuracy))
    assert other.status is bm.Status.SOLVED
    assert (usual.lower <= other.upper).all()
    assert (other.lower <= usual.upper).all()


@pytest.mark.parametrize("discount", [0.9, 0.999, 0.9999])
def test_few_steps_at_any_discount(discount):
    """Value iteration would take about 20/(1-γ) sweeps."""
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.full(20, 0.3), 20)) for _ in range(2)]
    solution = bm.solve(bm.Problem(*chains, discount=discount, cost=random.random((20, 20))))
    assert solution.status is bm.Status.SOLVED
    assert len(solution.history) <= 25


@given(strategies.tame_problems(max_states=4))
def test_one_sweep_is_the_bellman_operator(problem):
    """improve() gives T V - V, from any tree and any value, as linear programs do."""
    if not problem.cost.any():
        return
    bellman = Bellman.of(problem)
    trees = new_trees(bellman)
    random = np.random.default_rng(0)
    for cold in (True, False, False):
        value = random.random(problem.shape)
        sweep = bellman.improve(value, trees, cold=cold)
        scaled = bm.Problem(
            problem.source,
            problem.target,
            discount=problem.discount,
            cost=bellman.scaled_cost(),
            stop=problem.stop,
        )
        expected = reference.bellman(scaled, value) - value
        np.testing.assert_allclose(sweep.residual.reshape(problem.shape), expected, atol=1e-9)
        assert sweep.lowest <= sweep.residual.min() + 1e-12
        assert sweep.highest >= sweep.residual.max() - 1e-12


@given(strategies.problems(max_states=4, stop=False))
def test_compact_trees_lead_to_the_same_distances(problem):
    """Both layouts certify the default tolerance wherever one does, and their intervals meet at every pair."""
    plain = bm.solve(problem, throw=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bisimetric.operators.trees.COMPACT_FROM", 0)
        compact = bm.solve(problem, throw=False)
    assert compact.status is plain.status
    assert (compact.lower <= plain.upper).all()
    assert (plain.lower <= compact.upper).all()


@pytest.mark.slow
def test_warm_trees_need_no_pivots():
    """A second sweep at the same value finds every tree optimal."""
    random = np.random.default_rng(1)
    chains = [bm.MarkovChain(random.dirichlet(np.full(12, 0.5), 12)) for _ in range(2)]
    problem = bm.Problem(*chains, discount=0.9, cost=random.random((12, 12)))
    bellman = Bellman.of(problem)
    trees = new_trees(bellman)
    assert bellman.improve(problem.cost, trees, cold=True).pivots > 0
    assert bellman.improve(problem.cost, trees, cold=False).pivots == 0
    assert bellman.improve(problem.cost * 3 + 1, trees, cold=False).pivots == 0


def test_failed_evaluations_fall_back_to_sweeps(monkeypatch):
    """When the linear solver returns nonsense, steps are value iteration, which contracts."""
    problem = bm.Problem(bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0"), discount=0.5)
    truth = bm.solve(problem)

    def nonsense(self, trees, residual, target, *, shift):
        return krylov.Solved(np.full_like(residual, np.nan), np.inf, 1)

    monkeypatch.setattr(evaluation.Evaluation, "solve", nonsense)
    solution = bm.solve(problem)
    assert solution.status is bm.Status.SOLVED
    assert len(solution.history) > len(truth.history)
    assert (solution.lower <= truth.upper).all()
    assert (truth.lower <= solution.upper).all()


@pytest.mark.parametrize("tol", [1e-3, 1e-5, 1e-7])
def test_the_last_step_does_what_is_asked_and_little_more(tol):
    """Evaluations of a coupling that may be the last one aim at the tolerance."""
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.ones(20), 20)) for _ in range(2)]
    problem = bm.Problem(*chains, discount=0.9, cost=random.random((20, 20)))
    assert 0.01 * tol < bm.solve(problem, tol=tol).relative_gap <= tol


def test_a_gap_that_the_checker_refuses_is_made_smaller():
    """Near the limits of rounding the checker's interval is wider than the solver's own: it goes on beyond its aim."""
    problem = bm.Problem(bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0"), discount=0.9999)
    solution = bm.solve(problem, tol=1e-10)
    assert solution.status is bm.Status.SOLVED
    assert len(solution.history) < 25


def test_one_call_or_many_give_the_same(monkeypatch):
    """Small linear systems are solved in one compiled call, large ones in many, so that Ctrl-C is heard."""
    problem = bm.Problem(bm.environments.four_rooms("p1"), bm.environments.four_rooms("p0"), discount=0.9)
    in_one = bm.solve(problem)
    monkeypatch.setattr(evaluation, "ONE_CALL", 0)
    np.testing.assert_allclose(bm.solve(problem).value, in_one.value, atol=1e-9)


def test_a_solve_is_resumed_with_other_probabilities():
    """The trees of a solve serve chains with the same successors; those of other chains do not."""
    random = np.random.default_rng(2)
    support = random.random((12, 12)) < 0.5
    support[np.arange(12), np.arange(12)] = True

    def problem():
        rows = [support * random.uniform(0.1, 1.0, (12, 12)) for _ in range(2)]
        chains = [bm.MarkovChain.normalised(matrix, start=0) for matrix in rows]
        return bm.Problem(*chains, discount=0.9, cost=1.0 - np.eye(12))

    before, after = bm.solve(problem()), problem()
    bellman, solver = Bellman.of(after), bm.PolicyIteration()
    iterate = solver.resume(bellman, before._proof.witness, 1e-6)
    for _ in range(3):
        iterate = solver.step(bellman, iterate)
    assert iterate.estimate()[0, 0] / bellman.scale == pytest.approx(bm.solve(after).distance, rel=1e-5)
    other = bm.Problem(after.source, bm.MarkovChain(np.eye(12), start=0), discount=0.9, cost=after.cost)
    assert solver.resume(Bellman.of(other), before._proof.witness) is None

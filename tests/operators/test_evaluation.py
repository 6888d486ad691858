"""The values of couplings, against dense linear algebra."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import Evaluation, independent_value, rough_value
from bisimetric.operators.trees import TreeWitness, is_compact, new_trees
from tests import strategies


@given(strategies.tame_problems(max_states=4), st.sampled_from((1e-6, 1e-13)))
def test_an_evaluation_solves_its_system(problem, target):
    """(I - γΠ) d = r for the coupling of the trees, to the target."""
    if not problem.cost.any():
        return
    bellman = Bellman.of(problem)
    trees = new_trees(bellman)
    value = bellman.scaled_cost()
    residual = bellman.improve(value, trees, cold=True).residual
    solved = Evaluation(bellman).solve(trees, residual, target)
    witness = TreeWitness(bellman, value, trees)
    coupled = bm.Coupling(problem, witness, lambda: np.zeros(problem.shape)).matrix().toarray()
    missed = residual - (solved.x - problem.discount * coupled @ solved.x)
    assert np.abs(missed).max() <= 2 * target * max(1.0, np.abs(solved.x).max())


@given(strategies.tame_problems(max_states=4, stop=False))
def test_the_matrix_of_compact_trees(problem):
    """It is that of ordinary trees up to single precision, and its rows sum to one."""
    if not problem.cost.any():
        return
    bellman = Bellman.of(problem)
    matrices = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bisimetric.operators.trees.COMPACT_FROM", 0)
        for may_round in (False, True):
            trees = new_trees(bellman, may_round=may_round)
            assert is_compact(trees) is may_round
            bellman.improve(bellman.scaled_cost(), trees, cold=True)
            matrices.append(Evaluation(bellman)._matrix(trees).toarray())
    np.testing.assert_allclose(matrices[1], matrices[0], atol=1e-7)
    np.testing.assert_allclose(matrices[1].sum(axis=1), 1.0, atol=1e-15)


def full_problem(n, m, *, cost=None):
    """Two full chains with rewards, in an order of no kind."""
    random = np.random.default_rng(n + 100 * m)
    chains = [bm.MarkovChain.normalised(random.random((k, k)) + 0.01, reward=random.random(k)) for k in (n, m)]
    return bm.Problem(*chains, discount=0.9, cost=None if cost is None else random.random((n, m)))


def test_a_start_from_rewards():
    """Where the cost is the distance of rewards, it is one exact sweep over the cost, without pivots."""
    bellman = Bellman.of(full_problem(20, 23))
    cost = bellman.scaled_cost()
    swept = cost + bellman.improve(cost, new_trees(bellman), cold=True).residual.reshape(cost.shape)
    np.testing.assert_allclose(rough_value(bellman, 0.01), swept, rtol=1e-12)


def test_a_start_from_other_costs():
    """Rewards that have nothing to do with the cost change nothing."""
    bellman = Bellman.of(full_problem(20, 23, cost="random"))
    np.testing.assert_array_equal(rough_value(bellman, 0.01), independent_value(bellman, 0.01))


@pytest.mark.parametrize("discount", [0.5, 0.99])
def test_the_independent_coupling(discount):
    """V = c + γ P V Qᵀ."""
    problem = bm.Problem(bm.environments.four_rooms("p1"), bm.environments.grid_3x3(), discount=discount)
    bellman = Bellman.of(problem)
    value = independent_value(bellman, 1e-12)
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    np.testing.assert_allclose(value, bellman.scaled_cost() + discount * P @ value @ Q.T, atol=1e-10)


def test_where_to_begin():
    """A rough value is between the cost and the largest value, and zero between a state and itself."""
    chain = bm.environments.four_rooms("p1")
    problem = bm.Problem(chain, chain, discount=0.9)
    for bellman in (Bellman.of(problem), Bellman.on_open_pairs(problem)):
        value = rough_value(bellman, 1e-3)
        assert (value >= 0.0).all()
        assert value.max() <= bellman.largest_value()
    assert not np.diag(value).any()

"""The oracles check one another before anything is measured by them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import bisimetric as bm
from tests import reference, strategies


@settings(max_examples=25)
@given(strategies.tame_problems(max_states=3))
def test_the_two_oracles_agree(problem):
    """Floats with linear programs and rationals with vertices give the same distances."""
    exact = np.array(reference.exact_distances(problem), float)
    np.testing.assert_allclose(reference.distances(problem), exact, atol=1e-10 * exact.max())


@settings(max_examples=15)
@given(strategies.problems(max_states=2))
def test_the_rational_oracle_solves_its_equation(problem):
    """V = c + γ·min over vertices holds without any rounding."""
    value = reference.exact_distances(problem)
    n, m = problem.shape
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    for x in range(n):
        for y in range(m):
            right = Fraction(float(problem.cost[x, y]))
            if problem.stop is None or not problem.stop[x, y]:
                right += Fraction(problem.discount) * reference.exact_transport(P[x], Q[y], value)
            assert value[x][y] == right


def test_value_iteration_ends_where_policy_iteration_does():
    """The plain fixed-point iteration with linear programs reaches the same distances."""
    random = np.random.default_rng(0)
    source, target = (bm.MarkovChain(random.dirichlet(np.ones(k), k)) for k in (3, 4))
    problem = bm.Problem(source, target, discount=0.5, cost=random.random((3, 4)))
    value = np.zeros((3, 4))
    for _ in range(45):
        value = reference.bellman(problem, value)
    np.testing.assert_allclose(value, reference.distances(problem), rtol=1e-10)


@pytest.mark.parametrize(("k", "count"), [(2, 2), (3, 6)])
def test_vertices_of_the_birkhoff_polytope(k, count):
    """Equal marginals: the vertices are the permutation matrices."""
    grains = reference.GRAINS // k
    row = tuple((i, grains) for i in range(k))
    plans = reference.vertices(row, row)
    assert len(plans) == count
    assert all(len(plan) == k for plan in plans)


def test_exact_elimination():
    """A small system with a known answer."""
    assert reference.solve_exactly([[3, -1], [-1, 2]], [Fraction(1, 2), Fraction(0)]) == [
        Fraction(1, 5),
        Fraction(1, 10),
    ]


def test_the_two_oracles_of_games_agree():
    """Value iteration in floats and strategy iteration in fractions."""
    mdp = bm.MDP([[[0, 1], [0, 1]], [[1, 0], [0, 1]]], [[3, 2], [1, 2]])
    for matched in (False, True):
        exact = reference.exact_game_distances(mdp, mdp, 0.95, matched=matched)
        plain = reference.game_distances(mdp, mdp, 0.95, matched=matched)
        np.testing.assert_allclose(plain, np.array(exact, float), atol=1e-12)

"""The shortest way from two models to their distance."""

from __future__ import annotations

import numpy as np

import bisimetric as bm


def test_distance_is_problem_and_solve():
    """All options reach the problem and the solver."""
    left, right = [[0.5, 0.5], [0, 1]], np.eye(2)
    cost = [[0.0, 1.0], [2.0, 0.5]]
    short = bm.distance(left, right, discount=0.8, cost=cost, normalised=True, tol=1e-6)
    problem = bm.Problem(bm.MarkovChain(left), bm.MarkovChain(right), discount=0.8, cost=cost, normalised=True)
    assert np.array_equal(short.value, bm.solve(problem, tol=1e-6).value)
    assert short.problem.normalised
    assert bm.distance(left, left, discount=0.5, cost=np.zeros((2, 2))).gap == 0.0

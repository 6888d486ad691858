"""Bounds on average costs hold for real numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.certificates.average import check_average, proved_steps
from bisimetric.operators.average import AverageBellman
from bisimetric.operators.trees import TreeWitness, new_trees
from tests.reference import BIAS_ERROR, exact_averages
from tests.strategies import average_problems


def outside(certificate, exact, slack):
    """The true values that are not between the bounds."""
    n, m = certificate.value.shape
    return [
        (x, y, float(exact[x][y]), certificate.lower[x, y], certificate.upper[x, y])
        for x in range(n)
        for y in range(m)
        if not Fraction(float(certificate.lower[x, y])) - slack
        <= exact[x][y]
        <= Fraction(float(certificate.upper[x, y])) + slack
    ]


@given(average_problems())
def test_bounds_contain_the_true_averages(problem):
    """In rational arithmetic, for the stored rows and costs; solved to the tolerance or to rounding."""
    solution, exact = bm.solve(problem), exact_averages(problem)
    assert not outside(solution, exact, BIAS_ERROR * Fraction(float(problem.cost.max())))
    assert (solution.lower <= solution.value).all()
    assert (solution.value <= solution.upper).all()
    assert solution.status in (bm.Status.SOLVED, bm.Status.STALLED)
    if problem.cost.any():  # rounding is multiplied by the number of steps to a closed class, nothing else
        allowed = 1e-9 + AverageBellman.of(problem).gap_of(1e-13)
        assert solution.gap <= allowed * float(problem.cost.max())


@given(average_problems())
def test_any_h_gives_valid_bounds(problem):
    """A bad one gives wide bounds: here the cost itself, with nothing known on the way."""
    if not problem.cost.any():
        return
    operator = AverageBellman.of(problem)
    bellman = operator.bellman
    value, trees = bellman.consistent(bellman.scaled_cost()), new_trees(bellman)
    bellman.improve(value, trees, cold=True)
    found = check_average(operator, value, TreeWitness(bellman, value, trees), None)
    assert not outside(found, exact_averages(problem), BIAS_ERROR * Fraction(float(problem.cost.max())))


@pytest.mark.parametrize("rare", [1e-6, 1e-9])
def test_halves_that_are_rarely_left(rare):
    """Rounding is relative to h, which is as large as 1/rare: wide intervals, never wrong ones."""
    halves = [[1 - rare, rare, 0, 0], [rare, 0.5 - rare, 0.5, 0], [0, 0.5, 0.5 - rare, rare], [0, 0, rare, 1 - rare]]
    cost = np.random.default_rng(0).random((4, 2))
    problem = bm.AverageProblem(bm.MarkovChain(halves), bm.MarkovChain([[0.6, 0.4], [0.3, 0.7]]), cost=cost)
    solution = bm.solve(problem)
    assert solution.status is bm.Status.STALLED
    assert solution.gap <= 1e-14 / rare * cost.max()
    assert not outside(solution, exact_averages(problem), BIAS_ERROR)


def test_zeros_are_exact():
    """Pairs that can stay together forever at no cost, and all pairs that lead to such."""
    flip = bm.MarkovChain([[0, 1, 0], [1, 0, 0], [0.5, 0, 0.5]], reward=[0, 1, 7])
    solution = bm.average_distance(flip, flip)
    for bound in (solution.value, solution.lower, solution.upper):
        assert bound[0, 0] == bound[1, 1] == bound[2, 2] == 0.0
    assert solution.value[0, 1] == 1.0
    random = np.random.default_rng(1).dirichlet(np.ones(6), 6)
    dense = bm.average_distance(random, random, cost=1.0 - np.eye(6))
    assert dense.interval == (0.0, 0.0)


def test_steps_are_proved_or_refused():
    """Bounds on the expected steps; none where they are too many for rounding."""
    slow = bm.MarkovChain([[0.75, 0.25], [0, 1]], reward=[0, 1])
    steps = proved_steps(AverageBellman.of(bm.AverageProblem(slow, slow)))
    assert (steps >= [[8, 4], [4, 0]]).all()
    assert np.allclose(steps, [[8, 4], [4, 0]])
    tiny = 2.0**-52
    endless = bm.MarkovChain([[1 - tiny, tiny], [0, 1]], reward=[0, 1])
    assert proved_steps(AverageBellman.of(bm.AverageProblem(endless, slow))) is None


def test_averages_near_zero_are_known_relative_to_the_costs():
    """1/3 is rounded, in another order in a renumbered graph: at 1e-16 instead of zero, and solved nevertheless."""
    first = np.array([[0, 1, 1, 1], [1, 0, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])
    order = [2, 0, 3, 1]
    one, other = (matrix / matrix.sum(axis=1, keepdims=True) for matrix in (first, first[np.ix_(order, order)]))
    cost = np.not_equal.outer(first.sum(axis=1), first.sum(axis=1)[order]).astype(float)
    solution = bm.average_distance(one, other, cost=cost, tol=1e-9)
    assert solution.status is bm.Status.SOLVED
    assert solution.distance < 1e-12
    assert solution.relative_gap == pytest.approx(solution.gap / max(solution.upper.max(), 1e-3))

"""Bounds without a discount: numbers of steps are proved, and no value gives a wrong interval."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.certificates.undiscounted import check_undiscounted, known_ends, prove_steps
from bisimetric.operators.trees import TreeWitness, new_trees
from bisimetric.operators.undiscounted import UndiscountedBellman, find_ends, longest_times, swept_times
from bisimetric.problems.bisimilarity import BisimilarityProblem
from tests import reference
from tests.bisimulation.labelled import coin, ending_chains, fading


def operator_of(source, target):
    """The operator between the known distances, and those."""
    problem = BisimilarityProblem(source, target)
    ends = find_ends(problem.quotient)
    return problem, ends, UndiscountedBellman.between_ends(problem.quotient, ends)


@given(ending_chains(), ending_chains())
def test_proved_steps_hold_exactly(source, target):
    """w ≥ 1 + max <π, w> in rational numbers."""
    problem, ends, operator = operator_of(source, target)
    assume(ends.open.any())
    steps = prove_steps(longest_times(operator), 0.0)
    exact = np.vectorize(Fraction, otypes=[object])(steps)
    lumps = problem.quotient.source, problem.quotient.target
    rows = [reference.marginals(lump.chain.transitions) for lump in lumps]
    for x, y in np.argwhere(ends.open):
        for plan in reference.vertices(rows[0][x], rows[1][y]):
            assert exact[x, y] >= 1 + sum(Fraction(g, reference.GRAINS) * exact[c] for c, g in plan.items())


def test_wrong_steps_prove_nothing():
    """Too few, negative, not finite, or hidden by row errors."""
    _, _, operator = operator_of(coin(0.5, 0.25), coin(0.75, 0.25))
    right = -longest_times(operator).value
    assert prove_steps(swept_times(operator, right), 0.0) is not None
    assert prove_steps(swept_times(operator, 0.25 * right), 0.0) is None
    assert prove_steps(swept_times(operator, -right), 0.0) is None
    assert prove_steps(swept_times(operator, right), 0.9) is None
    assert prove_steps(replace(swept_times(operator, right), value=np.full(right.shape, -np.inf)), 0.0) is None


@given(ending_chains(), ending_chains(), st.randoms(use_true_random=False))
def test_any_value_gives_a_valid_interval(source, target, random):
    """Far from the truth it is wide, never wrong."""
    problem, ends, operator = operator_of(source, target)
    assume(ends.open.any())
    steps = prove_steps(longest_times(operator), 0.0)
    guess = np.vectorize(lambda _: random.random())(ends.value)
    value = np.where(ends.known, ends.value, guess)
    trees = new_trees(operator)
    operator.improve(value, trees, cold=True)
    found = check_undiscounted(operator, value, TreeWitness(operator, value, trees), 0.0, ends, steps)
    truth = reference.exact_bisimilarity_distances(source, target, np.equal.outer(*problem.classes))
    small = truth[np.ix_(problem.quotient.source.first, problem.quotient.target.first)]
    as_fractions = np.vectorize(Fraction, otypes=[object])
    assert (as_fractions(found.lower) <= small).all()
    assert (small <= as_fractions(found.upper)).all()


def test_row_errors_widen_the_interval():
    """By half their sum, times the number of steps."""
    _, ends, operator = operator_of(coin(0.5, 0.25), coin(0.75, 0.25))
    steps = prove_steps(longest_times(operator), 0.0)
    trees = new_trees(operator)
    operator.improve(ends.value, trees, cold=True)
    witness = TreeWitness(operator, ends.value, trees)
    narrow, wide = (check_undiscounted(operator, ends.value, witness, error, ends, steps) for error in (0.0, 0.01))
    assert (wide.upper - narrow.upper)[ends.open].max() == pytest.approx(0.005 * steps.max(), rel=1e-6)


def test_before_any_solver():
    """Known distances, and [0, 1] elsewhere."""
    _, ends, _ = operator_of(coin(0.5, 0.25), coin(0.75, 0.25))
    found = known_ends(ends)
    assert np.array_equal(found.upper - found.lower, ends.open.astype(float))
    assert np.array_equal(found.lower[ends.known], ends.value[ends.known])


def test_certify_takes_any_guess():
    """A good one gives a narrow interval, a bad one a wide one, and none is wrong."""
    source, target = fading(5, 1), fading(6, 2)
    solution = bm.bisimilarity_distance(source, target)
    again = bm.certify(solution.problem, solution.value)
    assert again.gap <= 1e-9
    for guess in (np.zeros((5, 6)), np.ones((5, 6)), np.full((5, 6), 7.0)):
        found = bm.certify(solution.problem, guess)
        assert (found.lower <= solution.upper).all()
        assert (solution.lower <= found.upper).all()
    assert bm.certify(bm.bisimilarity_distance(source, source).problem, np.ones((5, 5))).upper.diagonal().max() == 0.0
    same = bm.MarkovChain([[1.0]], labels=["a"])
    assert bm.certify(BisimilarityProblem(same, same), [[1.0]]).upper.tolist() == [[0.0]]

"""Known distances, and the largest expected number of steps to them."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given

from bisimetric.operators.undiscounted import UndiscountedBellman, find_ends, longest_times, swept_times
from bisimetric.problems.bisimilarity import BisimilarityProblem
from tests import reference
from tests.bisimulation.labelled import coin, ending_chains, labelled_chains

SWEEPS = 400


@given(labelled_chains(), labelled_chains())
def test_known_distances_are_right(source, target):
    """Against the oracle, also those that a graph search finds to be 1."""
    problem = BisimilarityProblem(source, target)
    quotient, ends = problem.quotient, find_ends(problem.quotient)
    truth = reference.exact_bisimilarity_distances(source, target, np.equal.outer(*problem.classes))
    small = truth[np.ix_(quotient.source.first, quotient.target.first)].astype(float)
    assert np.array_equal(ends.value[ends.known], small[ends.known])
    assert ((small[ends.open] > 0) & (small[ends.open] < 1)).all() or not ends.open.any()


@given(ending_chains(), ending_chains())
def test_numbers_of_steps_are_those_of_the_slowest_coupling(source, target):
    """Against value iteration from below over listed couplings."""
    problem = BisimilarityProblem(source, target)
    ends = find_ends(problem.quotient)
    assume(ends.open.any())
    operator = UndiscountedBellman.between_ends(problem.quotient, ends)
    found = -longest_times(operator).value
    naive = naive_steps(problem.quotient, ends.open)
    assert (found >= naive - 0.05).all()  # evaluations are that accurate
    assert np.allclose(found, naive, rtol=0.2, atol=0.05) or naive.max() > SWEEPS / 20
    again = swept_times(operator, naive)
    assert np.array_equal(again.value, -naive)


def naive_steps(quotient, free):
    """w = 1 + max <π, w>, by SWEEPS applications to zero."""
    rows = [reference.marginals(lump.chain.transitions) for lump in (quotient.source, quotient.target)]
    pairs = [(x, y) for x, y in product(range(len(rows[0])), range(len(rows[1]))) if free[x, y]]
    plans = {pair: reference.vertices(rows[0][pair[0]], rows[1][pair[1]]) for pair in pairs}
    steps = np.zeros(free.shape)
    for _ in range(SWEEPS):
        after = np.zeros(free.shape)
        for pair in pairs:
            means = (sum(g * steps[c] for c, g in plan.items()) / reference.GRAINS for plan in plans[pair])
            after[pair] = 1.0 + max(means)
        steps = after
    return steps


def test_one_number_stands_for_the_discount():
    """Gaps, spans and contraction follow from the largest number of steps as they do from 1/(1-γ)."""
    problem = BisimilarityProblem(coin(0.5, 0.25), coin(0.75, 0.25))
    operator = UndiscountedBellman.between_ends(problem.quotient, find_ends(problem.quotient))
    assert operator.most_steps == np.inf
    steps = -longest_times(operator).value
    known = UndiscountedBellman(*(getattr(operator, name) for name in FIELDS), steps=steps)
    assert known.most_steps == steps.max() == pytest.approx(16 / 7, rel=0.1)  # it ends with probability 7/16
    assert known.span_of(known.gap_of(0.125)) == 0.125
    assert replace(known, row_error=0.5).gap_of(0.0) == 0.5 * known.most_steps  # no step gets below that
    assert 0.0 < known.contraction < 1.0


FIELDS = ("source", "target", "cost", "scale", "discount", "stop", "pairs", "starts", "cost_error")

"""The operator of a problem: its scale, its bounds, and what is known of it without solving."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.operators.bellman import Bellman, as_rows, is_immediate, power_of_two
from bisimetric.operators.trees import new_trees
from tests import reference, strategies


@given(strategies.problems())
def test_one_sweep_is_the_operator(problem):
    """T V - V by linear programs, for a value in the operator's scale; the bounds of MacQueen hold the fixed point."""
    if not problem.cost.any():
        return
    bellman = Bellman.of(problem)
    value = bellman.scaled_cost()
    found = bellman.improve(value, new_trees(bellman), cold=True)
    scaled = bm.Problem(
        problem.source, problem.target, discount=problem.discount, cost=bellman.scaled_cost(), stop=problem.stop
    )
    swept = reference.bellman(scaled, value)
    np.testing.assert_allclose(bellman.plus(value, found.residual), swept, rtol=1e-12, atol=1e-12)
    below, above = bellman.bounds(found)
    truth = bm.solve(problem)
    slip = 1e-9 * bellman.largest_value()
    assert (swept + below <= truth.upper * bellman.scale + slip).all()
    assert (truth.lower * bellman.scale <= swept + above + slip).all()


@given(strategies.problems())
def test_the_scale_is_exact(problem):
    """A power of two that brings the largest cost into [1, 2); no distance exceeds the largest value."""
    if not problem.cost.any():
        return
    bellman = Bellman.of(problem)
    assert 1.0 <= bellman.largest_cost < 2.0
    if problem.cost.max() > 1e-290:
        assert np.array_equal(bellman.scaled_cost() / bellman.scale, problem.cost)
    assert bm.solve(problem).lower.max() * bellman.scale <= bellman.largest_value()


def test_plus_leaves_its_arguments_alone():
    """On all pairs and on a list of pairs."""
    chain = bm.environments.four_rooms("p1")
    problem = bm.Problem(chain, chain, discount=0.9)
    for bellman in (Bellman.of(problem), Bellman.on_open_pairs(problem)):
        value = bellman.scaled_cost()
        change = np.arange(float(bellman.pairs.size))
        before = value.copy(), change.copy()
        after = bellman.plus(value, change)
        assert np.array_equal(value, before[0])
        assert np.array_equal(change, before[1])
        assert np.array_equal(bellman.pairs.gather(after), bellman.pairs.gather(value) + change)


@pytest.mark.parametrize(("discount", "cost", "known"), [(0.0, 1.0, True), (0.5, 0.0, True), (0.5, 1.0, False)])
def test_what_needs_no_solver(discount, cost, known):
    """No future, or nothing to pay."""
    chain = bm.MarkovChain([[1.0]])
    assert is_immediate(bm.Problem(chain, chain, discount=discount, cost=[[cost]])) is known


def test_starts_and_rows():
    """The joint law of independent starts; rows as kernels take them."""
    chain = bm.MarkovChain([[0.5, 0.5], [0.0, 1.0]], start=0)
    problem = bm.Problem(chain, chain.with_start([0.25, 0.75]), discount=0.5, cost=np.eye(2))
    assert Bellman.of(problem).start_law().tolist() == [[0.25, 0.75], [0.0, 0.0]]
    no_start = bm.MarkovChain(chain.transitions)
    assert (
        Bellman.of(bm.Problem(no_start, chain, discount=0.5, cost=np.eye(2))).start_law().tolist() == [[0.25] * 2] * 2
    )
    rows = as_rows(chain.transitions)
    assert (rows.indptr.tolist(), rows.indices.tolist(), rows.data.tolist()) == ([0, 2, 3], [0, 1, 1], [0.5, 0.5, 1.0])


@pytest.mark.parametrize("largest", [5e-324, 1e-300, 0.75, 1.0, 3.0, 1e300])
def test_powers_of_two(largest):
    """Into [1, 2), or as near as a float comes."""
    scale = power_of_two(largest)
    assert np.frexp(scale)[0] == 0.5
    assert 1.0 <= largest * scale < 2.0 or scale == 2.0**1022

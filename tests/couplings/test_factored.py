"""Couplings in factored form: starts, half projections and what is read from them."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.couplings.factored import Factored, largest_exponent
from bisimetric.couplings.rounded import RoundedWitness
from bisimetric.errors import NotEnoughMemory
from bisimetric.operators.bellman import Bellman

RANDOM = np.random.default_rng(3)
PROBLEM = bm.Problem(
    *(bm.MarkovChain(RANDOM.dirichlet(np.ones(k), k)) for k in (4, 3)), discount=0.8, cost=RANDOM.random((4, 3))
)
BELLMAN = Bellman.of(PROBLEM)


def side(state, by_source):
    """How far the marginals of one side are off at each pair."""
    return state.marginals()[0 if by_source else 1]


@pytest.mark.parametrize("by_source", [True, False])
def test_a_half_projection_repairs_one_side(by_source):
    """Its own marginals are right afterwards; those of the other side are what the step made of them."""
    state = Factored.start(BELLMAN, "independent")
    assert side(state, True).max() <= 1e-14
    state.project(by_source, 3.0, BELLMAN.scaled_cost())
    assert side(state, by_source).max() <= 1e-13
    assert side(state, not by_source).max() > 1e-3
    assert state.by_source is by_source
    state.balance(not by_source)
    assert side(state, not by_source).max() <= 1e-13


def test_balancing_ends_at_couplings():
    """Sinkhorn's projections in turn; the dual value then is the entropic transport's, above the exact one."""
    state = Factored.start(BELLMAN, "independent")
    value = BELLMAN.scaled_cost()
    state.price(value, 5.0)
    for k in range(400):
        state.balance(k % 2 == 0)
    assert max(side(state, True).max(), side(state, False).max()) <= 1e-12
    exact = bm.solve(PROBLEM)
    assert state.dual_value().shape == PROBLEM.shape
    assert (state.dual_value() >= BELLMAN.scaled_cost() - 1e-12).all()
    cells = RoundedWitness(state, value).cells(0, 12)
    assert cells.weight.sum() == pytest.approx(12.0)
    assert exact.status is bm.Status.SOLVED


def test_memory_is_asked_for_first(free_memory):
    """With the remedy."""
    free_memory(100)
    with pytest.raises(NotEnoughMemory, match="the scalings of 4 x 3 state pairs"):
        Factored.start(BELLMAN, "independent")


def test_the_largest_exponent():
    """Steps times the largest value, or infinity."""
    assert largest_exponent(BELLMAN, 2.0) == pytest.approx(2.0 * BELLMAN.largest_value())
    assert largest_exponent(BELLMAN, 1e308) == np.inf
    assert largest_exponent(BELLMAN, np.inf) == np.inf

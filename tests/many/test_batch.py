"""Which problems are put side by side."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.many.batch import MOST_BATCHED_STATES, Batch, batches, fits


def flip(discount=0.9, n=2, cost=1.0):
    """A problem between two walks that jump anywhere."""
    chain = bm.MarkovChain(np.full((n, n), 1.0 / n))
    return bm.Problem(chain, bm.MarkovChain(chain.transitions), discount=discount, cost=np.full((n, n), cost))


def test_batches_hold_equal_discounts_and_few_states():
    """Every problem is in one of them."""
    asked = [flip(0.9 if k % 3 else 0.5) for k in range(MOST_BATCHED_STATES)]
    found = list(batches(asked))
    assert sorted(place for places in found for place in places) == list(range(len(asked)))
    for places in found:
        assert len({asked[place].discount for place in places}) == 1
        assert sum(asked[place].shape[0] for place in places) <= MOST_BATCHED_STATES


def test_large_and_trivial_problems_do_not_fit():
    """They have nothing to gain, or need no solver."""
    assert fits(flip())
    assert not fits(flip(n=20))
    assert not fits(flip(0.0))
    assert not fits(flip(cost=0.0))
    assert not fits("four-rooms:p1")


def test_costs_that_scaling_would_round_do_not_fit():
    """Subnormal numbers, before or after."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]])
    for costs in ([[1e300, 1e-20], [0, 1]], [[1e-310, 0], [0, 0]]):
        assert not fits(bm.Problem(chain, chain, discount=0.5, cost=costs))


def test_a_batch_stops_outside_its_blocks():
    """Costs are scaled to [1, 2), and pairs of different problems are free."""
    batch = Batch.of([flip(cost=3e-9), flip(n=3, cost=5e7)])
    assert batch.whole.shape == (5, 5)
    inside = np.zeros((5, 5), bool)
    inside[:2, :2] = inside[2:, 2:] = True
    np.testing.assert_array_equal(batch.whole.stop, ~inside)
    assert (batch.whole.cost[~inside] == 0).all()
    assert ((batch.whole.cost[inside] >= 1) & (batch.whole.cost[inside] < 2)).all()

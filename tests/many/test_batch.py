"""Which problems are put side by side."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.many.batch import BATCHES, FEWEST_TOGETHER, MOST_TOGETHER, batches, fitting


def flip(discount=0.9, n=2, cost=1.0, **options):
    """A problem between two walks that jump anywhere."""
    chain = bm.MarkovChain(np.full((n, n), 1.0 / n))
    twin = bm.MarkovChain(chain.transitions)
    return bm.Problem(chain, twin, discount=discount, cost=np.full((n, n), cost), **options)


def test_batches_hold_equal_discounts_and_cost_errors():
    """Every problem is in one of them; those that stop are among themselves."""
    asked = [
        flip(0.9 if k % 3 else 0.5, normalised=k % 2 == 0, stop=np.eye(2) > 0 if k % 5 else None) for k in range(60)
    ]
    found = list(batches(asked, range(1, 60)))
    alone = {30}  # the only one of its kind
    assert sorted(place for places, _ in found for place in places) == sorted(set(range(1, 60)) - alone)
    assert len(found) == 7
    for places, together in found:
        assert together.parts == [asked[place] for place in places]
        assert len({(part.discount, part.cost_error, part.stop is None) for part in together.parts}) == 1


def test_long_lists_are_cut():
    """So that threads share them, and a time limit and Ctrl-C need not wait."""
    for count, size in ((20 * MOST_TOGETHER, MOST_TOGETHER), (BATCHES * 100, 100), (200, FEWEST_TOGETHER)):
        asked = [flip()] * count
        found = [len(places) for places, _ in batches(asked, fitting(asked))]
        assert found[0] == max(found) == size
        assert sum(found) == count


def test_large_and_trivial_problems_do_not_fit():
    """They have nothing to gain, or need no solver; other things are for `solve` to refuse."""
    asked = [flip(), flip(n=20), flip(0.0), flip(cost=0.0), "four-rooms:p1", flip()]
    assert fitting(asked) == [0, 5]
    assert fitting([]) == []


def test_costs_that_scaling_would_round_do_not_fit():
    """Subnormal numbers, before or after."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]])
    costs = ([[1e300, 1e-20], [0, 1]], [[1e-310, 0], [0, 0]], [[1e300, 0], [1e290, 1e300]])
    assert fitting([bm.Problem(chain, chain, discount=0.5, cost=cost) for cost in costs]) == [2]


def test_uncertain_chains_do_not_fit():
    """Their certificate is another one."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], row_error=0.1)
    assert fitting([bm.Problem(chain, chain, discount=0.5)]) == []

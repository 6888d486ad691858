"""What a joint walk knows of its pairs."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.couplings.joint_walk import JointWalk
from tests import strategies


@given(st.just(0.0) | st.floats(1e-300, 1e3), strategies.discounts)
def test_costs_are_as_given(cost, discount):
    """The factor of a normalised problem is taken out again, to the last bit where that is possible."""
    chain = bm.MarkovChain([[1.0]], start=0)
    problem = bm.Problem(chain, chain, discount=discount, cost=[[cost]], normalised=True)
    coupling = bm.solve(problem).coupling
    law = np.ones((1, 1))
    walk = JointWalk((chain, chain), law, coupling.moves(), law, problem.cost, law, discount, normalised=True)
    assert abs(walk.given_cost(0, 0) - cost) <= 1e-15 * cost
    assert walk.given_cost(0, 0) * (1 - discount) == problem.cost[0, 0]


def test_amounts_without_a_discount():
    """Visits are not divided by anything; chains have no actions."""
    chain = bm.MarkovChain(np.eye(2), names=["a", "b"])
    none = np.zeros((2, 2))
    moves = bm.solve(bm.Problem(chain, chain, discount=0.5, cost=none)).coupling.moves()
    walk = JointWalk((chain, chain), none, moves, none + 3, none + 2, none, 1.0, normalised=False)
    assert (walk.amounts == 6).all()
    assert walk.names(1, 0) == ("b", "a")
    assert walk.action_names(0, 1) is None

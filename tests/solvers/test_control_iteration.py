"""Policy iteration on one decision process."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given

import bisimetric as bm
from bisimetric.operators.control import ControlBellman
from bisimetric.problems.control import Control
from bisimetric.solvers import ControlIteration
from tests import strategies


def iterates(mdp, discount, steps):
    """The first iterates of a process."""
    bellman = ControlBellman.of(Control(mdp, discount=discount))
    found = [ControlIteration().init(bellman, None)]
    for _ in range(steps):
        found.append(ControlIteration().step(bellman, found[-1]))
    return found


@given(strategies.mdps(n_actions=3, partial=True))
def test_values_of_the_policies_rise(mdp):
    """Each policy that is evaluated earns at least as much as the one before, in every state."""
    values = [iterate.value for iterate in iterates(mdp, 0.9, 4)[1:]]
    for before, after in pairwise(values):
        assert (after >= before - 1e-9).all()


def test_two_policies_are_enough_where_there_is_one_choice():
    """One state earns more by the other action: the first policy is already best."""
    mdp = bm.MDP([np.eye(2), np.eye(2)], [[0.0, 1.0], [2.0, 1.0]])
    last = iterates(mdp, 0.5, 1)[-1]
    assert last.witness.tolist() == [1, 0]
    assert last.gap <= 1e-15


def test_it_is_known_by_its_name():
    """As every solver."""
    assert bm.solvers.by_name("control-iteration") == ControlIteration()
    assert "control-iteration" not in bm.solvers.all_solvers()


def test_it_rests_where_only_rounding_is_left():
    """Rewards this small cannot be bounded closely, and a solve ends all the same."""
    mdp = bm.MDP([np.eye(1), np.eye(1)], [[5e-324, 0.0]])
    found = bm.solve(Control(mdp, discount=0.5))
    assert found.status is bm.Status.STALLED
    assert len(found.history) < 5

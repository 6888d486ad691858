"""Arrows of policies."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.arrows import draw_arrows, has_arrow, policy_weights
from bisimetric.views.figures import new_figure
from bisimetric.views.grid_cells import checked_cells


def arrows(mdp, weights):
    """Where the arrows point: (column, row) to (columns right, rows down), rounded."""
    axes = new_figure((4.0, 4.0)).add_subplot()
    draw_arrows(axes, mdp, checked_cells(mdp.names), weights, set())
    (quiver,) = axes.collections
    steps = zip(quiver.U, quiver.V, strict=True)
    ways = [np.array(step) for step in steps]
    return {
        tuple(np.round(at + way / 2).astype(int)): tuple(np.sign(way.round(6)).astype(int))
        for at, way in zip(quiver.XY, ways, strict=True)
    }


def test_actions_by_name():
    """An arrow goes where its action is meant to, also at a border; none in holes and at the goal."""
    lake = bm.as_mdp("gym:FrozenLake-v1")
    drawn = arrows(lake, policy_weights(lake, [0] * 16, None))
    assert set(drawn.values()) == {(-1, 0)}
    assert len(drawn) == 11
    assert has_arrow(lake, checked_cells(lake.names)).sum() == 11


def test_actions_without_directions():
    """The arrow goes to the mean of the successors; beside the map there is none."""
    move, stay = [[0, 1, 0], [0, 1, 0], [0, 0, 1]], np.eye(3)
    mdp = bm.MDP([move, stay], np.zeros((3, 2)), names=["(0,0)", "(0,1)", "(0,2)"], actions=["go", "no"])
    assert arrows(mdp, policy_weights(mdp, [0, 0, 0], None)) == {(0, 0): (1, 0)}
    assert arrows(mdp, policy_weights(mdp, [1, 1, 1], None)) == {}


def test_policies():
    """A best one by name needs a discount; others have none."""
    lake = bm.as_mdp("gym:FrozenLake-v1,is_slippery=false")
    best = policy_weights(lake, "optimal", 0.9)
    assert best[14, 2] == 1.0
    assert policy_weights(lake, "uniform", None) == pytest.approx(np.full((16, 4), 0.25))
    for policy, discount in (("optimal", None), ("uniform", 0.9), ([0], None)):
        with pytest.raises(InvalidOption):
            policy_weights(lake, policy, discount)

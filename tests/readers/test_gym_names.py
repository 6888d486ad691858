"""Names, labels and actions of environments that are like the known ones, and of others."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import bisimetric as bm

STAY = [[[(1.0, k, 0.0, False)]] for k in range(6)]


@pytest.mark.parametrize(
    "attributes",
    [{"shape": (2, 3)}, {"nrow": np.int64(2), "ncol": 3}, {"desc": np.array([list("SFA"), list("HG#")], "S1")}],
)
def test_maps_of_other_packages(attributes):
    """A shape, rows and columns, or a drawing that fits the number of states makes cells."""
    mdp = bm.from_gymnasium(SimpleNamespace(P=STAY, **attributes))
    assert mdp.names == ("(0,0)", "(0,1)", "(0,2)", "(1,0)", "(1,1)", "(1,2)")
    if "desc" in attributes:
        assert mdp.labels == ("frozen", "frozen", "A", "hole", "goal", "#")


@pytest.mark.parametrize(
    "attributes", [{}, {"shape": (2, 2)}, {"shape": (6,)}, {"shape": "2x3"}, {"nrow": 2.0, "ncol": 3}]
)
def test_no_map(attributes):
    """States without names."""
    mdp = bm.from_gymnasium(SimpleNamespace(P=STAY, **attributes))
    assert (mdp.names, mdp.actions, mdp.labels) == (None, None, ("",) * 6)


class TaxiEnv(SimpleNamespace):
    """Has the name of the known environment, and another number of actions."""


def test_a_smaller_taxi():
    """Names are the decoded fields; unknown actions have numbers."""
    drawing = np.array([list("+---+"), list("|R:G|"), list("+---+")], "S1")
    fields = [(0, column, passenger, 1) for column in range(2) for passenger in range(3)]
    mdp = bm.from_gymnasium(TaxiEnv(P=STAY, desc=drawing, locs=[(0, 0), (0, 1)], decode=lambda state: fields[state]))
    assert mdp.names[0] == "taxi (0,0), passenger R, destination G"
    assert mdp.names[5] == "taxi (0,1), passenger in the taxi, destination G"
    assert mdp.actions is None

"""Maps stand on their cells, graphs are laid out, and models with the same states share a layout."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import MissingExtra
from bisimetric.views.report import drawings as module
from bisimetric.views.report.drawings import drawings, mean_moves
from tests.views.report.models import decision_process, protocol


def drawn(model):
    """The drawing of one model."""
    return drawings((model, model))[0]


def test_grids_stand_on_their_map():
    """Column and row of the name, from the corner of the map."""
    chain = bm.environments.matching_four_rooms()
    found = drawn(chain)
    assert found["map"]
    column, row = (np.array(found[axis]) for axis in "xy")
    cells = np.array([eval(name) for name in chain.names])
    assert np.array_equal(np.column_stack([row, column]), cells - cells.min(axis=0))


def test_other_states_stand_beside_the_map():
    """A few of them; with many it is no map."""
    names = ["(0,0)", "(0,1)", "(0,2)", "(1,0)", "terminal"]
    found = drawn(bm.MarkovChain(np.eye(5), names=names))
    assert found["map"]
    assert found["beside"] == [4]
    assert found["x"][4] > max(found["x"][:4])
    many = [f"terminal {k}" for k in range(5)]
    assert not drawn(bm.MarkovChain(np.eye(10), names=names + many))["map"]


def test_graphs_are_laid_out_in_the_unit_square():
    """Every state has its own place, and it is the same every time."""
    first, second = (drawn(protocol(0.1)) for _ in range(2))
    places = np.column_stack([first["x"], first["y"]])
    assert not first["map"]
    assert places.min() == 0
    assert places.max() == 1
    assert len(np.unique(places, axis=0)) == 5
    assert first == second


@pytest.mark.parametrize("states", [1, 2])
def test_the_smallest_graphs(states):
    """Numbers, and no division by zero."""
    found = drawn(bm.MarkovChain(np.eye(states)))
    assert np.isfinite([found["x"], found["y"]]).all()
    assert found["moves"] == [[], [], []]
    assert found["stay"] == [1.0] * states


def test_models_with_the_same_states_share_a_layout():
    """So that one sees what differs."""
    one, other = drawings((protocol(0.05), protocol(0.2)))
    assert (one["x"], one["y"]) == (other["x"], other["y"])
    assert one["moves"] != other["moves"]


def test_moves_are_those_of_the_chain():
    """All but staying, which stands apart."""
    chain = protocol(0.1)
    found = drawn(chain)
    rows = chain.transitions.toarray()
    assert found["stay"] == pytest.approx(np.diag(rows))
    again = np.diag(np.array(found["stay"]))
    again[found["moves"][0], found["moves"][1]] = found["moves"][2]
    assert again == pytest.approx(rows)
    assert found["start"] == [[0, 1.0]]


def test_many_moves_are_thinned_evenly(monkeypatch):
    """Every state keeps its likeliest, and a note says how many are missing."""
    monkeypatch.setattr(module, "MOST_MOVES", 12)
    rows = np.random.default_rng(0).dirichlet(np.ones(6), 6)
    found = drawn(bm.MarkovChain(rows))
    heads, tails, _ = found["moves"]
    likeliest = np.where(np.eye(6, dtype=bool), 0, rows).argmax(axis=1)
    assert {(x, int(y)) for x, y in enumerate(likeliest)} <= set(zip(heads, tails, strict=True))
    assert found["notes"] == ["The 12 most likely moves are drawn, 18 others are not."]


def test_large_models_are_not_drawn(monkeypatch):
    """A note says so; names are still there."""
    monkeypatch.setattr(module, "MOST_GRAPH_STATES", 4)
    monkeypatch.setattr(module, "MOST_MAP_STATES", 4)
    for model in (protocol(0.1), bm.environments.grid_3x3()):
        found = drawn(model)
        assert found["x"] is None
        assert "too large" in found["notes"][0]
        assert found["names"] == list(model.names)


def test_names_that_are_too_long_become_numbers(monkeypatch):
    """Single long names are cut."""
    assert max(map(len, drawn(bm.MarkovChain(np.eye(2), names=["x" * 5000, "y"]))["names"])) == 60
    monkeypatch.setattr(module, "NAME_BUDGET", 10)
    found = drawn(protocol(0.1))
    assert found["names"] is None
    assert "index" in found["notes"][0]


def test_decision_processes_move_by_the_mean_over_their_actions():
    """Over those that are available."""
    mdp = decision_process()
    assert mean_moves(mdp).toarray() == pytest.approx(mdp.under("uniform").transitions.toarray())
    partly = bm.MDP(mdp.transitions, mdp.rewards, available=[[True, True], [True, False], [False, True]])
    assert mean_moves(partly).toarray() == pytest.approx(partly.under("uniform").transitions.toarray())
    assert "mean over the available actions" in drawn(mdp)["notes"][0]


def test_a_missing_networkx_is_named(monkeypatch):
    """With the command that installs it; maps do without."""
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"pip install 'bisimetric\[plot\]'"):
        drawn(protocol(0.1))
    assert drawn(bm.environments.grid_3x3())["map"]

"""Models as graphs, and back."""

from __future__ import annotations

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption, MissingExtra
from tests import strategies
from tests.io.io_samples import chains, mdps


@pytest.mark.parametrize("name", chains())
def test_a_chain_comes_back(name):
    """Rows, reward, start, names and labels."""
    assert bm.from_networkx(bm.to_networkx(chains()[name])) == chains()[name]


@pytest.mark.parametrize("name", mdps())
def test_a_decision_process_comes_back(name):
    """Also its available actions."""
    graph = bm.to_networkx(mdps()[name])
    assert bm.as_mdp(graph) == mdps()[name]
    with pytest.raises(InvalidChain, match=r"bisimetric\.as_mdp"):
        bm.from_networkx(graph)
    with pytest.raises(InvalidChain, match="only under a policy"):
        bm.as_chain(graph)


@given(strategies.mdps(n_actions=2, partial=True, start=True))
def test_any_decision_process_comes_back(mdp):
    """And its chains."""
    assert bm.as_mdp(bm.to_networkx(mdp)) == mdp
    chain = mdp.under("uniform")
    assert bm.as_chain(bm.to_networkx(chain)) == chain


def test_attributes():
    """Those of a chain and those of a process."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[1, 2], start=0, names=["a", "b"], labels=["x", "y"])
    graph = bm.to_networkx(chain)
    assert graph.nodes["a"] == {"reward": 1.0, "label": "x", "start": 1.0}
    assert graph["a"]["b"] == {"weight": 0.5}
    process = bm.to_networkx(bm.as_mdp(chain))
    assert process["a"]["b"][0] == {"weight": 0.5, "action": 0, "reward": 1.0}


def test_wrong_processes():
    """Edges without an action, and rewards that differ."""
    graph = nx.MultiDiGraph([("a", "a", {"action": "go"}), ("a", "b", {}), ("b", "b", {"action": "go"})])
    with pytest.raises(InvalidChain, match="from 'a' to 'b' has no action"):
        bm.as_mdp(graph)
    for attributes in ({"reward": 1.0}, {"reward": "x"}, {"weight": np.nan}):
        both = nx.MultiDiGraph([("a", "a", {"action": 0, "weight": 0.5}), ("a", "b", {"action": 0, **attributes})])
        with pytest.raises(InvalidChain, match="the same on all edges"):
            bm.as_mdp(both)


def test_what_is_no_model(monkeypatch):
    """And what is missing without NetworkX."""
    with pytest.raises(InvalidOption, match="model is a list"):
        bm.to_networkx([[1.0]])
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(MissingExtra, match=r"bisimetric\[graph\]"):
        bm.to_networkx(bm.MarkovChain([[1.0]]))

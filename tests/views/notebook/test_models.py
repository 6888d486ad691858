"""Models in notebooks: facts, first states, and where those lead."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.views.notebook.models import SHOWN_STATES
from tests.views.notebook.parsed import EVIL, HOSTILE, HOSTILE_MDP, page


def test_a_chain():
    """States with names, labels, rewards and successors; its matrix."""
    shown = page(bm.environments.four_rooms("p1"))
    assert {"40", "140", "(1,3)", "3: room, door, goal", "0 to 1"} <= set(shown.texts)
    assert "(0,0) 0.5 · (0,1) 0.25 · (1,0) 0.25" in shown.texts
    assert f"… and {40 - SHOWN_STATES} more states" in shown.texts
    assert shown.images == 1
    assert "svg onload" in page(HOSTILE).text


def test_a_chain_with_nothing_but_rows():
    """No empty columns."""
    shown = page(bm.MarkovChain(np.full((6, 6), 1 / 6)))
    assert not {"reward", "label", "labels", "start"} & set(shown.texts)
    assert any(text.endswith("… 2 more") for text in shown.texts)
    spread = bm.MarkovChain(np.eye(3), start=[0.5, 0.5, 0])
    assert "a distribution on 2 states" in page(spread).texts


def test_large_chains_are_abbreviated():
    """No picture, and no text that grows with the number of states."""
    chain = bm.environments.four_rooms(side=30)
    shown = page(chain)
    assert shown.images == 0
    assert len(chain._repr_html_()) < 10_000


def test_a_decision_process():
    """Only actions that a state has."""
    assert "svg onload" in page(HOSTILE_MDP).text
    lake = bm.from_gymnasium("FrozenLake-v1")
    shown = page(lake)
    assert {"4: left, down, right, up", "(0,0) 0.6667 · (1,0) 0.3333"} <= set(shown.texts)
    assert "… and 52 more pairs of a state and an action" in shown.texts
    part = bm.MDP([np.eye(2)] * 2, np.zeros((2, 2)), available=[[True, False], [True, True]])
    assert page(part).text.count(" 1\n") == 3
    assert EVIL not in shown.text


def test_a_policy():
    """Action and bounds of each state."""
    shown = page(bm.from_gymnasium("FrozenLake-v1").optimal_policy(discount=0.9))
    assert {"action", "lower", "… and 6 more states"} <= set(shown.texts)

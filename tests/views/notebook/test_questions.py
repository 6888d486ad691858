"""Questions in notebooks."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from tests.views.notebook.parsed import HOSTILE_MDP, page


def test_a_problem():
    """Sizes, discount, cost and stops; the costs as a picture or as numbers."""
    room = bm.environments.four_rooms("p1")
    stop = np.zeros((40, 40), np.bool_)
    stop[0, :3] = True
    shown = page(bm.Problem(room, room, discount=0.95, normalised=True, stop=stop, cost=bm.cost.label_mismatch))
    assert {"40 x 40", "0.95", "yes, times 1-γ", "3 of 1600 pairs"} <= set(shown.texts)
    assert shown.images == 1
    small = bm.MarkovChain(np.eye(2))
    assert {"an array", "0.75"} <= set(page(bm.Problem(small, small, discount=0, cost=[[0, 1], [0.75, 0]])).texts)


def test_without_a_discount():
    """The question of bisimilarity."""
    room = bm.environments.four_rooms("p1")
    assert "none" in page(bm.bisimilarity_distance(room, room, discount=1).problem).texts


def test_a_game():
    """Which actions meet."""
    game = bm.bisimulation_metric(HOSTILE_MDP, discount=0.5, actions="matched").problem
    assert "2 and 2, matched" in page(game).texts

"""The question about two decision processes: what is refused, and with which remedy."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, InvalidProblem, NotEnoughMemory
from bisimetric.problems.game import Game

MDP = bm.MDP([[[0, 1], [0, 1]], [[1, 0], [0, 1]]], [[3, 2], [1, 2]])
STAY = [[1.0]]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (bm.MDP([STAY], [[0]]), bm.MDP([STAY] * 2, [[0, 0]])),
        (bm.MDP([STAY] * 2, [[0, 0]], actions=["a", "b"]), bm.MDP([STAY] * 2, [[0, 0]], actions=["b", "c"])),
        (bm.MDP([np.eye(2)] * 2, np.zeros((2, 2)), available=[[True, True], [False, True]]), None),
        (bm.MDP([STAY] * 2, [[0, 0]], available=[[True, False]]), bm.MDP([STAY] * 2, [[0, 0]])),
    ],
    ids=["number", "names", "inside one process", "availability"],
)
def test_actions_that_do_not_correspond(source, target):
    """The remedy is the metric that needs no correspondence."""
    with pytest.raises(InvalidProblem, match='actions="matched"'):
        bm.bisimulation_metric(source, target, discount=0.9)
    assert bm.bisimulation_metric(source, target, discount=0.9, actions="matched").status is bm.Status.SOLVED


@pytest.mark.parametrize(
    ("source", "target", "options", "kind"),
    [
        (MDP, None, {"actions": "lax"}, InvalidOption),
        (MDP, None, {"discount": 1.0}, InvalidProblem),
        (MDP, None, {"discount": -0.1}, InvalidProblem),
        (MDP, None, {"tol": 0.0}, InvalidOption),
        (MDP, bm.MarkovChain(STAY, reward=[0]), {}, InvalidProblem),
        (bm.MarkovChain(STAY, reward=[0]), MDP, {}, InvalidProblem),
        (bm.MarkovChain(STAY), None, {}, InvalidProblem),
        (bm.MarkovChain(STAY, reward=[0]), None, {"actions": "matched"}, InvalidOption),
        (bm.MDP([STAY], [[1e308]]), bm.MDP([STAY], [[-1e308]]), {}, InvalidProblem),
    ],
)
def test_bad_input(source, target, options, kind):
    """Refused before any work."""
    with pytest.raises(kind):
        bm.bisimulation_metric(source, target, **{"discount": 0.9, **options})


def test_memory_is_estimated_first(free_memory):
    """Of the costs with a thousand bytes, of the transport trees with more."""
    mdp = bm.environments.four_rooms_mdp(side=4)
    for free in (1000, 400_000):
        free_memory(free)
        with pytest.raises(NotEnoughMemory, match="needs about"):
            bm.bisimulation_metric(mdp, discount=0.9, actions="matched")


def test_games_are_of_processes():
    """A chain is refused, with the function that makes a process of it."""
    with pytest.raises(InvalidProblem, match="as_mdp"):
        Game(MDP, bm.MarkovChain(STAY), discount=0.9)

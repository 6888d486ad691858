"""Maps with starts, rewards and labels."""

from __future__ import annotations

import numpy as np

import bisimetric as bm
from bisimetric.views.figures import new_figure
from bisimetric.views.grid_cells import checked_cells
from bisimetric.views.maps import draw_map


def drawn(chain):
    """The texts in the cells of a map, by row and column, and the line below it."""
    axes = new_figure((4.0, 4.0)).add_subplot()
    draw_map(axes, chain, checked_cells(chain.names), "title")
    at = {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in axes.texts}
    return at, axes.get_xlabel()


def test_a_frozen_lake():
    """Holes, the goal, the start, and the reward next to the goal."""
    marks, key = drawn(bm.from_gymnasium("FrozenLake-v1", policy="uniform"))
    holes = dict.fromkeys([(1, 1), (1, 3), (2, 3), (3, 0)], "H")
    assert marks == holes | {(0, 0): "S", (3, 2): "+0.25", (3, 3): "G"}
    assert key.split("\n") == ["S: start, numbers: rewards,", "H: hole, G: goal"]


def test_a_decision_process():
    """Rewards are those of the best or worst action."""
    marks, key = drawn(bm.from_gymnasium("FrozenLake-v1", options={"is_slippery": False}))
    assert marks[3, 2] == "+1"
    assert marks[2, 3] == "H"
    assert "numbers: largest rewards" in key


def test_a_cliff():
    """Letters tell the cliff, which is grey; colours the rewards beside it, where numbers could not be read."""
    marks, key = drawn(bm.from_gymnasium("CliffWalking-v1", policy="uniform"))
    assert marks[3, 11] == "G"
    assert {marks[3, k] for k in range(1, 11)} == {"C"}
    assert (2, 1) not in marks
    assert "blue: rewards down to −25.8" in key
    assert "C: cliff" in key


def test_a_state_beside_the_map():
    """It has its name, and no letter."""
    lake = bm.from_gymnasium("FrozenLake-v1", policy="uniform", start=15)
    marks, _ = drawn(lake)
    assert marks[3, 3] == "S"
    assert "terminal" in marks.values()
    figure = bm.distance(lake, lake.with_start(0), discount=0.9).plot()
    assert len(figure.axes) == 3


def grid(labels, reward=None):
    """A row of cells with these labels."""
    names = [f"(0,{k})" for k in range(len(labels))]
    return bm.MarkovChain(np.eye(len(labels)), names=names, labels=labels, reward=reward)


def test_letters():
    """As short as they can be without being mixed up; none for the most frequent label, numbers or many labels."""
    floor = ["floor"] * 6
    assert drawn(grid([*floor, "lava", "water"]))[0] == {(0, 6): "L", (0, 7): "W"}
    assert drawn(grid([*floor, "wall", "water"]))[0] == {(0, 6): "Wal", (0, 7): "Wat"}
    assert drawn(grid([*floor, "swamp", ""]))[0] == {(0, 6): "Sw"}
    assert drawn(grid([*floor, "a$x$", "\n"]))[0] == {(0, 6): "A", (0, 7): r"\n"}
    assert drawn(grid([*floor, 1, 2]))[0] == {}
    assert drawn(grid(list("abcdefgh")))[0] == {}
    assert drawn(grid(["x", "y"] * 4))[0] == {}


def test_the_reward_of_most_cells():
    """It is said below the map instead of in every cell."""
    assert drawn(grid(["x"] * 4, [-1, -1, -1, 2])) == ({(0, 3): "+2"}, "numbers: rewards, else −1")
    assert drawn(grid(["x"] * 4, [-1] * 4)) == ({}, "all rewards −1")

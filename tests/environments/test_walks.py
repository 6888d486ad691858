"""Walks on free cells: two ways to treat a wall."""

from __future__ import annotations

import pytest

from bisimetric.environments import grid

CROOKED = """
    S.#
    .#D
    G..
"""


def test_stay_walk_by_hand():
    """A quarter a direction; blocked moves stay, so a dead end stays three times out of four."""
    transitions = grid(CROOKED).transitions.toarray()
    assert transitions[0].tolist() == [0.5, 0.25, 0.25, 0, 0, 0, 0]
    assert transitions[1].tolist() == [0.25, 0.75, 0, 0, 0, 0, 0]
    assert transitions[5].tolist() == [0, 0, 0, 0, 0.25, 0.5, 0.25]


def test_neighbours_walk_by_hand():
    """Uniform over the free neighbours, never staying."""
    transitions = grid(CROOKED, walk="neighbours").transitions.toarray()
    assert transitions[0].tolist() == [0, 0.5, 0.5, 0, 0, 0, 0]
    assert transitions[1].tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert not transitions.diagonal().any()


@pytest.mark.parametrize("walk", ["stay", "neighbours"])
def test_lonely_cell_stays(walk):
    """Without a free neighbour both walks stay."""
    assert grid(".#.", walk=walk).transitions.toarray().tolist() == [[1, 0], [0, 1]]


def test_walks_do_not_wrap_around_the_edge():
    """The last cell of a row is not next to the first of the same or the next row."""
    transitions = grid("...\n...\n...").transitions.toarray()
    assert transitions[2].tolist() == [0, 0.25, 0.5, 0, 0, 0.25, 0, 0, 0]

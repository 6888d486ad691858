"""Maps drawn in characters: which cells are states, and what a mistake is called."""

from __future__ import annotations

import pytest

from bisimetric.environments import grid
from bisimetric.errors import InvalidOption

CROOKED = """
    S.#
    .#D
    G..
"""


def test_states_are_the_free_cells_row_by_row():
    """Names give row and column; walls get no state."""
    assert grid(CROOKED).names == ("(0,0)", "(0,1)", "(1,0)", "(1,2)", "(2,0)", "(2,1)", "(2,2)")


def test_the_map_carries_goal_start_and_doors():
    """G is +1, S the start, D a door; goals, doors and rooms are labelled."""
    chain = grid(CROOKED)
    assert chain.reward.tolist() == [0, 0, 0, 0, 1, 0, 0]
    assert chain.start.tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert chain.labels == ("room", "room", "room", "door", "goal", "room", "room")


def test_indentation_and_line_ends_do_not_matter():
    """The same map written in three ways gives the same states."""
    plain = grid("S#\n.G")
    for other in ("\n\n    S#\n    .G   \n    ", "S#\r\n.G\r\n", "\tS#\n\t.G"):
        chain = grid(other)
        assert chain.names == plain.names
        assert (chain.transitions != plain.transitions).nnz == 0


@pytest.mark.parametrize(
    ("ascii_map", "words"),
    [
        ("", ["empty", "'.'", "'#'"]),
        (" \n \n", ["empty"]),
        ("..\n...", ["row 1", "3 cells", "row 0 has 2", "fill short rows"]),
        ("..\n\n..", ["row 1", "0 cells"]),
        ("..\n.x", ["'x'", "row 1, column 1", "# . D G S"]),
        ("  ..\n....", ["' '", "row 0, column 0"]),
        ("##\n##", ["no free cell", "'.'"]),
        ("S.\n.S", ["2 start cells", "(0, 0)", "(1, 1)", "start="]),
        (["..", ".."], ["list", "string"]),
    ],
)
def test_bad_maps_are_explained(ascii_map, words):
    """The message says what came, where, and the remedy."""
    with pytest.raises(InvalidOption) as error:
        grid(ascii_map)
    for word in words:
        assert word in str(error.value)

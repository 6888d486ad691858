"""Walks on ASCII maps."""

import numpy as np
import pytest

from bisimetric.environments import grid, grid_3x3, open_grid
from bisimetric.errors import InvalidChain, InvalidOption


def test_rewards_from_a_dict_lie_over_the_map():
    """A dict sets single cells and leaves the map's goals."""
    assert grid("G..", reward={(0, 2): -0.5}).reward.tolist() == [1, 0, -0.5]
    assert grid("G..", reward={(0, 0): 3}).reward.tolist() == [3, 0, 0]
    assert grid("G..", reward={}).reward.tolist() == [1, 0, 0]


def test_rewards_from_an_array_replace_the_map():
    """One value per state stands for itself, and is not modified."""
    given = np.array([2.0, 3.0, 4.0])
    assert grid("G..", reward=given).reward.tolist() == [2, 3, 4]
    assert given.flags.writeable


@pytest.mark.parametrize("start", [(1, 1), 3, "(1,1)", np.array([0.0, 0, 0, 1])])
def test_start_by_cell_state_name_or_distribution(start):
    """All four forms mean the same, and win over S."""
    assert grid("S.\n..", start=start).start.tolist() == [0, 0, 0, 1]


def test_no_start_without_s():
    """Nothing is invented where nothing is given."""
    assert grid("..").start is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"reward": {(0, 1): 1.0}}, "which is a wall"),
        (
            {"reward": {(5, 0): 1.0}},
            "outside of the map",
        ),
        ({"reward": {(0, -1): 1.0}}, "outside of the map"),
        ({"reward": {0: 1.0}}, "reward names 0"),
        ({"reward": {(0, 0.5): 1.0}}, "expected a cell"),
        ({"reward": {(0, 0): "much"}}, "expected real numbers"),
        ({"reward": [1.0]}, "reward has 1 entries"),
        ({"reward": [1.0, np.nan]}, r"reward\[1\] is nan"),
        ({"start": (0, 1)}, "start names cell .* wall"),
        (
            {"walk": "neighbour"},
            "did you mean 'neighbours'",
        ),
        ({"walk": None}, "walk is None"),
    ],
)
def test_bad_options_are_explained(options, message):
    """Rewards and starts must be on free cells, and the walk known."""
    with pytest.raises(InvalidOption, match=message):
        grid(".#.", **options)


def test_start_out_of_range_is_the_chains_error():
    """What is not a cell is checked by the chain."""
    with pytest.raises(InvalidChain, match="state 7 is out of range"):
        grid("..", start=7)


def test_grid_3x3():
    """Nine states, start upper left, +1 lower left, uniform over two, three or four neighbours."""
    chain = grid_3x3()
    assert chain.n_states == 9
    assert np.flatnonzero(chain.reward).tolist() == [6]
    assert chain.reward[6] == 1
    assert np.flatnonzero(chain.start).tolist() == [0]
    assert np.diff(chain.transitions.indptr).tolist() == [2, 3, 2, 3, 4, 3, 2, 3, 2]
    assert chain.transitions.toarray()[4].tolist() == [0, 0.25, 0, 0.25, 0, 0.25, 0, 0.25, 0]
    assert not chain.transitions.diagonal().any()


@pytest.mark.parametrize(
    ("corner", "goal", "start"),
    [("north-west", 0, 24), ("north-east", 4, 20), ("south-west", 20, 4), ("south-east", 24, 0)],
)
def test_open_grid_goal_and_start_are_opposite_corners(corner, goal, start):
    """Corners stay half of the time, edges a quarter, inner cells never."""
    chain = open_grid(5, corner=corner)
    assert np.flatnonzero(chain.reward).tolist() == [goal]
    assert np.flatnonzero(chain.start).tolist() == [start]
    stay = chain.transitions.diagonal().reshape(5, 5)
    assert (stay[[0, 0, -1, -1], [0, -1, 0, -1]] == 0.5).all()
    assert (stay[0, 1:-1] == 0.25).all()
    assert not stay[1:-1, 1:-1].any()


def test_open_grid_default_corner_and_smallest_size():
    """The goal is south-east unless said; one cell is goal and start at once."""
    assert np.flatnonzero(open_grid(3).reward).tolist() == [8]
    assert open_grid(1).transitions.toarray().tolist() == [[1]]
    assert open_grid(1).reward.tolist() == open_grid(1).start.tolist() == [1]


@pytest.mark.parametrize(
    ("k", "corner", "message"),
    [
        (0, "south-east", "k is 0"),
        (2.5, "south-east", "k is 2.5"),
        (True, "south-east", "k is True"),
        (3, "south", "did you mean 'south-"),
    ],
)
def test_open_grid_errors(k, corner, message):
    """Sizes are positive whole numbers; corners have four names."""
    with pytest.raises(InvalidOption, match=message):
        open_grid(k, corner=corner)

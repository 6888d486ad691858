"""What `solution.plot()` shows."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.pictures import texts


def chain(names, *, start=None):
    """States that stay where they are, with rewards 0, 1, 2, …"""
    return bm.MarkovChain(np.eye(len(names)), reward=np.arange(len(names)), names=names, start=start)


def test_two_grids():
    """Both maps with starts and rewards, and the distance from the source's start to every cell of the target."""
    solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    figure = solution.plot()
    source, target, heat = figure.axes
    start = int(np.argmax(solution.problem.source.start))
    (image,) = heat.images
    assert image.get_array().compressed() == pytest.approx(solution.value[start])
    assert image.get_array().mask.sum() == 9
    marks = [{text.get_position(): text.get_text() for text in axes.texts} for axes in (source, target)]
    assert marks == [{(3, 1): "S", (1, 3): "+1"}, {(0, 4): "S", (2, 0): "+1", (2, 1): "+1"}]
    title = figure.get_suptitle()
    assert "γ = 0.95" in title
    assert "0.435582" in title
    assert f"certified gap {solution.gap:.1e}" in title


def test_a_law_as_start():
    """From a distribution, the distance to a cell is the mean over where it starts."""
    grid = bm.environments.grid_3x3()
    spread = grid.with_start([0.5, 0, 0, 0.25, 0, 0, 0, 0, 0.25])
    solution = bm.distance(spread, grid, discount=0.9)
    (image,) = solution.plot().axes[2].images
    mean = 0.5 * solution.value[0] + 0.25 * solution.value[3] + 0.25 * solution.value[8]
    assert image.get_array().compressed() == pytest.approx(mean)
    assert image.get_array()[0, 0] == pytest.approx(solution.distance)


def test_given_axes():
    """With axes, only the heat map is drawn, or the matrix."""
    figure = Figure()
    left, right = figure.subplots(1, 2)
    grids = bm.distance("grid-3x3", "open-grid:3", discount=0.5)
    assert bm.plot.distances(grids, ax=left) is figure
    others = bm.solve(bm.Problem(chain(["a", "b"]), chain(["a", "b", "c"]), discount=0.5))
    assert others.plot(ax=right) is figure
    assert left.images[0].get_array().shape == (3, 3)
    assert right.images[0].get_array().shape == (2, 3)
    assert figure.axes == [left, right]


def test_matrix():
    """Otherwise the whole matrix, rows for the source, with names; no distance between starts that are not there."""
    solution = bm.solve(bm.Problem(chain(["x", "y"]), chain(["a", "b", "c"]), discount=0.5))
    figure = solution.plot()
    (axes,) = figure.axes
    assert axes.images[0].get_array().tolist() == solution.value.tolist()
    assert [label.get_text() for label in axes.get_xticklabels()] == ["a", "b", "c"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["x", "y"]
    assert any(text.startswith("distance (discounted") for text in texts(figure))
    assert "γ = 0.5" in axes.get_title("left")
    assert "starts" not in axes.get_title("left")
    with_starts = bm.solve(bm.Problem(chain(["x", "y"], start=0), chain(["a", "b", "c"], start=2), discount=0.5)).plot()
    assert "distance between the starts 4" in with_starts.axes[0].get_title("left")


def test_grids_without_starts():
    """There is no start to measure from, so it is the matrix."""
    grid = bm.MarkovChain(np.eye(50), reward=np.zeros(50), names=[f"(0,{k})" for k in range(50)])
    other = bm.MarkovChain(np.eye(50), reward=np.ones(50), names=grid.names)
    (axes,) = bm.solve(bm.Problem(grid, other, discount=0.5)).plot().axes
    assert axes.images[0].get_array().shape == (50, 50)


def test_decision_processes():
    """A metric between decision processes is drawn as well."""
    rooms = bm.environments.four_rooms_mdp(side=2)
    metric = bm.bisimulation_metric(rooms, rooms.with_start(3), discount=0.5)
    figure = metric.plot()
    (image,) = figure.axes[2].images
    assert image.get_array().compressed() == pytest.approx(metric.value[0])
    assert "normalised" in figure.get_suptitle()
    assert all("arrows: policy" in axes.get_xlabel() for axes in figure.axes[:2])


def test_a_model_with_itself():
    """Its states at their distances, not a row from its start; a cost that is not symmetric gives a matrix."""
    figure = bm.bisimulation_metric("grid-3x3", discount=0.5).plot()
    _, _, points = figure.axes
    assert len(points.collections[0].get_offsets()) == 9
    assert "distances between the states of grid-3x3" in figure.get_suptitle()
    assert "of mine" in bm.distance("grid-3x3", "grid-3x3", discount=0.5).plot(names=("mine", "mine")).get_suptitle()
    lopsided = bm.distance(chain(["a", "b"]), chain(["a", "b"]), discount=0.5, cost=[[0, 1], [2, 0]])
    assert lopsided.plot().axes[0].images


def test_tables_of_distances():
    """Points for one list of chains, a matrix for two lists or fewer than three chains."""
    rooms = ["small-four-rooms:a", "small-four-rooms:b", "grid-3x3"]
    (axes,) = bm.pairwise(rooms, discount=0.5).plot().axes
    assert {text.get_text() for text in axes.texts} == set(rooms)
    assert bm.pairwise(rooms[:2], discount=0.5).plot().axes[0].images
    assert bm.pairwise(rooms, rooms[:1], discount=0.5).plot(names=(list("abc"), ["x"])).axes[0].images


def test_wide_maps_stand_one_above_the_other():
    """So that their cells can be read."""
    cliff = bm.from_gymnasium("CliffWalking-v1", policy="uniform")
    source, target, _ = bm.distance(cliff, cliff.with_start(0), discount=0.5).plot().axes
    assert source.get_position().x0 == target.get_position().x0


def test_many_rewards_are_told_by_colour():
    """Where numbers could not be read, the sign is a colour, and the label says so."""
    reward = np.linspace(-1, 1, 100)
    grid = bm.environments.grid("\n".join(["." * 10] * 10), reward=reward, start=(0, 0))
    source = bm.distance(grid, grid.with_start(1), discount=0.5).plot().axes[0]
    assert [text.get_text() for text in source.texts] == ["S"]
    assert "orange" in source.get_xlabel()
    assert source.images[0].get_array().ravel().tolist() == [2] * 50 + [1] * 50


def test_what_is_no_solution():
    """The error says what makes one."""
    with pytest.raises(InvalidOption, match="solution is a str"):
        bm.plot.distances("x")


def test_long_names_of_grids_have_a_line_of_their_own():
    """Over maps, which are narrow; the end of a name, which may be what differs, is kept, and newlines are escaped."""
    long = "gym:FrozenLake-v1,map_name=8x8,success_rate=0.25"
    solution = bm.distance("grid-3x3", "open-grid:3", discount=0.5)
    left, middle, *_ = bm.plot.distances(solution, names=(long, "a\n" + long)).axes
    title = left.get_title(loc="left")
    assert title.startswith("source:\ngym:FrozenLake")
    assert title.endswith("rate=0.25")
    assert max(map(len, title.splitlines())) <= 34
    assert middle.get_title(loc="left").count("\n") == 1

"""What `solution.plot()` shows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.solving.solution import Answer
from bisimetric.views.distances import block_means
from tests.views.pictures import pixels, texts


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
    grids = bm.distance("grid-3x3", "grid-3x3", discount=0.5)
    assert bm.plot.distances(grids, axes=left) is figure
    others = bm.solve(bm.Problem(chain(["a", "b"]), chain(["a", "b", "c"]), discount=0.5))
    assert others.plot(axes=right) is figure
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
    assert "distance" in texts(figure)
    assert "γ = 0.5" in axes.get_title("left")
    assert "starts" not in axes.get_title("left")
    with_starts = bm.solve(bm.Problem(chain(["x", "y"], start=0), chain(["a", "b", "c"], start=2), discount=0.5)).plot()
    assert "distance between the starts 4" in with_starts.axes[0].get_title("left")


def test_grids_without_starts():
    """There is no start to measure from, so it is the matrix, with as many names as can be read."""
    grid = bm.MarkovChain(np.eye(50), reward=np.zeros(50), names=[f"(0,{k})" for k in range(50)])
    (axes,) = bm.solve(bm.Problem(grid, grid, discount=0.5)).plot().axes
    assert axes.images[0].get_array().shape == (50, 50)
    assert not any("(" in label.get_text() for label in axes.get_xticklabels())


def test_decision_processes():
    """A metric between decision processes is drawn as well."""
    metric = bm.bisimulation_metric(bm.environments.four_rooms_mdp(side=2), discount=0.5)
    figure = metric.plot()
    (image,) = figure.axes[2].images
    assert image.get_array().compressed() == pytest.approx(metric.value[0])
    assert "normalised" in figure.get_suptitle()


def test_many_rewards_are_told_by_colour():
    """Where numbers could not be read, the sign is a colour, and the label says so."""
    reward = np.linspace(-1, 1, 100)
    grid = bm.environments.grid("\n".join(["." * 10] * 10), reward=reward, start=(0, 0))
    source = bm.distance(grid, grid, discount=0.5).plot().axes[0]
    assert [text.get_text() for text in source.texts] == ["S"]
    assert "orange" in source.get_xlabel()
    assert source.images[0].get_array().ravel().tolist() == [2] * 50 + [1] * 50


def test_what_is_no_solution():
    """The error says what makes one."""
    with pytest.raises(InvalidOption, match="solution is a str"):
        bm.plot.distances("x")


def test_block_means():
    """Blocks at the far edges are smaller; their means are over what they have."""
    matrix = np.arange(35.0).reshape(5, 7)
    means = block_means(matrix, 3)
    assert means.shape == (2, 3)
    assert means[0, 0] == matrix[:3, :3].mean()
    assert means[1, 2] == matrix[3:, 6:].mean()
    assert block_means(matrix, 1) is matrix


def test_large_matrices_are_drawn_small():
    """16 million pairs are drawn as means over blocks, and the label says so."""

    class Large(Answer):
        """As much of a solution as is drawn; solving this one would take hours."""

        value = np.random.default_rng(0).random((4000, 4000))
        gap = 1e-9
        models = (SimpleNamespace(start=None, names=None, n_states=4000),) * 2
        discounting = "0.9"

    figure = Large().plot()
    pixels(figure)
    assert figure.axes[0].images[0].get_array().shape == (1000, 1000)
    assert "distance, mean over 4 × 4 pairs" in texts(figure)
    assert figure.axes[0].get_xlim() == (-0.5, 3999.5)


def test_long_names_of_grids_have_a_line_of_their_own():
    """Over maps, which are narrow; the end of a name, which may be what differs, is kept, and newlines are escaped."""
    long = "gym:FrozenLake-v1,map_name=8x8,success_rate=0.25"
    solution = bm.distance("grid-3x3", "open-grid:3", discount=0.5)
    left, middle, *_ = bm.plot.distances(solution, names=(long, "a\n" + long)).axes
    title = left.get_title(loc="left")
    assert title.startswith("source:\ngym:FrozenLake")
    assert title.endswith("rate=0.25")
    assert max(map(len, title.splitlines())) <= 36
    assert middle.get_title(loc="left").count("\n") == 1

"""One model on its map."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidOption
from tests.views.pictures import pixels


def test_a_policy_on_its_map():
    """Arrows, the rewards of the policy, holes; the title says where the model comes from."""
    lake = bm.as_mdp("gym:FrozenLake-v1")
    figure = bm.plot.model(lake, policy="optimal", discount=0.95)
    (axes,) = figure.axes
    assert axes.get_title("left") == "gym:FrozenLake-v1"
    assert [text.get_text() for text in axes.texts].count("H") == 4
    assert "arrows: policy" in axes.get_xlabel()
    assert len(axes.collections[-1].U) == 11
    assert pixels(figure).std() > 0


def test_chains_and_axes():
    """A chain has no arrows; axes may be given."""
    figure = Figure()
    left, _ = figure.subplots(1, 2)
    assert bm.plot.model(bm.environments.grid_3x3(), title="mine", ax=left) is figure
    assert left.get_title("left") == "mine"
    assert "arrows" not in left.get_xlabel()


def test_bad_input():
    """Every error says what was expected."""
    with pytest.raises(InvalidOption, match="not a grid"):
        bm.plot.model(bm.MarkovChain(np.eye(2)))
    with pytest.raises(InvalidOption, match="no actions"):
        bm.plot.model(bm.environments.grid_3x3(), policy="uniform")
    with pytest.raises(InvalidOption, match="model is a str"):
        bm.plot.model("grid-3x3")

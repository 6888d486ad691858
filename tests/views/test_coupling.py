"""The coupling of one pair of states."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.figure import Figure

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption
from tests.views.overlaps import ticks
from tests.views.pictures import pixels, texts


@pytest.fixture
def coins():
    """Two coins, one bent."""
    fair = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], names=["toss", "done"], start=0)
    bent = bm.MarkovChain([[0.25, 0.75], [0, 1]], reward=[0, 1], names=["toss", "done"], start=0)
    return bm.distance(fair, bent, discount=0.9)


def test_the_law_and_its_marginals(coins):
    """The colours are the joint law, the bars the rows of the two chains."""
    figure = bm.plot.coupling(coins, "toss", 0, names=("fair", "bent"))
    law, above, beside = figure.axes
    drawn = np.nan_to_num(np.ma.getdata(law.images[0].get_array()))
    assert drawn == pytest.approx(coins.coupling["toss", "toss"].toarray())
    assert [patch.get_height() for patch in above.patches] == pytest.approx([0.25, 0.75])
    assert [patch.get_width() for patch in beside.patches] == pytest.approx([0.5, 0.5])
    assert [label.get_text() for label in ticks(figure, law.yaxis)] == ["toss", "done"]
    title = figure.get_suptitle()
    assert "toss of fair" in title
    assert f"distance {coins.value[0, 0]:.4g}" in title
    assert "0.5\nd 0" in texts(figure)


def test_given_axes(coins):
    """The names then say the marginals."""
    figure = Figure()
    left, _ = figure.subplots(1, 2)
    assert bm.plot.coupling(coins, 0, 0, ax=left) is figure
    assert [label.get_text() for label in ticks(figure, left.yaxis)] == ["toss: 0.5", "done: 0.5"]


def test_decision_processes():
    """The decisive actions are in the title."""
    lake = bm.from_gymnasium("FrozenLake-v1")
    solution = bm.bisimulation_metric(lake, bm.from_gymnasium("FrozenLake-v1,is_slippery=false"), discount=0.9)
    figure = bm.plot.coupling(solution, "(2,2)", "(2,2)")
    mine, theirs = (lake.action_name(int(a)) for a in solution.decisive[10, 10])
    assert mine in figure.get_suptitle()
    assert theirs in figure.get_suptitle()


def test_dense_laws():
    """Colours and a colour bar instead of numbers."""
    figure = bm.plot.coupling(bm.distance("random:15", "random:15,seed=1", discount=0.5), 3, 4)
    assert len(figure.axes) == 4
    assert "probability of both" in texts(figure)
    assert pixels(figure).std() > 0


def test_bad_input(coins):
    """Every error says what was expected."""
    with pytest.raises(InvalidChain, match="unknown"):
        bm.plot.coupling(coins, "nowhere", 0)
    with pytest.raises(InvalidOption, match="solution is a str"):
        bm.plot.coupling("coins", 0, 0)


def test_pairs_that_were_not_solved():
    """Have no distance, and do not make the mean unknown."""
    turn = bm.MarkovChain([[0, 1, 0], [1, 0, 0], [0.5, 0.5, 0]], reward=[0, 1, 5], start=0)
    solution = bm.distance(turn, turn, discount=0.5, pairs="reachable")
    assert np.isnan(solution.value).any()
    assert "nan" not in bm.plot.coupling(solution, 0, 0).get_suptitle()

"""How solves went."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.views.convergence import looks_of
from tests.views.pictures import legend, texts


@pytest.fixture(scope="module")
def problem():
    """Two small grids."""
    return bm.Problem(bm.as_chain("grid-3x3"), bm.as_chain("open-grid:3"), discount=0.9)


def test_certified_intervals(problem):
    """The bands are the intervals of the history; the last is the solution's own."""
    solution = bm.solve(problem, bm.ValueIteration(), look_every=10)
    looks = looks_of(solution)
    assert (looks.lower <= looks.distance).all()
    assert (looks.distance <= looks.upper).all()
    assert (looks.lower[-1], looks.upper[-1]) == solution.interval
    (axes,) = bm.plot.convergence(solution).axes
    (line,) = axes.lines
    assert np.asarray(line.get_xdata()) == pytest.approx(looks.seconds)
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert band.min() == pytest.approx(looks.lower.min())
    assert band.max() == pytest.approx(looks.upper.max())
    assert "grid-3x3 and open-grid:3" in axes.get_title("left")
    assert "seconds" in axes.get_xlabel()


def test_several_solves(problem):
    """Each has its name and colour."""
    runs = {"$v$": bm.ValueIteration(), "p": bm.PolicyIteration()}
    found = {name: bm.solve(problem, solver, look_every=5) for name, solver in runs.items()}
    (axes,) = bm.plot.convergence(found).axes
    assert legend(axes) == ["$v$", "p"]
    assert len({line.get_color() for line in axes.lines}) == 2


def test_gaps(problem):
    """By request, and where no interval is known."""
    looked = bm.solve(problem, bm.ValueIteration(), look_every=5)
    plain = bm.solve(problem, bm.ValueIteration())
    for figure in (bm.plot.convergence(looked, show="gap"), bm.plot.convergence(plain)):
        assert figure.axes[0].get_yscale() == "log"
        assert any("gap" in text for text in texts(figure))
    (line,) = bm.plot.convergence(plain).axes[0].lines
    assert list(line.get_ydata()) == [step.gap for step in plain.history]
    assert bm.plot.convergence(plain, show="interval").axes[0].get_yscale() == "linear"


def test_bad_input(problem):
    """Every error says what was expected."""
    with pytest.raises(InvalidOption, match="empty"):
        bm.plot.convergence({})
    with pytest.raises(InvalidOption, match=r"solutions\['a'\] is a int"):
        bm.plot.convergence({"a": 3})
    with pytest.raises(InvalidOption, match="show is 'all'"):
        bm.plot.convergence(bm.solve(problem), show="all")
    unstarted = bm.MarkovChain(np.eye(2), reward=[0, 1])
    with pytest.raises(InvalidOption, match="no starts"):
        bm.plot.convergence(bm.distance(unstarted, unstarted, discount=0.5), show="interval")


def test_gaps_of_any_size():
    """Beyond what can be drawn they have another unit."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1e300], start=0)
    figure = bm.plot.convergence(bm.distance(chain, chain.with_start(1), discount=0.5), show="gap")
    assert any("unit: 1e" in text for text in texts(figure))

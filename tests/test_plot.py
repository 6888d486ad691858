"""The public module of pictures offers functions of `views`, and nothing else."""

from __future__ import annotations

import bisimetric as bm
from bisimetric import plot


def test_what_it_offers():
    """Every name is documented, lives in `views`, and is what completion shows."""
    assert dir(plot) == plot.__all__ == sorted(plot.__all__, key=lambda name: (name.islower(), name))
    for name in plot.__all__:
        thing = getattr(plot, name)
        assert thing.__module__.startswith("bisimetric.views.")
        assert thing.__doc__
    assert bm.plot is plot


def test_a_solution_draws_itself_with_it():
    """`solution.plot()` is `plot.distances(solution)`."""
    solution = bm.distance("grid-3x3", "grid-3x3", discount=0.5)
    ours, theirs = solution.plot(), plot.distances(solution)
    assert [axes.get_title() for axes in ours.axes] == [axes.get_title() for axes in theirs.axes]

"""Couplings and potentials in notebooks, with the names of the states."""

from __future__ import annotations

import bisimetric as bm
from tests.views.notebook.parsed import page

ROOMS = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)


def test_a_coupling():
    """Where the start leads, as printed."""
    coupling = ROOMS.coupling
    shown = page(coupling)
    for row in coupling.rows():
        assert set(row) - {""} <= set(shown.texts)
    assert "(1,3)" in shown.texts


def test_a_law():
    """A matrix over the successors while they are few, else a list."""
    law = ROOMS.coupling["(0,4)", "(0,5)"]
    assert {"successors of (0,4) and (0,5)", "(0,6)", "0.25"} <= set(page(law).texts)
    dense = [bm.environments.random_chain(12, seed=seed) for seed in (1, 2)]
    many = bm.distance(*dense, discount=0.5).coupling[0, 0]
    assert {"next source", many.rows()[0][-1], many.summary()} <= {*page(many).texts, ""}
    assert (2 * many)._repr_html_() is None


def test_potentials():
    """Of the start, side by side with the successors' names."""
    shown = page(ROOMS.potentials)
    f, g = ROOMS.potentials["(1,3)", "(4,0)"]
    assert {f"{number:.6g}" for number in (*f, *g)} <= set(shown.texts)

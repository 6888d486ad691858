"""Explanations and matchings in notebooks."""

from __future__ import annotations

import bisimetric as bm
from tests.views.notebook.parsed import page

ROOMS = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)


def test_an_explanation():
    """All that it prints, the parting marked."""
    explanation = ROOMS.explain(4)
    shown = page(explanation)
    for cells in (*explanation.rows(), *explanation.path.rows()):
        assert set(cells) <= set(shown.texts)
    assert {explanation.summary(), explanation.path.summary()} <= set(shown.texts)
    assert explanation._repr_html_().count("background:rgba") == 1


def test_a_way_that_never_parts():
    """Nothing is marked."""
    path = bm.distance("four-rooms:p1", "four-rooms:p1", discount=0.95).explain().path
    assert "the two never part" in page(path).texts
    assert "background:rgba" not in path._repr_html_()


def test_a_matching():
    """All that it prints."""
    matching = ROOMS.assignment()
    assert matching.summary() in page(matching).texts
    assert set(matching.rows()[0]) <= set(page(matching).texts)

"""Answers in notebooks."""

from __future__ import annotations

import bisimetric as bm
from tests.views.notebook.parsed import HOSTILE, page

ROOMS = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)


def test_a_solution():
    """The facts that it prints, and all distances."""
    shown = page(ROOMS)
    assert shown.images == 1
    for name, fact in ROOMS._facts():
        assert {name, fact} <= set(shown.texts)
    few = bm.distance(HOSTILE, HOSTILE, discount=0.5)
    small = page(few)
    assert f"{few.value[0, 1]:.4g}" in small.texts
    assert small.images == 0


def test_pairs_that_were_not_solved():
    """They stay empty."""
    one, other = (bm.MarkovChain([[0, 1], [0, 1]], reward=[0, r], start=1) for r in (1, 2))
    part = bm.distance(one, other, discount=0.5, pairs="reachable")
    shown = page(part)
    assert "1 of 4 solved, those that the starts lead to" in shown.texts
    assert "nan" not in shown.text


def test_a_certificate():
    """How wide its intervals are."""
    assert f"{ROOMS.certificate.relative_gap:.1e}" in page(ROOMS.certificate).texts


def test_a_table_of_distances():
    """With its numbers while they are few."""
    found = bm.pairwise(["four-rooms:p0", "four-rooms:p1"], discount=0.9)
    assert {"0.1374", "status SOLVED"} <= set(page(found).texts)


def test_an_aggregation():
    """Which states are merged, the largest clusters first."""
    found = bm.aggregate("four-rooms:p1", n_states=12, discount=0.9)
    shown = page(found)
    assert {"40 -> 12", f"at most {found.distance_bound:.3g}", "… and 2 more clusters, none of them larger"} <= set(
        shown.texts
    )


def test_a_gradient():
    """Whether there may be a kink, and the derivatives by the cost."""
    chain = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    bent = bm.MarkovChain([[0.3, 0.7], [0, 1]], reward=[0, 1], start=0)
    gradient = bm.distance(chain, bent, discount=0.9).gradient()
    shown = page(gradient)
    assert {fact for _, fact in gradient.facts()} | {f"{gradient.cost[0, 1]:.4g}"} <= set(shown.texts)


def test_a_reduction():
    """The certified distance, and the soft map."""
    found = bm.reduce("four-rooms:p1", 6, discount=0.9, descents=0)
    shown = page(found)
    assert {"40 -> 6", found.facts()[1][1]} <= set(shown.texts)
    assert shown.images == 1

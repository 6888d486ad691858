"""The parts of a distance add up to it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import SolverFailed
from tests import strategies


@given(strategies.tame_problems(max_states=4, start=True), st.integers(0, 20))
def test_parts_and_rest_add_up(problem, k):
    """The k largest parts, in order, and the rest make the distance, to 1e-9."""
    solution = bm.solve(problem)
    explanation = solution.explain(k)
    amounts = [part.amount for part in explanation.parts]
    tol = 1e-9 * (solution.value.max() or 1.0)
    assert sum(amounts) + explanation.rest == pytest.approx(solution.distance, abs=tol)
    assert sum(amounts) + explanation.rest == pytest.approx(explanation.distance, rel=1e-12)
    assert explanation.distance == pytest.approx(solution.distance, abs=tol)
    assert amounts == sorted(amounts, reverse=True)
    assert all(amount > 0 for amount in amounts)
    assert len(amounts) == min(k, explanation.n_pairs)
    for part in explanation.parts:
        assert part.amount == pytest.approx(part.occupancy * part.cost / (1 - problem.discount))
        assert part.share == pytest.approx(part.amount / explanation.distance)


@given(st.data(), strategies.tame_problems(max_states=4))
def test_all_parts_from_a_pair(data, problem):
    """All parts together make the distance of the pair asked for, without starts."""
    solution = bm.solve(problem)
    n, m = problem.shape
    pair = data.draw(st.tuples(st.integers(0, n - 1), st.integers(0, m - 1)))
    explanation = solution.explain(n * m, start=pair)
    tol = 1e-9 * (solution.value.max() or 1.0)
    assert sum(part.amount for part in explanation.parts) == pytest.approx(solution.value[pair], abs=tol)
    assert explanation.rest == 0.0


def test_four_rooms():
    """Names, order and shares of a known problem; the table shows them."""
    solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95)
    explanation = solution.explain(5)
    assert len(explanation.parts) == 5
    names = solution.problem.source.names
    assert all(part.source in names for part in explanation.parts)
    text = repr(explanation)
    assert text.splitlines()[0].split() == ["source", "target", "occupancy", "cost", "amount", "share"]
    assert f"{explanation.n_pairs - 5} other pairs" in text
    assert "0.4355817651" in text
    assert sum(part.share for part in explanation.parts) < 1


@pytest.mark.parametrize("normalised", [False, True])
def test_costs_are_those_given(normalised):
    """A cost of 1 is shown as 1, whatever the normalisation; occupancy, cost and amount fit together."""
    one = bm.MarkovChain([[0.5, 0.5], [0.5, 0.5]], reward=[0, 0.3], start=0)
    other = bm.MarkovChain([[0.9, 0.1], [0.5, 0.5]], reward=[1, 0], start=0)
    solution = bm.distance(one, other, discount=0.9, normalised=normalised)
    explanation = solution.explain()
    assert {part.cost for part in explanation.parts} == {1.0, 0.7}
    factor = 1.0 if normalised else 1 - 0.9
    for part, row in zip(explanation.parts, explanation.rows(), strict=True):
        assert part.amount == pytest.approx(part.occupancy * part.cost / factor)
        assert float(row[4]) == pytest.approx(float(row[2]) * float(row[3]) / factor, rel=1e-3)
    assert sum(part.amount for part in explanation.parts) == pytest.approx(solution.distance)
    for text in (repr(explanation), explanation._repr_html_()):
        assert ("occupancy · cost / (1-γ)" in text) == (not normalised)


def test_nothing_to_explain():
    """A distance of zero has no parts."""
    chain = bm.MarkovChain([[0, 1], [1, 0]], reward=[0, 1], start=0)
    explanation = bm.solve(bm.Problem(chain, chain, discount=0.5)).explain()
    assert explanation.parts == ()
    assert explanation.distance == explanation.rest == 0.0


def test_names_are_data():
    """State names are escaped in HTML, and inert in text."""
    evil = "<script>alert(1)</script>"
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1], names=[evil, "b"], start=0)
    page = bm.solve(bm.Problem(chain, chain.with_start(1), discount=0.5)).explain()._repr_html_()
    assert "<script" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("evil", ["\x1b]0;x\x07\x1b[31mred", "two\nlines", "\u202eright to left", "\u2028", "\x9b31m"])
def test_names_are_inert(evil):
    """No escape, no new line and no change of direction in any view."""
    chain = bm.MarkovChain(np.eye(2), reward=[0, 1], names=[evil, "b"], start=0)
    explanation = bm.solve(bm.Problem(chain, chain.with_start(1), discount=0.5)).explain()
    assert explanation.parts[0].source == evil
    assert all(line.isprintable() for line in repr(explanation).split("\n"))
    assert len(repr(explanation).split("\n")) == 8
    assert explanation._repr_html_().isprintable()


def test_parts_that_do_not_add_up_are_refused(monkeypatch):
    """A wrong occupancy cannot become an explanation."""
    solution = bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.9)
    right = solution.coupling.occupancy()
    monkeypatch.setattr(bm.Coupling, "occupancy_of", lambda self, moves, law: 1.01 * right)
    with pytest.raises(SolverFailed, match="add up to"):
        solution.explain()

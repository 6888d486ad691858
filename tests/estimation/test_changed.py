"""Transitions that differ, with intervals and corrected p-values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import bisimetric as bm
from bisimetric.estimation import changed
from tests.estimation.logs import comparison


def test_what_changed_is_found_and_named():
    """The transitions of the process that really differ, and the state that they leave."""
    found = comparison("changed").changed
    moves = {(change.source, change.target) for change in found.significant()}
    assert {("product", "cart"), ("product", "reviews")} <= moves
    assert moves <= {("product", target) for target in ("cart", "reviews", "search", "home")}
    assert found.states[0].name == "product"
    assert found.states[0].effect > 0
    for change in found.significant():
        assert not change.interval[0] <= 0 <= change.interval[1]


def test_nothing_is_found_where_nothing_changed():
    """With the confidence asked for, not one of all transitions."""
    assert not comparison().changed.significant()


def test_intervals_hold_the_difference():
    """And shares are counts over visits."""
    for change in comparison("changed").changed.transitions:
        if min(change.visits) > 0:
            assert change.interval[0] <= change.difference <= change.interval[1]
            assert change.shares[0] == change.counts[0] / change.visits[0]
        else:
            assert np.isnan(change.p_value)
            assert change.interval == (-1, 1)


def test_effects_are_derivatives():
    """A row moved halfway to the other log's shortens the distance by about its effect, twice for all of the way."""
    a = [["x", "x", "y", "x"]] * 30 + [["x", "y", "y", "y"]] * 30
    b = [["x", "x", "y", "x"]] * 20 + [["x", "y", "y", "y"]] * 40
    found = bm.compare(a, b, discount=0.5, resamples=2)
    (state,) = [state for state in found.changed.states if state.name == "x"]
    first, second = (chain.transitions.toarray() for chain in (found.a, found.b))
    step = 1e-4
    rows = first.copy(), second.copy()
    rows[0][0] += step * (second - first)[0]
    rows[1][0] += step * (first - second)[0]
    chains = [bm.MarkovChain(matrix, start=log.start) for matrix, log in zip(rows, (found.a, found.b), strict=True)]
    nearer = bm.distance(*chains, discount=0.5, cost=found.solution.problem.cost).distance
    assert (found.distance - nearer) / (2 * step) == pytest.approx(state.effect, rel=1e-2, abs=1e-6)


@pytest.mark.parametrize(
    ("counts", "visits"), [((3, 9), (12, 14)), ((0, 5), (20, 9)), ((2, 2), (2, 9)), ((1, 0), (8, 7))]
)
def test_small_counts_are_tested_exactly(counts, visits):
    """As Fisher's test in scipy."""
    table = [counts, np.subtract(visits, counts)]
    expected = stats.fisher_exact(table).pvalue
    found = changed._p_values(np.array(counts)[:, None], np.array(visits)[:, None])
    assert found[0] == pytest.approx(expected)


def test_large_counts_are_tested_by_their_shares():
    """As the test of two proportions, which is that of a 2 x 2 table without a correction."""
    counts, visits = np.array([[300], [350]]), np.array([[1000], [1000]])
    expected = stats.chi2_contingency([counts[:, 0], (visits - counts)[:, 0]], correction=False).pvalue
    assert changed._p_values(counts, visits)[0] == pytest.approx(expected)


def test_holm():
    """The k-th smallest times the number of those not smaller; never decreasing."""
    assert changed._holm(np.array([0.04, 0.01, 0.03])).tolist() == pytest.approx([0.06, 0.03, 0.06])


def test_a_frame_of_all_transitions():
    """One row each."""
    found = comparison("changed").changed
    frame = found.frame()
    assert len(frame) == len(found)
    assert frame.columns[-1] == "effect"

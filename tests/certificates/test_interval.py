"""The widening of intervals: enough for what rounding does, and no more than it says."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric._support import blocks
from bisimetric.certificates import interval as interval_module
from bisimetric.certificates.interval import Application, Errors, Range, interval, widening
from bisimetric.models.rows import UNIT_ROUNDOFF
from bisimetric.operators.bellman import Bellman

NUMBERS = st.floats(0.0, 1.0, allow_subnormal=False)


@given(NUMBERS, NUMBERS, st.floats(0.0, 0.9999))
def test_one_state(cost, value, discount):
    """One state that stays: c/(1-γ), rational, lies between the widened bounds that floats give."""
    truth = Fraction(cost) / (1 - Fraction(discount))
    swept = cost + discount * value
    residual = swept - value
    bound = swept + discount / (1.0 - discount) * residual
    down, up = widening(Range(value, value), (residual, residual), cost, discount, Errors(1, 0.0))
    assert Fraction(bound - down) <= truth <= Fraction(bound + up)


def test_what_it_pays_for():
    """Nothing to round, nothing to widen; every error adds to the side it concerns."""
    value = np.array([[0.0, 1.0]])
    exact = widening(Range(0.0, 0.0), (0.0, 0.0), 0.0, 0.9, Errors(3, 0.0))
    assert exact == (0.0, 0.0)
    plain = widening(Range.of(value), (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0))
    assert plain == ((9 * 1.5 * 2 + 8 * 2) * UNIT_ROUNDOFF,) * 2  # one application carried on, then the bounds
    moved = widening(Range.of(value), (0.0, 0.0), 1.0, 0.5, Errors(4, 1e-6))
    assert moved[0] - plain[0] == moved[1] - plain[1]
    np.testing.assert_allclose(moved[0] - plain[0], 1e-6)
    lower_only = widening(Range.of(value), (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, potential=2.0))
    assert lower_only[0] > plain[0]
    assert lower_only[1] == plain[1]
    upper_only = widening(Range.of(value), (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, marginal=1e-6))
    assert upper_only[0] == plain[0]
    assert upper_only[1] > plain[1]
    both = widening(Range.of(value), (0.0, 0.0), 1.0, 0.5, Errors(4, 0.0, cost=1.0))
    assert (both[0] - plain[0], both[1] - plain[1]) == (2.0, 2.0)


ONE = bm.MarkovChain([[1.0]])


def test_gaps():
    """gap is the widest interval, relative_gap its share of the largest bound; zero over zero is zero."""
    certificate = bm.Certificate(np.array([[1.0, 2.0]]), np.array([[0.5, 2.0]]), np.array([[1.5, 4.0]]))
    assert certificate.gap == 2.0
    assert certificate.relative_gap == 0.5
    nothing = bm.certify(bm.Problem(ONE, ONE, discount=0.9, cost=[[0.0]]), [[5.0]])
    assert nothing.relative_gap == nothing.gap == nothing.upper[0, 0] == 0.0
    assert "1 x 2 state pairs, gap 2, relative 0.5" in repr(certificate)


def test_another_estimate_is_cut_to_the_bounds():
    """around() never lets the value leave the interval."""
    certificate = bm.Certificate(np.array([[1.0, 2.0]]), np.array([[0.5, 2.0]]), np.array([[1.5, 4.0]]))
    assert certificate.around(np.array([[100.0, 0.0]]), 2.0).value.tolist() == [[1.5, 2.0]]
    assert certificate.around(None, 1.0) is certificate


def test_certificates_are_read_only_and_leave_out_what_is_not_solved():
    """Pairs that were not solved are NaN, and no gap counts them."""
    value, lower, upper = np.array([[1.0, 2.0]]), np.array([[0.5, 0.0]]), np.array([[1.5, 4.0]])
    certificate = bm.Certificate(value, lower, upper, shortfall=0.25)
    whole = certificate.without(None)
    assert (whole.gap, whole.shortfall) == (4.0, 0.25)
    part = certificate.without(np.array([[False, True]]))
    assert (part.gap, part.relative_gap) == (1.0, 1.0 / 1.5)
    for bound in (part.value, part.lower, part.upper):
        assert np.isnan(bound).tolist() == [[False, True]]
        assert not bound.flags.writeable


@given(st.floats(0.0, 1.0), st.floats(0.0, 2.0), st.floats(0.0, 0.99), st.floats(0.0, 1e-6))
def test_an_interval_holds_the_fixed_point(cost, value, discount, moved):
    """From one application at one pair, whatever value it was applied to; the value itself less the shortfall too."""
    problem = bm.Problem(ONE, ONE, discount=discount, cost=[[cost]])
    if not cost >= 1e-300:
        return
    bellman = Bellman.of(problem)
    applied = cost * bellman.scale + discount * value
    once = Application(
        np.full((1, 1), applied), np.full((1, 1), applied), applied - value, applied - value, Errors(1, moved)
    )
    found = interval(bellman, problem.cost, Range(value, value), lambda: once, lambda *bounds: None)
    truth = Fraction(cost) / (1 - Fraction(discount))
    assert Fraction(found.lower[0, 0]) <= truth <= Fraction(found.upper[0, 0])
    assert found.lower[0, 0] >= cost
    assert Fraction(value) - Fraction(found.shortfall) <= truth * Fraction(bellman.scale)


def test_a_certificate_leaves_the_arrays_that_it_is_given():
    """They are read-only through the certificate only."""
    bounds = [np.array([[1.0]]), np.array([[0.5]]), np.array([[2.0]])]
    certificate = bm.Certificate(*bounds)
    assert not certificate.lower.flags.writeable
    assert all(bound.flags.writeable for bound in bounds)


@pytest.mark.parametrize("threads", ["1", "3"])
def test_parts_change_nothing(monkeypatch, threads):
    """Bounds are made in parts that fit into a cache, and shared by threads: the same bits."""
    problem = bm.Problem(*(bm.environments.random_sparse_chain(n, 3, seed=n) for n in (40, 50)), discount=0.9)
    whole = bm.certify(problem, np.full((40, 50), 2.0))
    monkeypatch.setattr(interval_module, "AT_ONCE", 7)
    monkeypatch.setattr(blocks, "PARALLEL_FROM", 1)
    monkeypatch.setenv("BISIMETRIC_THREADS", threads)
    parts = bm.certify(problem, np.full((40, 50), 2.0))
    for name in ("value", "lower", "upper"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))

"""Distances between the emissions of hidden Markov models."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg, stats

import bisimetric as bm
from bisimetric.errors import InvalidProblem


def hidden(*labels):
    """A chain that stays where it is, with these emissions."""
    return bm.MarkovChain(np.eye(len(labels)), labels=labels)


def gaussian(mean, covariance):
    """The label of a normal law."""
    mean = np.atleast_1d(mean)
    return ("gaussian", len(mean), *mean.tolist(), *np.ravel(covariance).tolist())


def between(one, other):
    """The cost between two emissions."""
    return bm.cost.emissions(hidden(one), hidden(other))[0, 0]


def random_covariance(random, d, condition=10.0):
    """A full one."""
    axes = linalg.qr(random.normal(size=(d, d)))[0]
    found = (axes * np.geomspace(1.0, condition, d)) @ axes.T
    return 0.5 * (found + found.T)


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_gaussians_equal_the_textbook_formula(d):
    """|m - m'|² + tr A + tr A' - 2 tr (A^½ A' A^½)^½, where it does not cancel."""
    random = np.random.default_rng(d)
    for _ in range(5):
        (m, n), (A, B) = random.normal(size=(2, d)), (random_covariance(random, d) for _ in range(2))
        root = linalg.sqrtm(A)
        squared = ((m - n) ** 2).sum() + np.trace(A + B - 2 * linalg.sqrtm(root @ B @ root))
        assert between(gaussian(m, A), gaussian(n, B)) == pytest.approx(np.sqrt(squared), rel=1e-12)


@given(st.integers(2, 3), st.integers(0, 40), st.randoms(use_true_random=False))
def test_accurate_near_equality(d, digits, random):
    """With A' = T A T for a symmetric T > 0 the distance is |(T - I) A^½|, here in rational numbers."""
    A = np.eye(d) * 8 + np.array([[random.randint(-1, 1) for _ in range(d)] for _ in range(d)])
    A = A + A.T
    S = np.array([[random.randint(-3, 3) for _ in range(d)] for _ in range(d)])
    S = S + S.T
    exactly = np.vectorize(Fraction, otypes=[object])
    T = exactly(np.eye(d)) + exactly(S) / 2 ** (digits + 5)
    X = T - exactly(np.eye(d))
    squared = (X @ exactly(A) @ X).trace()
    rounded = (T @ exactly(A) @ T).astype(float)
    found = between(gaussian(np.zeros(d), A), gaussian(np.zeros(d), rounded))
    expected = float(squared) ** 0.5
    lost = 1e-15 * np.abs(A).max()  # where the rounding of A' itself is seen
    assert abs(found - expected) <= 1e-11 * expected + lost


def test_equal_laws_are_at_exactly_zero():
    """Full and singular covariances, near and far from one; and the order does not matter to the last bit."""
    random = np.random.default_rng(1)
    full = [random_covariance(random, 3, condition) for condition in (1e1, 1e6, 1e12)]
    laws = [gaussian(random.normal(size=3), A) for A in [*full, np.zeros((3, 3)), np.diag([1.0, 0.0, 0.0])]]
    cost = bm.cost.emissions(hidden(*laws), hidden(*laws))
    assert not cost.diagonal().any()
    assert np.array_equal(cost, cost.T)
    assert (cost[~np.eye(5, dtype=bool)] > 0).all()


def test_diagonal_and_singular_covariances():
    """Components on their own; a point is at the spread of the other law."""
    assert between(gaussian([0, 0], np.diag([4.0, 9.0])), gaussian([3, 0], np.diag([1.0, 9.0]))) == pytest.approx(
        np.sqrt(9 + 1), rel=1e-15
    )
    random = np.random.default_rng(2)
    A = random_covariance(random, 3)
    assert between(gaussian(np.zeros(3), A), gaussian(np.zeros(3), np.zeros((3, 3)))) == pytest.approx(
        np.sqrt(np.trace(A)), rel=1e-12
    )
    u, v = random.normal(size=(2, 2))  # both of rank one
    expected = np.sqrt(u @ u + v @ v - 2 * abs(u @ v))
    assert between(gaussian([0, 0], np.outer(u, u)), gaussian([0, 0], np.outer(v, v))) == pytest.approx(
        expected, rel=1e-7
    )


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_any_scale(scale):
    """Squares neither vanish nor overflow."""
    random = np.random.default_rng(3)
    A, B = (random_covariance(random, 2) for _ in range(2))
    plain = between(gaussian([0, 1], A), gaussian([2, 0], B))
    scaled = between(gaussian([0, scale], A * scale * scale), gaussian([2 * scale, 0], B * scale * scale))
    assert scaled == pytest.approx(plain * scale, rel=1e-12)


def test_categorical_and_poisson():
    """Total variation, and the difference of means, summed."""
    assert between(("categorical", 0.5, 0.5, 0.0), ("categorical", 0.25, 0.25, 0.5)) == 0.5
    assert between(("poisson", 1.0, 4.0), ("poisson", 3.0, 1.5)) == 4.5
    k = np.arange(200)
    laws = [stats.poisson(rate).cdf(k) for rate in (2.0, 3.5)]
    assert between(("poisson", 2.0), ("poisson", 3.5)) == pytest.approx(np.abs(laws[0] - laws[1]).sum())


def test_errors_are_known():
    """Small for what is added up, larger with the condition of a covariance."""
    random = np.random.default_rng(4)
    plain = hidden(("poisson", 1.0))
    assert 0 < bm.cost.emissions.error(plain, plain) < 1e-14
    diagonal = hidden(gaussian([0, 0], np.diag([1.0, 1e9])))
    assert 0 < bm.cost.emissions.error(diagonal, diagonal) < 1e-14
    good, bad = (hidden(gaussian(np.zeros(3), random_covariance(random, 3, k))) for k in (10.0, 1e15))
    assert 1e-14 < bm.cost.emissions.error(good, good) < 1e-11
    assert 1e-11 < bm.cost.emissions.error(good, bad) <= 1.1e-6


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([("poisson", 1.0), ("categorical", 1.0)], "poisson in state 0 .* and categorical in state 1"),
        (["sunny"], "labels.0. of the source chain is 'sunny', expected a tuple that begins with 'gaussian'"),
        ([("gamma", 1.0)], "expected a tuple that begins with"),
        ([("poisson",)], "no parameters"),
        ([("poisson", 1.0), ("poisson", 1.0, 2.0)], "vectors of one length"),
        ([("gaussian", 2, 0.0, 0.0, 1.0)], "expected d of the mean"),
        ([("gaussian", 1, 0.0, -1.0)], "not symmetric and positive"),
        ([gaussian([0, 0], [[1.0, 0.5], [0.0, 1.0]])], "not symmetric and positive"),
        ([("poisson", float("inf"))], "not finite"),
    ],
)
def test_what_is_refused(labels, message):
    """The error says which state, and what was expected."""
    with pytest.raises(InvalidProblem, match=message):
        bm.Problem(hidden(*labels), hidden(*labels), discount=0.5, cost=bm.cost.emissions)


def test_chains_that_do_not_fit():
    """Other families, dimensions or numbers of symbols, or no labels."""
    for one, other, message in [
        (("poisson", 1.0), ("categorical", 1.0), "one family"),
        (("categorical", 1.0), ("categorical", 0.5, 0.5), "have 1 and 2 parameters"),
        (gaussian([0], [[1]]), gaussian([0, 0], np.eye(2)), "vectors of 1 and 2 numbers"),
    ]:
        with pytest.raises(InvalidProblem, match=message):
            between(one, other)
    with pytest.raises(InvalidProblem, match="no labels"):
        bm.cost.emissions(bm.MarkovChain([[1.0]]), hidden(("poisson", 1.0)))


def test_permuted_states_are_matched():
    """Two hidden Markov models with their states in another order are at distance 0, and the matching is the order."""
    random = np.random.default_rng(5)
    rows, order = random.dirichlet(np.ones(4), 4), [2, 0, 3, 1]
    laws = [gaussian(random.normal(size=2), random_covariance(random, 2)) for _ in range(4)]
    start = np.full(4, 0.25)
    one = bm.MarkovChain(rows, labels=laws, start=start)
    other = bm.MarkovChain(rows[np.ix_(order, order)], labels=[laws[k] for k in order], start=start)
    solution = bm.distance(one, other, discount=0.9, cost=bm.cost.emissions)
    assert solution.distance == pytest.approx(0, abs=1e-9)
    assert solution.assignment().targets.tolist() == np.argsort(order).tolist()
    assert solution.assignment("coupling").targets.tolist() == np.argsort(order).tolist()

"""Evaluation kernels against numpy: also run as plain Python and with bounds checks (.ci/run)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.evaluation import Evaluation, independent_value
from bisimetric.operators.trees import TreeWitness, is_compact, new_trees

pytestmark = pytest.mark.kernels


@pytest.fixture(params=[False, True], ids=["free", "stopping"])
def operator(request):
    """A problem in kernel form with trees, and the dense matrices of its two couplings."""
    random = np.random.default_rng(6)
    P, Q = random.dirichlet(np.full(4, 0.5), 4), np.array([[0.5, 0.5, 0], [0, 0, 1], [0.25, 0.25, 0.5]])
    cost = random.random((4, 3))
    stop = random.random((4, 3)) < 0.3 if request.param else None
    problem = bm.Problem(bm.MarkovChain(P), bm.MarkovChain(Q), discount=0.9, cost=cost, stop=stop)
    bellman = Bellman.of(problem)
    trees = new_trees(bellman)
    bellman.improve(cost, trees, cold=True)
    witness = TreeWitness(bellman, cost, trees)
    coupled = bm.Coupling(problem, witness, lambda: np.zeros((4, 3))).matrix().toarray()
    independent = np.kron(problem.source.transitions.toarray(), problem.target.transitions.toarray())
    if stop is not None:
        independent[stop.ravel()] = 0.0
    return bellman, trees, coupled, independent


def sums_of(rows, other, out):
    """<other, out> and <out, out> per source row."""
    return np.column_stack([(other * out).reshape(rows, -1).sum(axis=1), (out * out).reshape(rows, -1).sum(axis=1)])


@pytest.mark.parametrize("operator", [False], indirect=True, ids=["free"])
@pytest.mark.parametrize("cuts", [(0, 4), (0, 1, 4), (0, 2, 3, 4)])
def test_products_of_the_compact_layout(operator, cuts, monkeypatch):
    """The same up to single precision; constants are exact. Codes and cells are bytes."""
    b, _, coupled, _ = operator
    monkeypatch.setattr("bisimetric.operators.trees.COMPACT_FROM", 0)
    trees = new_trees(b, may_round=True)
    assert is_compact(trees)
    assert {array.itemsize for array in (trees.code, trees.used, trees.target)} == {1}
    b.improve(b.cost, trees, cold=True)
    random = np.random.default_rng(0)
    other, out, sums = random.random(12), np.empty(12), np.empty((4, 2))
    for vector in (random.random(12), np.full(12, 3.0)):
        for first, last in pairwise(cuts):
            kernels.evaluation.apply_compact(
                first, last, vector, out, other, b.discount, b.source, b.target, b.pairs.listed, trees, sums
            )
        np.testing.assert_allclose(out, vector - 0.9 * coupled @ vector, atol=1e-7)
        np.testing.assert_allclose(sums, sums_of(4, other, out), rtol=1e-13)
    assert (out == out[0]).all()


@pytest.mark.parametrize("cuts", [(0, 4), (0, 1, 4), (0, 2, 3, 4)])
def test_products(operator, cuts):
    """I - γΠ for the trees' coupling and for the independent one, in any cut of the rows, with both inner products."""
    bellman, trees, coupled, independent = operator
    random = np.random.default_rng(0)
    vector, other = random.random(12), random.random(12)
    b = bellman
    for matrix, kernel, arguments in (
        (coupled, kernels.evaluation.apply_trees, (b.source, b.target, b.pairs.listed, trees)),
        (independent, kernels.evaluation.apply_independent, (b.stop, b.source, b.target)),
    ):
        out, sums = np.empty(12), np.empty((4, 2))
        for first, last in pairwise(cuts):
            kernel(first, last, vector, out, other, b.discount, *arguments, sums)
        np.testing.assert_allclose(out, vector - 0.9 * matrix @ vector, atol=1e-14)
        np.testing.assert_allclose(sums, sums_of(4, other, out), rtol=1e-13)


def test_steps():
    """The three vector steps of BiCGSTAB, on a part of the vectors."""
    random = np.random.default_rng(1)
    p, r, v, t, x, shadow = (random.random(12) for _ in range(6))
    alpha, beta, omega = 0.3, -1.2, 0.7
    steps = kernels.evaluation

    expected = p.copy()
    expected[2:9] = (r + beta * (p - omega * v))[2:9]
    steps.step_direction(2, 9, p, r, v, beta, omega)
    np.testing.assert_allclose(p, expected, rtol=1e-15)

    expected = r.copy()
    expected[2:9] = (r - alpha * v)[2:9]
    steps.step_half(2, 9, r, v, alpha)
    np.testing.assert_allclose(r, expected, rtol=1e-15)

    sums = np.full((4, 2), np.nan)
    new_x, new_r = x.copy(), r.copy()
    new_x[3:9] += (alpha * p + omega * r)[3:9]
    new_r[3:9] -= omega * t[3:9]
    steps.step_full(1, 3, x, p, r, t, shadow, alpha, omega, sums)
    np.testing.assert_allclose(x, new_x, rtol=1e-15)
    np.testing.assert_allclose(r, new_r, rtol=1e-14)
    inside = (shadow * r).reshape(4, 3).sum(axis=1), np.abs(r).reshape(4, 3).max(axis=1)
    np.testing.assert_allclose(sums[1:3], np.column_stack(inside)[1:3], rtol=1e-13)
    assert np.isnan(sums[[0, 3]]).all()


@pytest.mark.parametrize("entry", [-3.0, 5e-324, -1e308, np.inf, -np.inf, np.nan, -0.0])
def test_the_largest_entry_of_a_residual(entry):
    """Of any sign and size, infinite, or NaN; in parts whose lengths differ, and one that is empty."""
    b = np.zeros(5)
    b[3] = entry
    for parts in (1, 2, 7):
        sums, r, shadow = np.empty((parts, 2)), np.empty(5), np.empty(5)
        with np.errstate(all="ignore"):  # as plain Python the inner products warn
            kernels.evaluation.step_begin(0, parts, b, np.zeros(5), r, shadow, sums)
        np.testing.assert_array_equal(np.maximum.reduce(sums[:, 1]), np.abs(entry))
        with np.errstate(all="ignore"):
            kernels.evaluation.step_full(0, parts, np.zeros(5), np.zeros(5), r, np.zeros(5), shadow, 1.0, 0.0, sums)
        np.testing.assert_array_equal(np.maximum.reduce(sums[:, 1]), np.abs(entry))


@pytest.mark.parametrize("size", [3, 12, 15, 30])
def test_steps_do_not_depend_on_places_in_memory(size):
    """Short vectors that are close together or far apart give the same bits."""
    given = np.random.default_rng(size).standard_normal((5, size))
    found = set()
    for gap in (*range(9), 1000):
        room = np.zeros(5 * (size + gap))
        x, p, r, t, shadow = (room[k * (size + gap) : k * (size + gap) + size] for k in range(5))
        for part, entries in zip((x, p, r, t, shadow), given, strict=True):
            part[:] = entries
        sums, begun = np.empty((1, 2)), np.empty((1, 2))
        kernels.evaluation.step_full(0, 1, x, p, r, t, shadow, 0.3, 0.7, sums)
        kernels.evaluation.step_begin(0, 1, x, p, r, shadow, begun)
        found.add(b"".join(part.tobytes() for part in (x, r, sums, begun)))
    assert len(found) == 1


def test_evaluation_of_a_coupling(operator):
    """(I - γΠ) d = residual through the whole solver equals a dense solve."""
    bellman, trees, coupled, independent = operator
    residual = np.random.default_rng(2).random(12)
    solved = Evaluation(bellman).solve(trees, residual, 1e-13)
    np.testing.assert_allclose(solved.x, np.linalg.solve(np.eye(12) - 0.9 * coupled, residual), rtol=1e-10)
    value = independent_value(bellman, 1e-13).ravel()
    np.testing.assert_allclose(
        value, np.linalg.solve(np.eye(12) - 0.9 * independent, bellman.scaled_cost().ravel()), rtol=1e-10
    )

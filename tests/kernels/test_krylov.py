"""BiCGSTAB: one algorithm, over plain operations and over compiled ones."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.kernels.krylov import MOST_STARTS, bicgstab_over, linear_system
from bisimetric.kernels.layout import NO_FLOWS, SLACK
from bisimetric.operators.bellman import Bellman

pytestmark = pytest.mark.kernels


def plain_operations(matrix):
    """The algorithm over numpy, and how many products it has asked for."""
    products = []

    def apply(system, vector, out, other):
        products.append(1)
        out[:] = matrix @ vector
        return float(other @ out), float(out @ out)

    def begin(system, b, t, r, shadow):
        r[:] = b - t
        shadow[:] = r
        return float(r @ r), float(np.abs(r).max())

    def direction(p, r, v, beta, omega):
        p[:] = r + beta * (p - omega * v)

    def half(r, v, alpha):
        r -= alpha * v

    def full(system, x, p, r, t, shadow, alpha, omega):
        x += alpha * p + omega * r
        r -= omega * t
        return float(shadow @ r), float(np.abs(r).max())

    return bicgstab_over(apply, begin, direction, half, full), products


@pytest.mark.parametrize("discount", [0.5, 0.9, 0.99])
def test_over_numpy(discount):
    """The true residual reaches its target, and every product is counted."""
    random = np.random.default_rng(0)
    matrix = np.eye(20) - discount * random.dirichlet(np.ones(20), 20)
    solve, products = plain_operations(matrix)
    b, x = random.random(20), np.zeros(20)
    residual, count = solve(None, b, x, 1e-10, 1000)
    assert residual == pytest.approx(np.abs(b - matrix @ x).max(), abs=1e-14)
    assert residual <= SLACK * 1e-10
    assert count == len(products)


def test_the_budget_ends_it():
    """A few products more than asked for at most; the residual is the true one all the same."""
    random = np.random.default_rng(1)
    matrix = np.eye(50) - 0.999 * np.roll(np.eye(50), 1, axis=1)
    solve, products = plain_operations(matrix)
    b, x = random.random(50), np.zeros(50)
    residual, count = solve(None, b, x, 1e-12, 9)
    assert count == len(products) <= 9 + 2 + MOST_STARTS
    assert residual == pytest.approx(np.abs(b - matrix @ x).max(), rel=1e-9)
    assert residual > 1e-12


def test_numbers_out_of_range():
    """An infinite residual, and no endless search."""
    solve, _ = plain_operations(np.full((3, 3), np.nan))
    residual, _ = solve(None, np.ones(3), np.zeros(3), 1e-12, 100)
    assert residual == np.inf


def test_the_compiled_form():
    """The independent coupling of two chains in one call."""
    problem = bm.Problem(bm.environments.grid_3x3(), bm.environments.four_rooms("p1"), discount=0.9)
    bellman = Bellman.of(problem)
    n, m = problem.shape
    b, x = bellman.scaled_cost().ravel(), np.zeros(n * m)
    sides, sums = (bellman.source, bellman.target), np.empty((n, 2))
    system = linear_system(0.9, bellman.stop, *sides, NO_FLOWS[8], sums)
    residual, _ = kernels.krylov.bicgstab(system, b, x, 1e-10, 1000)
    P, Q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
    missed = b.reshape(n, m) - (x.reshape(n, m) - 0.9 * P @ x.reshape(n, m) @ Q.T)
    assert np.abs(missed).max() == pytest.approx(residual, abs=1e-13)
    assert residual <= SLACK * 1e-10

"""BiCGSTAB against dense solves, and its ways to fail."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.kernels.layout import SLACK
from bisimetric.linear.krylov import MAX_PRODUCTS, bicgstab
from tests import strategies


def operator(matrix):
    """The product with a dense matrix, in the form the solver wants."""

    def apply(vector, out, other):
        out[:] = matrix @ vector
        return float(other @ out), float(out @ out)

    return apply


@given(st.data(), strategies.discounts)
def test_contractions_are_solved(data, discount):
    """(I - γΠ) x = b to the residual asked for, or the residual says how far it came."""
    n = data.draw(st.integers(1, 8))
    matrix = np.eye(n) - discount * data.draw(strategies.matrices(n))
    b = np.array(data.draw(st.lists(st.floats(-1.0, 1.0), min_size=n, max_size=n)))
    solved = bicgstab(operator(matrix), b, np.zeros(n), rows=1, target=1e-10)
    true_residual = np.abs(matrix @ solved.x - b).max()
    assert solved.residual == pytest.approx(true_residual, rel=1e-3, abs=1e-14)
    assert solved.residual <= SLACK * 1e-10
    assert np.abs(solved.x - np.linalg.solve(matrix, b)).max() <= true_residual / (1 - discount) + 1e-9


def test_a_good_guess_takes_one_product():
    """Nothing to do."""
    matrix = np.array([[1.0, -0.5], [0.0, 0.5]])
    x = np.array([3.0, 4.0])
    solved = bicgstab(operator(matrix), matrix @ x, x.copy(), rows=2, target=1e-12)
    assert solved.products == 1
    assert np.array_equal(solved.x, x)


def test_breakdown_is_survived():
    """A rotation makes <shadow, Ap> vanish at once; the solver ends, and does not lie about its residual."""
    matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])
    b = np.array([1.0, 0.0])
    solved = bicgstab(operator(matrix), b, np.zeros(2), rows=1, target=1e-12)
    assert np.isfinite(solved.x).all()
    assert solved.residual == pytest.approx(np.abs(matrix @ solved.x - b).max())
    assert solved.products <= MAX_PRODUCTS + 2


def test_numbers_out_of_range():
    """An operator that blows up gives an infinite residual, not a wrong answer."""

    def apply(vector, out, other):
        out[:] = vector * 1e200 + 1e200
        return 1.0, 1e-300

    with np.errstate(all="ignore"):
        solved = bicgstab(apply, np.ones(2), np.zeros(2), rows=1, target=1e-12)
    assert not solved.residual <= 1.0


def test_products_are_counted_and_bounded():
    """A target that can't be reached ends after the budget."""
    random = np.random.default_rng(0)
    matrix = np.eye(50) - 0.9999 * random.dirichlet(np.ones(50), 50)
    calls = 0

    def apply(vector, out, other):
        nonlocal calls
        calls += 1
        return operator(matrix)(vector, out, other)

    solved = bicgstab(apply, random.random(50), np.zeros(50), rows=5, target=0.0)
    assert solved.products == calls
    assert calls <= MAX_PRODUCTS + 2


@pytest.mark.parametrize("good", [0, 1, 4])
def test_a_residual_that_is_no_number_is_not_converged(good):
    """Wherever the operator begins to return NaN."""
    calls = []

    def apply(vector, out, other):
        calls.append(1)
        out[:] = vector if len(calls) <= good else np.nan
        out[0] *= 0.5
        out[1] *= 0.25
        return float(other @ out), float(out @ out)

    solved = bicgstab(apply, np.ones(4), np.zeros(4), rows=2, target=1e-9)
    assert not solved.residual <= 1.0

"""The ladder: whatever the first method does, the residual is true and the answer right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.linear import direct, krylov
from bisimetric.linear.ladder import MANY_PRODUCTS, Ladder
from tests import strategies
from tests.linear.test_direct import STRUCTURES, cycle


def residual(matrix, x, b, discount):
    """The largest entry of b - (I - γΠ) x."""
    return np.abs(b - x + discount * (matrix @ x)).max()


@pytest.mark.parametrize("discount", [0.8, 0.999, 0.99999])
@pytest.mark.parametrize("name", STRUCTURES)
def test_every_structure(name, discount):
    """Periodic, acyclic, absorbing, or all of it."""
    matrix = STRUCTURES[name]
    b = np.random.default_rng(2).random(matrix.shape[0])
    solved = Ladder().solve_stored(matrix, b, b, discount, 1e-10)
    rounding = 1e-15 * np.abs(solved.x).max()
    assert solved.residual == pytest.approx(residual(matrix, solved.x, b, discount), rel=1e-3, abs=rounding)
    assert solved.residual <= max(1.25e-10, 1e-14 * np.abs(solved.x).max())


@given(st.data(), strategies.discounts)
def test_random_chains(data, discount):
    """Against a dense solve."""
    n = data.draw(st.integers(1, 8))
    matrix = data.draw(strategies.matrices(n))
    b = np.array(data.draw(st.lists(st.floats(-1.0, 1.0), min_size=n, max_size=n)))
    solved = Ladder().solve_stored(matrix, b, b, discount, 1e-12)
    truth = np.linalg.solve(np.eye(n) - discount * matrix, b)
    assert np.abs(solved.x - truth).max() <= (2e-12 + 1e-14 * np.abs(truth).max()) / (1 - discount)


@pytest.mark.parametrize("left", [np.nan, np.inf, 1.0, 1e300])
def test_a_first_method_that_fails(left):
    """Nothing of what it left is used."""
    matrix, b = cycle(12), np.arange(12.0)
    apply = krylov.of_matrix(matrix, 0.9)
    first = krylov.Solved(np.full(12, left), np.inf, 3)
    solved = Ladder().solve(lambda: first, lambda: matrix, apply, b, 0.9, 1e-12)
    assert residual(matrix, solved.x, b, 0.9) <= 1e-12
    assert solved.products == 3


def test_without_a_matrix_there_is_gmres():
    """For couplings that are too large to be stored."""
    matrix, b = cycle(12), np.arange(12.0)
    apply = krylov.of_matrix(matrix, 0.9)
    failed = krylov.Solved(np.zeros(12), np.inf, 3)
    solved = Ladder().solve(lambda: failed, lambda: None, apply, b, 0.9, 1e-9)
    assert solved.residual <= 1e-9
    assert solved.products > 3


def test_factors_are_used_again(monkeypatch):
    """Once BiCGSTAB has failed, or taken long, the factors of one system precondition the next."""
    made = []
    usual = direct.Factors.__init__

    def counted(self, matrix, discount):
        made.append(discount)
        usual(self, matrix, discount)

    monkeypatch.setattr(direct.Factors, "__init__", counted)
    matrix, b = cycle(300), np.arange(300.0)
    nearly = 0.99 * matrix + 0.01 * np.eye(300)
    apply = krylov.of_matrix(nearly, 0.999)
    for products, status in ((3, np.inf), (MANY_PRODUCTS + 1, 1e-12)):
        made.clear()
        ladder = Ladder()
        first = krylov.Solved(np.zeros(300), status, products)
        ladder.solve(lambda first=first: first, lambda: matrix, krylov.of_matrix(matrix, 0.999), b, 0.999, 1e-9)
        for _ in range(3):
            solved = ladder.solve(lambda: pytest.fail("not asked"), lambda: nearly, apply, b, 0.999, 1e-9)
            assert residual(nearly, solved.x, b, 0.999) <= 1.25e-9
        assert len(made) == 1

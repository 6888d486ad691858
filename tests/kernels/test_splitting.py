"""Triangles of I - γΠᵀ, without a transpose."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bisimetric import kernels
from bisimetric.linear.splitting import Split

pytestmark = pytest.mark.kernels

DISCOUNT = 0.9
INSIDE = np.arange(1, 12, 2)


@pytest.fixture
def moves():
    """Random moves between the odd ones of twelve states, some of which stay; the even ones lead anywhere."""
    random = np.random.default_rng(4)
    dense = random.random((12, 12)) * (random.random((12, 12)) < 0.6)
    dense[np.ix_(INSIDE, np.arange(0, 12, 2))] = 0.0
    dense[1, 1] = dense[1, 3] = 1.0
    dense[3, 3] = 0.0
    return sparse.csr_array(dense / dense.sum(axis=1, keepdims=True))


def triangles(moves):
    """L, U and D of the part inside, as the module's docstring defines them."""
    cells = DISCOUNT * moves.toarray()[np.ix_(INSIDE, INSIDE)].T
    stay = 1.0 - cells.diagonal()
    return np.tril(cells, -1) / stay, np.triu(cells, 1) / stay, stay


def test_the_split(moves):
    """Cells that lead back, then those to their own row, then those that lead on."""
    split = Split.of(moves, INSIDE, DISCOUNT)
    L, U, stay = triangles(moves)
    np.testing.assert_allclose(split.stay, stay, rtol=1e-15)
    found = {"back": np.zeros(L.shape), "on": np.zeros(L.shape)}
    for row in range(len(INSIDE)):
        begin, middle, end = split.begin[row], split.middle[row], split.begin[row + 1]
        np.add.at(found["back"], (split.to[begin:middle], row), split.share[begin:middle])
        np.add.at(found["on"], (split.to[middle:end], row), split.share[middle:end])
    np.testing.assert_allclose(found["back"], U, rtol=1e-15)
    np.testing.assert_allclose(found["on"], L, rtol=1e-15)


def test_products_and_substitutions(moves):
    """M and both inverses are those of the matrices, and the space for work is left as it was."""
    split = Split.of(moves, INSIDE, DISCOUNT)
    L, U, _ = triangles(moves)
    one, size = np.eye(len(INSIDE)), len(INSIDE)
    random = np.random.default_rng(5)
    vector, other, out, pushed = random.random(size), random.random(size), np.empty(size), np.zeros(size)
    sums = kernels.splitting.apply_split(*split[:4], vector, out, other, pushed)
    np.testing.assert_allclose(out, np.linalg.inv(one - L) @ (one - L - U) @ np.linalg.inv(one - U) @ vector)
    np.testing.assert_allclose(sums, (other @ out, out @ out))
    assert not pushed.any()
    for triangle, upper in ((L, False), (U, True)):
        x = vector.copy()
        kernels.splitting.substitute(*split[:4], x, upper)
        np.testing.assert_allclose(x, np.linalg.solve(one - triangle, vector))

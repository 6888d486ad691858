"""The direct solver against dense solves, on every structure it tells apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bisimetric._support import memory
from bisimetric.linear import direct
from bisimetric.linear.direct import Factors


def cycle(n):
    """Deterministic, one after the other and round."""
    return sparse.csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))


def path(n):
    """On with probability .9, until the end."""
    stay = np.full(n, 0.1)
    stay[-1] = 1.0
    return sparse.csr_array(sparse.diags_array([stay, np.full(n - 1, 0.9)], offsets=[0, 1]))


def maze(n, seed=0):
    """A few random successors a state, some of them stopping: components of all kinds."""
    random = np.random.default_rng(seed)
    rows = random.random((n, n)) * (random.random((n, n)) < 1.5 / n)
    total = rows.sum(axis=1, keepdims=True)
    return sparse.csr_array(np.divide(rows, total, out=np.zeros_like(rows), where=total > 0))


def islands(*parts):
    """Nothing leads from one to another."""
    return sparse.csr_array(sparse.block_diag(parts))


STRUCTURES = {
    "cycle": cycle(30),
    "two cycles": islands(cycle(7), cycle(12)),
    "path": path(40),
    "a path into cycles": sparse.csr_array(sparse.bmat([[path(9), None], [None, cycle(5)]]).tolil()),
    "product": sparse.csr_array(sparse.kron(cycle(6), path(7))),
    "nothing": sparse.csr_array((5, 5)),
    "one": sparse.csr_array([[1.0]]),
    **{f"maze {seed}": maze(60, seed) for seed in range(6)},
    "dense": sparse.csr_array(np.full((20, 20), 1 / 20)),
}


@pytest.mark.parametrize("discount", [0.3, 0.99, 1 - 1e-9])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("name", STRUCTURES)
def test_against_dense_solves(name, transposed, discount):
    """Its own residual is the true one, and rounding."""
    matrix = sparse.csr_array(STRUCTURES[name].T if transposed else STRUCTURES[name])
    size = matrix.shape[0]
    b = np.random.default_rng(1).random(size) - 0.3
    factors = Factors(matrix, discount)
    x, residual = factors.solve(b, 0.0)
    assert factors.exact
    assert residual == np.abs(b - x + discount * (matrix @ x)).max()
    assert residual <= 1e-14 * max(1.0, np.abs(x).max())
    truth = np.linalg.solve(np.eye(size) - discount * matrix.toarray(), b)
    np.testing.assert_allclose(x, truth, rtol=0, atol=1e-14 / (1 - discount) * np.abs(truth).max())


def test_components_that_may_not_fit_are_left_to_gmres(monkeypatch):
    """And it says so."""
    monkeypatch.setattr(direct, "FITS_ALWAYS", 10)
    monkeypatch.setattr(direct, "WIDEST", 3)
    monkeypatch.setattr(direct, "DENSE_UP_TO", 0)
    matrix = sparse.csr_array(sparse.block_diag([np.full((30, 30), 1 / 30), cycle(40)]))
    factors = Factors(matrix, 0.95)
    x, residual = factors.solve(np.arange(70.0), 1e-9)
    assert not factors.exact
    assert residual <= 1e-9
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(70) - 0.95 * matrix.toarray(), np.arange(70.0)), rtol=1e-8)


def test_a_narrow_component_is_factorised_whatever_its_size():
    """A cycle of thirty thousand states has factors as sparse as itself."""
    factors = Factors(cycle(30_000), 0.99999)
    b = np.zeros(30_000)
    b[0] = 1.0
    x, residual = factors.solve(b, 1e-15)
    assert factors.exact
    assert residual <= 1e-15
    assert x[0] == pytest.approx(1 / (1 - 0.99999**30_000), rel=1e-9)


def test_a_state_to_which_all_return_does_not_make_a_component_wide():
    """A restart adds one dense column, whatever orderings of small bandwidth make of it."""
    n = 20_000
    on = np.minimum(np.arange(n) + 1, n - 1)
    rows, columns = np.tile(np.arange(n), 2), np.concatenate([on, np.zeros(n, np.int64)])
    matrix = sparse.csr_array((np.repeat([0.9, 0.1], n), (rows, columns)), shape=(n, n))
    factors = Factors(matrix, 0.9999)
    x, residual = factors.solve(np.ones(n), 1e-9)
    assert factors.exact
    assert residual <= 1e-9
    np.testing.assert_allclose(x, 1e4, rtol=1e-9)


def test_memory_is_asked_for(free_memory):
    """No factorisation where there is no room for it."""
    free_memory(10**6)
    matrix = cycle(30_000)
    assert not Factors(matrix, 0.5).exact
    assert not memory.fits(10**7)

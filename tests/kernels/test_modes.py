"""Sums, means and clusters of the preconditioner against numpy: also as plain Python and with bounds checks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from bisimetric import kernels
from bisimetric.kernels.layout import Modes
from bisimetric.models.rows import offsets

pytestmark = pytest.mark.kernels

N, M = 7, 5
CLUSTER_X, CLUSTER_Y = np.array([0, 2, 1, 0, 1, 2, 0]), np.array([1, 0, 1, 1, 0])


@pytest.fixture
def modes():
    """Three clusters of source states and two of target states."""
    size_x, size_y = (np.bincount(cluster).astype(float) for cluster in (CLUSTER_X, CLUSTER_Y))
    member_at = offsets(size_x.astype(np.int64))
    return Modes(CLUSTER_X, CLUSTER_Y, size_x, size_y, member_at, np.argsort(CLUSTER_X, kind="stable"))


def test_means_and_what_they_add(modes):
    """All of M⁻¹ v but the solves: two-way means, means of blocks, and the sum of all corrections."""
    random = np.random.default_rng(0)
    v = random.random((N, M))
    by_row, by_cluster = np.empty(N), np.empty((3, M))
    for first, last in ((0, 1), (1, 3)):
        kernels.modes.sums(first, last, v.ravel(), modes, M, by_row, by_cluster)
    np.testing.assert_allclose(by_row, v.sum(axis=1))
    mean_x, mean_y, block, added = np.empty(N), np.empty(M), np.empty((3, 2)), np.empty((3, M))
    mean = kernels.modes.means(modes, by_row, by_cluster, mean_x, mean_y, block)
    assert mean == pytest.approx(v.mean())
    np.testing.assert_allclose(mean_x, v.mean(axis=1) - mean, atol=1e-15)
    np.testing.assert_allclose(mean_y, v.mean(axis=0) - mean, atol=1e-15)
    rest = v - mean - mean_x[:, None] - mean_y
    expected = [[rest[x == CLUSTER_X][:, y == CLUSTER_Y].mean() for y in range(2)] for x in range(3)]
    np.testing.assert_allclose(block, expected, atol=1e-15)

    among_blocks, added_x, added_y = random.random((3, 2)), random.random(N), random.random(M)
    kernels.modes.combine(modes, among_blocks, added_y, added)
    np.testing.assert_allclose(added, added_y + among_blocks[:, CLUSTER_Y])
    for quickness in (np.empty(0, np.float32), random.random(N * M).astype(np.float32)):
        out = np.empty(N * M)
        arguments = modes, M, mean, mean_x, mean_y, added_x, added, quickness
        for first, last in ((0, 3), (3, N)):
            kernels.modes.correct(first, last, v.ravel(), out, *arguments)
        quick = quickness.reshape(N, M) if quickness.size else 1.0
        smooth = mean + mean_x[:, None] + mean_y
        expected = smooth + rest * quick + added_x[:, None] + added[CLUSTER_X]
        np.testing.assert_allclose(out.reshape(N, M), expected, atol=1e-14)


@pytest.mark.parametrize("step", ["direction", "half"])
def test_steps_that_sum_up_what_they_make(modes, step):
    """A step and the sums of its outcome, in one pass over any split of the clusters."""
    p, r, v = np.random.default_rng(1).random((3, N, M))
    beta, omega, alpha = 0.3, 0.7, 1.1
    if step == "direction":
        expected, made = r + beta * (p - omega * v), p.ravel().copy()
        work, arguments = kernels.modes.direction_with_sums, (made, r.ravel(), v.ravel(), beta, omega)
    else:
        expected, made = r - alpha * v, r.ravel().copy()
        work, arguments = kernels.modes.half_with_sums, (made, v.ravel(), alpha)
    by_row, by_cluster = np.empty(N), np.empty((3, M))
    for first, last in ((1, 3), (0, 1)):
        work(first, last, *arguments, modes, M, by_row, by_cluster)
    np.testing.assert_allclose(made.reshape(N, M), expected, rtol=1e-14)
    np.testing.assert_allclose(by_row, expected.sum(axis=1), rtol=1e-14)
    by_hand = [expected[x == CLUSTER_X].sum(axis=0) for x in range(3)]
    np.testing.assert_allclose(by_cluster, by_hand, rtol=1e-14)


@pytest.mark.parametrize("n", [1, 2, 9])
def test_a_resolvent_against_numpy(n):
    """(I - γP)⁻¹ - I, also for deterministic, absorbing and empty rows, and near γ = 1."""
    random = np.random.default_rng(n)
    P = random.dirichlet(np.full(n, 0.3), n)
    P[0] = np.arange(n) == n - 1
    P[n // 2] *= n // 2 == 0
    for discount in (0.1, 0.9999):
        found, product, vector = np.empty((n, n)), np.empty(n), random.random(n)
        kernels.modes.resolvent(P.copy(), discount, found)
        expected = np.linalg.inv(np.eye(n) - discount * P) - np.eye(n)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        kernels.modes.times(found, vector, product)
        np.testing.assert_allclose(product, found @ vector, rtol=1e-13, atol=1e-15)


def test_matching_joins_the_closest():
    """Each state with its heaviest free neighbour, in the order given."""
    weight = np.array([[0, 3, 1, 0], [3, 0, 5, 0], [1, 5, 0, 2], [0, 0, 2, 9.0]])
    graph, label = sparse.csr_array(weight), np.empty(4, np.int64)
    order = np.array([0, 1, 2, 3])
    count = kernels.modes.match(order, graph.indptr, graph.indices, graph.data, label)
    assert count == 2
    assert label.tolist() == [0, 0, 1, 1]
    assert kernels.modes.match(order[::-1].copy(), graph.indptr, graph.indices, graph.data, label) == 2
    assert label.tolist() == [1, 1, 0, 0]

"""Components and substitution against scipy: also as plain Python and with bounds checks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import csgraph

from bisimetric import kernels

pytestmark = pytest.mark.kernels


def random_graph(seed, n=40):
    """About as many arcs as states: components of all sizes."""
    random = np.random.default_rng(seed)
    return sparse.csr_array(random.random((n, n)) * (random.random((n, n)) < 1.3 / n))


@pytest.mark.parametrize("seed", range(5))
def test_components(seed):
    """The same as scipy's; arcs lead to smaller numbers and lower levels, one lower at least once."""
    graph = random_graph(seed)
    n = graph.shape[0]
    component, level = np.empty(n, np.int64), np.zeros(n, np.int64)
    count = kernels.components.components(graph.indptr, graph.indices, component, level)
    expected, labels = csgraph.connected_components(graph, connection="strong")
    assert count == expected
    assert len(set(zip(component.tolist(), labels.tolist(), strict=True))) == count
    cells = graph.tocoo()
    tail, head = component[cells.row], component[cells.col]
    assert (head <= tail).all()
    assert (level[head] < level[tail])[head != tail].all()
    for number in range(count):
        below = level[head[(tail == number) & (head != number)]]
        assert level[number] == below.max(initial=-1) + 1


@pytest.mark.parametrize("period", [1, 2, 3, 6])
def test_periods(period):
    """Two cycles of p and 2p states that one state leads to, with a short cut in the longer one."""
    arcs = [(0, 1), (0, 1 + period)]
    arcs += [(1 + k, 1 + (k + 1) % period) for k in range(period)]
    arcs += [(1 + period + k, 1 + period + (k + 1) % (2 * period)) for k in range(2 * period)]
    arcs.append((2 * period, 1 + period))
    n = 1 + 3 * period
    graph = sparse.csr_array((np.ones(len(arcs)), tuple(np.transpose(arcs))), shape=(n, n))
    component, level, phase, found = (np.zeros(n, np.int64) for _ in range(4))
    class_of = np.full(n, -1, np.int64)
    kernels.components.components(graph.indptr, graph.indices, component, level)
    count = kernels.components.periods(graph.indptr, graph.indices, component, level, class_of, phase, found)
    assert count == 2
    assert found[:2].tolist() == [period, period]
    assert class_of.tolist() == [-1] + [0] * period + [1] * (2 * period)
    assert phase[1:].tolist() == [*range(period)] * 3


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_substitution(seed, transposed):
    """Component by component, each after those that it leads to, whatever its size."""
    random = np.random.default_rng(seed)
    graph = random_graph(seed, 30).toarray()
    graph /= np.maximum(graph.sum(axis=1, keepdims=True), 1e-300)
    matrix = sparse.csr_array(graph.T if transposed else graph)
    component, level = np.empty(30, np.int64), np.zeros(30, np.int64)
    count = kernels.components.components(matrix.indptr, matrix.indices, component, level)
    states = np.argsort(component, kind="stable")
    begin = np.searchsorted(component[states], np.arange(count + 1))
    b, x = random.random(30), np.zeros(30)
    kernels.components.substitute(states, begin, matrix.indptr, matrix.indices, matrix.data, 0.99, b, x)
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(30) - 0.99 * matrix.toarray(), b), rtol=1e-10, atol=1e-12)

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


def test_substitution_solves_what_has_no_cycles():
    """An upper triangle with self-loops."""
    random = np.random.default_rng(1)
    matrix = np.triu(random.random((12, 12)))
    matrix /= matrix.sum(axis=1, keepdims=True)
    rows, b, x = sparse.csr_array(matrix), random.random(12), np.zeros(12)
    kernels.components.substitute(np.arange(11, -1, -1), rows.indptr, rows.indices, rows.data, 0.9, b, x)
    np.testing.assert_allclose(x, np.linalg.solve(np.eye(12) - 0.9 * matrix, b), rtol=1e-12)

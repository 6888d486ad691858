"""Distances and derivatives of batches of arrays."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support.blocks import one_thread
from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem
from bisimetric.learning.batches import Inputs, Settings, StoredKernel, distances, evaluate, refuse_dtype


def inputs(n=3, m=2, batch=None, seed=0):
    """Random inputs, P with a batch axis if one is asked for."""
    random = np.random.default_rng(seed)
    shape = n if batch is None else (batch, n)
    return Inputs(
        random.dirichlet(np.ones(n), shape),
        random.dirichlet(np.ones(m), m),
        random.random((n, m)),
        np.array(0.9),
        random.dirichlet(np.ones(n)),
        None,
    )


def solution(one, **options):
    """The solution of inputs without a batch."""
    source = bm.MarkovChain(one.source, start=one.source_start)
    target = bm.MarkovChain(one.target, start=np.full(len(one.target), 1 / len(one.target)))
    return bm.distance(source, target, cost=one.cost, discount=float(one.discount), **options)


@pytest.mark.parametrize("normalised", [False, True])
def test_one_item(normalised):
    """The distance and the gradient of a solution; starts are uniform by default."""
    one, settings = inputs(), Settings(normalised)
    expected = solution(one, normalised=normalised)
    found = evaluate(one, settings)
    assert found.distance == pytest.approx(expected.distance)
    assert distances(one, settings) == found.distance
    np.testing.assert_allclose(found.source, expected.gradient().source.toarray())
    np.testing.assert_allclose(found.target_start, expected.gradient().target_start)
    assert found.discount == pytest.approx(expected.gradient().discount)


def test_a_batch():
    """Item by item the same as alone, with inputs shared that have no batch axis; threads change no bit."""
    many = inputs(batch=5)
    found = evaluate(many, Settings())
    assert found.distance.shape == (5,)
    for k in range(5):
        alone = evaluate(many._replace(source=many.source[k]), Settings())
        assert found.distance[k] == pytest.approx(alone.distance, rel=1e-9)
        np.testing.assert_allclose(found.source[k], alone.source, atol=1e-8)
        np.testing.assert_allclose(found.cost[k], alone.cost, atol=1e-8)
    with one_thread():
        again = evaluate(many, Settings())
    assert all(np.array_equal(here, there) for here, there in zip(found, again, strict=True))


def test_sparse_kernels():
    """Derivatives by the stored values, in their order."""
    one = inputs()
    rows, columns = np.divmod(np.arange(9)[::-1], 3)
    stored = one._replace(source=StoredKernel(one.source[rows, columns], rows, columns, 3))
    dense, found = evaluate(one, Settings()), evaluate(stored, Settings())
    assert found.distance == pytest.approx(dense.distance)
    np.testing.assert_allclose(found.source, dense.source[rows, columns])


def test_bad_input():
    """Which row, by how much; NaN; shapes; batches; types."""
    one = inputs()
    off = one.source.copy()
    off[1] *= 1.001
    with pytest.raises(InvalidChain, match=r"row 1 of P sums to 1.001, 1.0e-03 off"):
        evaluate(one._replace(source=off), Settings())
    off[1, 2] = np.nan
    with pytest.raises(InvalidChain, match=r"P is nan at \(1, 2\)"):
        evaluate(one._replace(source=off), Settings())
    with pytest.raises(InvalidChain, match="source_start sums to"):
        evaluate(one._replace(source_start=np.ones(3)), Settings())
    with pytest.raises(InvalidProblem, match="source_start has shape"):
        evaluate(one._replace(source_start=np.ones(2) / 2), Settings())
    with pytest.raises(InvalidChain, match="square"):
        evaluate(one._replace(source=one.source[:2]), Settings())
    with pytest.raises(InvalidProblem, match="dimensions"):
        evaluate(one._replace(cost=np.ones(3)), Settings())
    with pytest.raises(InvalidProblem, match="negative"):
        evaluate(one._replace(cost=-one.cost), Settings())
    many = inputs(batch=3)
    with pytest.raises(InvalidProblem, match="different lengths"):
        evaluate(many._replace(cost=np.ones((2, 3, 2))), Settings())
    with pytest.raises(InvalidProblem, match="empty"):
        evaluate(many._replace(source=many.source[:0]), Settings())
    off = many.source.copy()
    off[2, 0, 0] = -0.5
    with pytest.raises(InvalidChain, match=r"P of item 2 is -0\.5"):
        evaluate(many._replace(source=off), Settings())
    with pytest.raises(InvalidOption, match="float32 or float64"):
        refuse_dtype(np.dtype(int), "P", "P.astype(float)")


def test_single_precision():
    """Sums of rows are off by some roundings, which is accepted in single precision only."""
    one = inputs(n=40)
    single = one._replace(source=one.source.astype(np.float32) * np.float32(1 + 2e-6))
    assert distances(single, Settings()) == pytest.approx(float(distances(one, Settings())), rel=1e-4)
    with pytest.raises(InvalidChain, match="off the simplex"):
        distances(one._replace(source=one.source * (1 + 2e-6)), Settings())

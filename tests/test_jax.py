"""Distances as JAX functions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem
from tests.extras import package

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    jax = package("jax")
    from jax.test_util import check_grads

N, M = 3, 2


@pytest.fixture(params=[True, False], ids=["double", "single"])
def double(request):
    """Both precisions."""
    with jax.enable_x64(request.param):
        yield request.param


def numbers(*shape, seed=0):
    """Random numbers in the precision of the moment."""
    return jax.numpy.asarray(np.random.default_rng(seed).normal(size=shape), float)


def point():
    """Free numbers for kernels, cost, start and discount."""
    return numbers(N, N), numbers(M, M, seed=1), numbers(N, M, seed=2), numbers(N, seed=3), jax.numpy.asarray(0.3)


def softly(P, Q, cost, start, discount):
    """The distance in terms of free numbers."""
    soft = jax.nn.softmax
    return bm.jax.distance(
        soft(P), soft(Q), jax.numpy.exp(cost), jax.nn.sigmoid(discount), source_start=soft(start), tol=1e-11
    )


def test_check_grads(double):
    """By everything, through parametrisations that stay on the simplex."""
    if double:
        check_grads(softly, point(), order=1, eps=1e-5, atol=1e-5, rtol=1e-5)
    value, slopes = jax.value_and_grad(softly, argnums=(0, 1, 2, 3, 4))(*point())
    assert value.dtype == (np.float64 if double else np.float32)
    assert all(slope.shape == given.shape for slope, given in zip(slopes, point(), strict=True))
    with jax.enable_x64(True):
        expected = jax.grad(softly)(*point())
    np.testing.assert_allclose(slopes[0], expected, atol=1e-8 if double else 1e-4)


def test_jit_and_vmap(double):
    """Under both, and together; vmap goes item by item and agrees with a batch axis."""
    close = 1e-9 if double else 1e-4
    here = point()
    expected = softly(*here)
    np.testing.assert_allclose(jax.jit(softly)(*here), expected, rtol=close)
    many = jax.numpy.stack([here[0], here[0] + 1.0, 2.0 * here[0]])
    mapped = jax.jit(jax.vmap(softly, in_axes=(0, None, None, None, None)))(many, *here[1:])
    np.testing.assert_allclose(mapped, softly(many, *here[1:]), rtol=close)
    assert mapped.shape == (3,)
    slopes = jax.vmap(jax.grad(softly), in_axes=(0, None, None, None, None))(many, *here[1:])
    np.testing.assert_allclose(slopes[0], jax.grad(softly)(*here), atol=close)
    shared = jax.jit(jax.grad(lambda cost: softly(many, here[1], cost, *here[3:]).sum()))(here[2])
    apart = sum(jax.grad(lambda cost, k=k: softly(many[k], here[1], cost, *here[3:]))(here[2]) for k in range(3))
    np.testing.assert_allclose(shared, apart, atol=10 * close)


def test_forward_mode(double):
    """Agrees with reverse mode, of shared inputs of a batch too."""
    here = numbers(2, N, N), *point()[1:]
    for argument in (0, 2, 4):
        forward, reverse = (jax.jit(mode(softly, argument))(*here) for mode in (jax.jacfwd, jax.jacrev))
        np.testing.assert_allclose(forward, reverse, atol=1e-9 if double else 1e-4)


def test_second_derivatives_are_refused():
    """In all modes; a derivative by what the distance is multiplied by is none."""
    P, cost = np.eye(2), np.ones((2, 2))

    def function(cost):
        return bm.jax.distance(P, P, cost, 0.9)

    for second in (jax.hessian(function), jax.jacrev(jax.grad(function)), jax.jit(jax.jacrev(jax.grad(function)))):
        with pytest.raises(InvalidOption, match="differentiated again"):
            second(cost)
    assert jax.grad(lambda w: jax.grad(lambda cost: w * function(cost))(cost).sum())(2.0) == pytest.approx(10.0)


def test_plain_options_are_refused_also_under_jit():
    """By our own errors; a tolerance that `jit` traces is told how to stay a number."""
    P, cost = np.eye(2), np.ones((2, 2))
    for error, wrong in (
        (InvalidProblem, {"discount": 1.0}),
        (InvalidOption, {"tol": -1}),
        (InvalidOption, {"normalised": "yes"}),
    ):
        options = {"discount": 0.9} | wrong
        for function in (bm.jax.distance, jax.grad(bm.jax.distance)):
            with pytest.raises(error, match=next(iter(wrong))):
                jax.jit(lambda P, function=function, options=options: function(P, P, cost, **options))(P)
    with pytest.raises(InvalidOption, match="static_argnames"):
        jax.jit(lambda tol: bm.jax.distance(P, P, cost, 0.9, tol=tol))(1e-9)


def test_complex_numbers_are_refused():
    """Without a conversion that drops a part of them."""
    with pytest.raises(InvalidOption, match="real numbers") as told:
        bm.jax.distance(np.eye(2) + 0j, np.eye(2), np.ones((2, 2)), 0.9)
    assert "converts" not in str(told.value)


def test_bad_input():
    """Our errors where values are at hand, with derivatives too; inside `jit` the message is in JAX's."""
    good, cost = np.eye(2), np.ones((2, 2))
    with pytest.raises(InvalidOption, match="float32 or float64"):
        bm.jax.distance(np.eye(2, dtype=int), good, cost, 0.9)
    with pytest.raises(InvalidProblem, match="dimensions"):
        bm.jax.distance(good, good, np.ones(2), 0.9)
    for function in (bm.jax.distance, jax.grad(bm.jax.distance)):
        with pytest.raises(InvalidChain, match="row 0 of P sums to 2"):
            function(2 * good, good, cost, 0.9)
    with pytest.raises(InvalidProblem, match="discount"):
        bm.jax.distance(good, good, cost, 1.5)
    with pytest.raises(Exception, match="row 0 of P sums to 2"):
        jax.jit(bm.jax.distance)(2 * good, good, cost, 0.9).block_until_ready()


def test_a_plain_discount_stays_in_double_precision():
    """Distances grow like 1/(1 - discount), so single precision would lose most digits near one."""
    P, Q = np.full((2, 2), 0.5, np.float32), np.array([[0.25, 0.75], [0.5, 0.5]], np.float32)
    cost = (1 - np.eye(2)).astype(np.float32)
    exact = bm.distance(P.astype(float), Q.astype(float), discount=0.99999999, cost=cost.astype(float)).value.mean()
    assert float(bm.jax.distance(P, Q, cost, 0.99999999)) == pytest.approx(exact, rel=1e-2)


def test_missing_inputs():
    """None and texts are no arrays."""
    good = np.eye(2)
    for wrong in ((good, None, good, 0.9), (good, good, good, "high")):
        with pytest.raises(InvalidProblem, match="expected an array"):
            bm.jax.distance(*wrong)


def test_shapes_are_refused_also_under_jit(double):
    """By our own errors: nothing has to be computed for them."""
    P, Q, cost = np.eye(N), np.eye(M), np.ones((N, M))
    for error, wrong in (
        (InvalidProblem, (1.0, Q, cost)),
        (InvalidProblem, (P, Q, cost.T)),
        (InvalidChain, (np.ones((N, M)), Q, cost)),
        (InvalidChain, (np.ones((0, 0)), Q, np.ones((0, M)))),
    ):
        arrays = [jax.numpy.asarray(array, float) for array in wrong]
        with pytest.raises(error, match="expected"):
            bm.jax.distance(*arrays, 0.9)
        with pytest.raises(error, match="expected"):
            jax.jit(lambda P, Q, cost: bm.jax.distance(P, Q, cost, 0.9))(*arrays)

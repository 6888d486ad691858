"""Distances as JAX functions, with exact derivatives.

The distance and its derivatives are computed on the host, in double precision, by a callback: the function works under
`jit`, `grad`, `jvp` and `vmap` (which then solves one item after the other; a batch axis in the inputs is faster). The
rule for derivatives is that of forward mode, Σ ∂W/∂x · dx, which JAX transposes to go in reverse; second derivatives
are not computed. Where the values are at hand, that is outside `jit` and `vmap`, there is no callback, and errors are
raised as they are. Inside, those about values come as JAX reports errors of callbacks, with the message in them: call
the function once without `jit`. Without `jax_enable_x64` inputs and results are rounded to single precision. JAX is
imported on first use: `pip install 'bisimetric[jax]'`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bisimetric.errors import InvalidOption, InvalidProblem, MissingExtra
from bisimetric.learning.batches import (
    Inputs,
    Settings,
    batch_size,
    checked_settings,
    distances,
    evaluate,
    refuse_dtype,
    refuse_shapes,
)

__all__ = ["distance"]


def distance(
    P: Any,
    Q: Any,
    cost: Any,
    discount: Any,
    *,
    source_start: Any = None,
    target_start: Any = None,
    normalised: bool = False,
    tol: float | None = None,
) -> Any:
    """The distance between two chains from their starts, for `jax.grad` and `jax.jit`.

    Parameters
    ----------
    P, Q : array [n, n] and [m, m], or [B, n, n] and [B, m, m]
        Transition probabilities; rows lie on the simplex, as after `jax.nn.softmax(logits)`. Probabilities that are
        zero have derivative zero.
    cost : array [n, m] or [B, n, m]
        The cost of every pair of states, not negative.
    discount : float or array [] or [B]
        In [0, 1).
    source_start, target_start : array [n] and [m], or with a batch, optional
        Initial laws, on the simplex; uniform by default.
    normalised : bool
        Multiply the cost by 1 - discount.
    tol : float, optional
        The certified relative gap, as for `bisimetric.solve`.

    Returns
    -------
    array [] or [B]
        One distance, or one for each item of the batch where any input has one.

    Raises
    ------
    MissingExtra
        JAX is not installed.
    InvalidChain, InvalidProblem, InvalidOption
        Rows are not on the simplex, or shapes, cost or discount do not fit, or a derivative is differentiated again.
        Inside `jit` and `vmap` only what depends on shapes, types and plain numbers is raised so; what depends on the
        values of arrays is inside JAX's own error.

    Examples
    --------
    >>> import jax  # doctest: +SKIP
    >>> import bisimetric as bm
    >>> target, cost = [[0.3, 0.7], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]
    >>> loss = lambda logits: bm.jax.distance(jax.nn.softmax(logits), target, cost, 0.9)
    >>> jax.grad(loss)(jax.numpy.zeros((2, 2)))  # doctest: +SKIP
    """
    jax = _jax()
    given = {"P": P, "Q": Q, "cost": cost, "discount": discount}
    given |= {"source_start": source_start, "target_start": target_start}
    arrays: list[Any] = []
    for name, value in given.items():
        if value is None and name.endswith("_start"):
            arrays.append(None)
            continue
        try:
            array = jax.numpy.asarray(value, dtype=None if hasattr(value, "dtype") else float)
        except (TypeError, ValueError):
            raise InvalidProblem(
                f"{name} is a {type(value).__name__}, expected an array or numbers; sparse ones as {name}.todense()"
            ) from None
        refuse_dtype(array.dtype, name, f"jax.numpy.asarray({name}, float)")
        arrays.append(array)
    dtype = jax.numpy.result_type(*(array for array in arrays if array is not None))
    refuse_shapes(Inputs(*arrays))
    for k in (0, 1):
        if arrays[4 + k] is None:
            n = arrays[k].shape[-1]
            arrays[4 + k] = jax.numpy.full((n,), 1.0 / n, dtype)
    for name, option in (("normalised", normalised), ("tol", tol)):
        if isinstance(option, jax.core.Tracer):
            raise InvalidOption(
                f"{name} is an array inside a transform of JAX, expected a plain value; "
                f"jax.jit(..., static_argnames={name!r}) keeps it one"
            )
    exact = float(discount) if isinstance(discount, (int, float)) else None  # an array may be in single precision
    return _function()(checked_settings(Settings(normalised, tol, exact)), *arrays)


def _jax() -> Any:
    try:
        import jax
    except ImportError:
        raise MissingExtra("bisimetric.jax needs JAX, which is missing: pip install 'bisimetric[jax]'") from None
    return jax


def _batch(arrays: tuple[Any, ...]) -> tuple[int, ...]:
    size = batch_size(Inputs(*arrays))
    return () if size is None else (size,)


@cache
def _function() -> Any:
    """The operation, made when JAX is first needed."""
    from functools import partial

    jax = _jax()
    shape_of = jax.ShapeDtypeStruct

    def call(host: Any, results: Any, arrays: tuple[Any, ...]) -> Any:
        if not any(isinstance(array, jax.core.Tracer) for array in arrays):  # the values are here: errors stay ours
            return jax.tree.map(jax.numpy.asarray, host(*arrays))
        return jax.pure_callback(host, results, *arrays, vmap_method="sequential")

    @partial(jax.custom_jvp, nondiff_argnums=(0,))
    def apply(settings: Settings, *arrays: Any) -> Any:
        dtype = jax.numpy.result_type(*arrays)

        def host(*values: Any) -> Any:
            return np.asarray(distances(Inputs(*map(np.asarray, values)), settings), dtype)

        return call(host, shape_of(_batch(arrays), dtype), arrays)

    @partial(jax.custom_jvp, nondiff_argnums=(0,))
    def derive(settings: Settings, *arrays: Any) -> Any:
        dtype, batch = jax.numpy.result_type(*arrays), _batch(arrays)
        core = (2, 2, 2, 0, 1, 1)
        shapes = [shape_of(batch + one.shape[one.ndim - k :], dtype) for one, k in zip(arrays, core, strict=True)]

        def host(*values: Any) -> Any:
            found = evaluate(Inputs(*map(np.asarray, values)), settings)
            return tuple(np.asarray(part, dtype) for part in found)

        return call(host, (shape_of(batch, dtype), *shapes), arrays)

    def along(settings: Settings, arrays: Any, tangents: Any) -> Any:
        value, *derivatives = derive(settings, *arrays)
        change = jax.numpy.zeros_like(value)
        for derivative, tangent in zip(derivatives, tangents, strict=True):
            product = derivative * tangent.astype(value.dtype)
            change += product.sum(axis=tuple(range(value.ndim, product.ndim)))
        return value, change

    def again(settings: Settings, arrays: Any, tangents: Any) -> Any:
        raise InvalidOption(
            "a derivative of bisimetric.jax.distance is differentiated again, expected first derivatives only: second "
            "ones are not computed; jax.lax.stop_gradient keeps a derivative that is part of a loss as a number"
        )

    apply.defjvp(along)
    derive.defjvp(again)
    return apply

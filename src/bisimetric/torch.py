"""Distances as PyTorch functions, with exact derivatives.

The distance and its derivatives are computed on the processor in double precision, from the couplings and potentials of
an exact solve (`solution.gradient`). Tensors on other devices are moved there, and the results back to where they came
from; single precision stays single. `torch.compile` leaves the function as it is, between the graphs of what is around
it. PyTorch is imported on first use: `pip install 'bisimetric[torch]'`.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from bisimetric.errors import InvalidChain, InvalidOption, InvalidProblem, MissingExtra
from bisimetric.learning.batches import Inputs, Settings, StoredKernel, distances, evaluate, refuse_dtype

__all__ = ["distance"]

REVERSE_MODE = (
    "take backward(), torch.autograd.grad or torch.autograd.functional.jacobian, which go in reverse, and a batch as "
    "the first axis of the inputs instead of torch.func.vmap"
)


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
    """The distance between two chains from their starts, as a tensor that knows its derivatives.

    Parameters
    ----------
    P, Q : tensor [n, n] and [m, m], or [B, n, n] and [B, m, m]
        Transition probabilities; rows lie on the simplex, as after `torch.softmax(logits, -1)`. Sparse tensors (COO or
        CSR, without a batch) have derivatives by their values. Probabilities that are zero have derivative zero.
    cost : tensor [n, m] or [B, n, m]
        The cost of every pair of states, not negative.
    discount : float or tensor [] or [B]
        In [0, 1); a tensor may require derivatives too.
    source_start, target_start : tensor [n] and [m], or with a batch, optional
        Initial laws, on the simplex; uniform by default.
    normalised : bool
        Multiply the cost by 1 - discount.
    tol : float, optional
        The certified relative gap, as for `bisimetric.solve`.

    Returns
    -------
    tensor [] or [B]
        One distance, or one for each item of the batch where any input has one: inputs without a batch axis are shared.
        Items are solved in threads, from the distances of the first.

    Raises
    ------
    MissingExtra
        PyTorch is not installed.
    InvalidChain
        Rows are not on the simplex; the message says which and by how much.
    InvalidProblem, InvalidOption
        Cost, discount or shapes do not fit, a tensor is neither float32 nor float64 or holds no values, or this is
        called inside a transform of `torch.func` or in forward mode: `torch.autograd.grad` and a batch axis do the
        same.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> import bisimetric as bm
    >>> logits = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)  # doctest: +SKIP
    >>> target = torch.tensor([[0.3, 0.7], [0.0, 1.0]], dtype=torch.float64)  # doctest: +SKIP
    >>> cost = torch.tensor([[0.0, 1.0], [1.0, 0.0]], dtype=torch.float64)  # doctest: +SKIP
    >>> bm.torch.distance(torch.softmax(logits, -1), target, cost, 0.9).backward()  # doctest: +SKIP
    """
    torch = _torch()
    given = {"P": P, "Q": Q, "cost": cost, "discount": discount}
    given |= {"source_start": source_start, "target_start": target_start}
    settings = Settings(normalised, tol)
    if torch.compiler.is_compiling():
        return torch.compiler.disable(_distance)(given, settings)
    return _distance(given, settings)


def _distance(given: dict[str, Any], settings: Settings) -> Any:
    torch = _torch()
    dtype, device = _common(torch, given)
    tensors, kernels = [], []
    for name, value in given.items():
        tensor = _tensor(torch, value, name)
        if tensor is not None and tensor.layout != torch.strided:
            tensor, places = _stored(torch, tensor, name)
            kernels.append((name, places))
        tensors.append(tensor)
    try:
        return _function()(dict(kernels), settings, dtype, device, *tensors)
    except RuntimeError as error:
        if "setup_context" not in str(error):  # what PyTorch says of a function inside torch.func.grad, vmap, …
            raise
        raise InvalidOption(
            f"distance is inside a transform of torch.func, which it does not support; {REVERSE_MODE}"
        ) from None


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        raise MissingExtra(
            "bisimetric.torch needs PyTorch, which is missing: pip install 'bisimetric[torch]'"
        ) from None
    return torch


def _tensor(torch: Any, value: Any, name: str) -> Any:
    """A tensor as it is, anything else in double precision but arrays in single; None only for a start."""
    if torch.is_tensor(value) or (value is None and name.endswith("_start")):
        return value
    single = isinstance(value, np.ndarray) and value.dtype == np.float32  # whose rows sum to one less accurately
    try:
        is_complex = np.iscomplexobj(value)
        tensor = None if is_complex else torch.tensor(value, dtype=torch.float32 if single else torch.float64)
    except (TypeError, ValueError, RuntimeError):
        raise InvalidProblem(
            f"{name} is a {type(value).__name__}, expected a tensor, an array or numbers; torch.stack joins tensors"
        ) from None
    if is_complex:
        refuse_dtype(np.asarray(value).dtype, name, "")
    return tensor


def _common(torch: Any, given: dict[str, Any]) -> tuple[Any, Any]:
    """The precision and the device of the result: single only if all tensors are."""
    tensors = {name: value for name, value in given.items() if torch.is_tensor(value)}
    for name, tensor in tensors.items():
        refuse_dtype(tensor.dtype, name, f"{name}.double()")
        if tensor.device.type == "meta":
            raise InvalidOption(f"{name} is on the device meta, where tensors have no values; expected one with values")
    single = bool(tensors) and all(tensor.dtype == torch.float32 for tensor in tensors.values())
    device = next((tensor.device for tensor in tensors.values()), torch.device("cpu"))
    return (torch.float32 if single else torch.float64), device


def _stored(torch: Any, tensor: Any, name: str) -> tuple[Any, tuple[Any, Any, int]]:
    """The values of a sparse tensor, and where they are."""
    if name not in ("P", "Q") or tensor.ndim != 2 or tensor.shape[0] != tensor.shape[1]:
        raise InvalidChain(
            f"{name} is sparse with shape {tuple(tensor.shape)}, expected P or Q, [n, n], or a dense tensor; "
            f"{name}.to_dense() makes one"
        )
    if tensor.layout not in (torch.sparse_csr, torch.sparse_coo) or tensor.dense_dim() > 0:
        kind = f"{tensor.layout}{' with dense dimensions' if tensor.dense_dim() > 0 else ''}"
        remedy = "to_sparse_csr()" if tensor.layout == torch.sparse_csc else "to_dense()"
        raise InvalidChain(
            f"{name} has the layout {kind}, expected sparse_coo, sparse_csr or dense; {name}.{remedy} converts it"
        )
    if tensor.layout == torch.sparse_csr:
        columns = tensor.col_indices().cpu().numpy().copy()  # PyTorch's own array cannot be made writable
        rows = np.repeat(np.arange(tensor.shape[0]), np.diff(tensor.crow_indices().cpu().numpy()))
        return tensor.values(), (rows, columns, tensor.shape[0])
    whole = tensor.coalesce()
    rows, columns = whole.indices().cpu().numpy().copy()
    return whole.values(), (rows, columns, tensor.shape[0])


@cache
def _function() -> Any:
    """The operation, made when PyTorch is first needed."""
    torch = _torch()

    class NotAgain(torch.autograd.Function):  # type: ignore[misc, name-defined]
        """Zero, which depends on all inputs and whose derivatives are refused; added to what has none by them."""

        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            return torch.zeros((), dtype=torch.float32)  # promotes nothing

        @staticmethod
        def backward(ctx: Any, outer: Any) -> Any:
            raise InvalidOption(
                "a derivative of bisimetric.torch.distance is differentiated again, expected first derivatives only: "
                "second ones are not computed; detach() the derivative where it is part of a loss"
            )

    class Distance(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, kernels: Any, settings: Settings, dtype: Any, device: Any, *tensors: Any) -> Any:
            arrays: list[Any] = [None if one is None else one.detach().cpu().resolve_neg().numpy() for one in tensors]
            for k, name in enumerate(("P", "Q")):
                if name in kernels:
                    arrays[k] = StoredKernel(arrays[k], *kernels[name])
            inputs = Inputs(*arrays)
            if not any(ctx.needs_input_grad):
                return torch.as_tensor(distances(inputs, settings), dtype=dtype, device=device)
            found = evaluate(inputs, settings)
            ctx.derivatives = [torch.as_tensor(derivative) for derivative in found[1:]]
            ctx.save_for_backward(*(one for one in tensors if one is not None))
            ctx.like = [None if one is None else (one.ndim, one.dtype, one.device) for one in tensors]
            return torch.as_tensor(found.distance, dtype=dtype, device=device)

        @staticmethod
        def backward(ctx: Any, outer: Any) -> tuple[Any, ...]:
            found: list[Any] = []
            weight = outer.cpu().double()
            if torch.is_grad_enabled():  # somebody wants derivatives of these derivatives
                weight = weight + NotAgain.apply(*ctx.saved_tensors)
            for derivative, like, needed in zip(ctx.derivatives, ctx.like, ctx.needs_input_grad[4:], strict=True):
                if not needed:
                    found.append(None)
                    continue
                ndim, dtype, device = like
                product = weight.reshape(weight.shape + (1,) * (derivative.ndim - weight.ndim)) * derivative
                if product.ndim > ndim:  # shared by the whole batch
                    product = product.sum(0)
                found.append(product.to(dtype).to(device))
            return (None, None, None, None, *found)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            raise InvalidOption(
                f"distance is differentiated in forward mode, which it does not support; {REVERSE_MODE}"
            )

    return Distance.apply

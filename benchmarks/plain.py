"""The paper's two methods as a short script: NumPy, couplings as [n, m, n, m] arrays, one loop.

Vectorised, with no thought about structure: what the factored form is compared with. One piece of code serves both
sides, `axis` being the one that is summed over. Couplings are kept as they are, which is faster, or as logarithms,
which stay finite for any step size.

Reference: Calo et al. 2024, Algorithms 1, 2 and 3, one operator application a round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import bisimetric as bm

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Arrays:
    """A problem as dense arrays that broadcast to [n, m, n, m]."""

    source: Floats  # [n, 1, n, 1]
    target: Floats  # [1, m, 1, m]
    cost: Floats  # [n, m, 1, 1]
    discount: float

    @classmethod
    def of(cls, problem: bm.Problem) -> Arrays:
        """The arrays of a problem."""
        p, q = problem.source.transitions.toarray(), problem.target.transitions.toarray()
        return cls(p[:, None, :, None], q[None, :, None, :], problem.cost[:, :, None, None], problem.discount)

    def side(self, k: int) -> tuple[Floats, int]:
        """The marginal that round k projects on, and the axis that is summed over."""
        return (self.source, 3) if k % 2 else (self.target, 2)


def rounds(method: str, problem: bm.Problem, step: float) -> Iterator[Floats]:
    """The couplings after each round, [n, m, n, m]; their logarithms for "svi-log"."""
    arrays = Arrays.of(problem)
    if method == "spi":
        return _spi(arrays, step)
    return _svi_log(arrays, step) if method == "svi-log" else _svi(arrays, step)


def _svi(arrays: Arrays, step: float) -> Iterator[Floats]:
    coupling = arrays.source * arrays.target
    n, m = coupling.shape[:2]
    values = np.zeros((n, m, 1, m)), np.zeros((n, m, n, 1))  # V_Y, V_X
    k = 0
    while True:
        k += 1
        marginal, axis = arrays.side(k)
        value = values[k % 2]
        weight = coupling * np.exp(-step * _backed_up(arrays, (marginal * value).sum((2, 3))))
        ratio = np.divide(weight.sum(axis, keepdims=True), marginal, out=np.ones_like(value), where=marginal > 0)
        np.divide(np.log(ratio), -step, out=value)
        coupling = coupling * np.exp(-step * _backed_up(arrays, (marginal * value).sum((2, 3))))
        coupling = coupling * _quotient(marginal, coupling.sum(axis, keepdims=True))
        yield coupling


def _svi_log(arrays: Arrays, step: float) -> Iterator[Floats]:
    with np.errstate(divide="ignore"):
        coupling = np.log(arrays.source) + np.log(arrays.target)
        marginals = np.log(arrays.target), np.log(arrays.source)
    n, m = coupling.shape[:2]
    values = np.zeros((n, m, 1, m)), np.zeros((n, m, n, 1))
    k = 0
    while True:
        k += 1
        marginal, axis = arrays.side(k)
        value, log = values[k % 2], marginals[k % 2]
        shifted = coupling - step * _backed_up(arrays, (marginal * value).sum((2, 3)))
        np.divide(_log_sum(shifted, axis, log), -step, out=value)
        coupling -= step * _backed_up(arrays, (marginal * value).sum((2, 3)))
        coupling -= _log_sum(coupling, axis, log)
        yield coupling


def _spi(arrays: Arrays, step: float) -> Iterator[Floats]:
    coupling = arrays.source * arrays.target
    value = np.zeros(coupling.shape[:2])
    k = 0
    while True:
        k += 1
        marginal, axis = arrays.side(k)
        value = arrays.cost[:, :, 0, 0] + arrays.discount * (rounded(coupling, arrays) * value).sum((2, 3))
        coupling = coupling * np.exp(-step * _backed_up(arrays, value))
        coupling = coupling * _quotient(marginal, coupling.sum(axis, keepdims=True))
        yield coupling


def rounded(coupling: Floats, arrays: Arrays) -> Floats:
    """Algorithm 3 on all pairs at once."""
    p, q = arrays.source, arrays.target
    made: Floats = coupling * np.minimum(_quotient(p, coupling.sum(3, keepdims=True)), 1.0)
    made *= np.minimum(_quotient(q, made.sum(2, keepdims=True)), 1.0)
    missing_p = p - made.sum(3, keepdims=True)
    missing_q = q - made.sum(2, keepdims=True)
    made += missing_p * _quotient(missing_q, np.abs(missing_p).sum(2, keepdims=True))
    return made


def _backed_up(arrays: Arrays, expected: Floats) -> Floats:
    """Q(xy, x'y') = c(xy) + γ E(x'y')."""
    table: Floats = arrays.cost + arrays.discount * expected
    return table


def _quotient(a: Floats, b: Floats) -> Floats:
    """a/b, and 0 where b is 0."""
    shape = np.broadcast_shapes(a.shape, b.shape)
    return np.divide(a, b, out=np.zeros(shape), where=b != 0)


def _log_sum(exponents: Floats, axis: int, marginal: Floats) -> Floats:
    """log Σ exp(exponents) - marginal, and 0 where the marginal has no mass."""
    top = exponents.max(axis, keepdims=True)
    top[np.isneginf(top)] = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        sums = np.log(np.exp(exponents - top).sum(axis, keepdims=True)) + top - marginal
    sums[np.isnan(sums)] = 0.0
    return np.asarray(sums)

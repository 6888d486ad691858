"""Half projections where every state has all successors: the shared way of kernels/sinkhorn.py as matrix products.

Scalings of consecutive pairs are then the rows of a matrix, and whole source rows of pairs can be treated at once by
numpy, whose exponentials and logarithms are the fastest there are. A block of which one pair does not fit the shared
way is left to the general kernel.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric.kernels.layout import Rows, Scalings, Shared

Floats = npt.NDArray[np.float64]
SPAN, SMALLEST = 600.0, 1e-130  # as in kernels/sinkhorn.py, which this module must not load: it needs no compiler
NARROW = 16.0  # span up to which a sum of whole number and rest loses nothing that counts


class Weights(NamedTuple):
    """The probabilities of one side times the exponentials of its scalings, pair by pair, relative to exp(middle)."""

    weights: Floats  # [pairs, others]
    middle: Floats  # [pairs, 1]


def weigh(
    first: int, last: int, by_source: bool, rows: tuple[Rows, Rows], centre: Floats, scalings: Scalings, out: Weights
) -> bool:
    """The weights that a half projection of source rows first..last needs; False if a pair is out of range."""
    n, m = len(rows[0].indptr) - 1, len(rows[1].indptr) - 1
    pairs = slice(first * m, last * m)
    given, rest = (scalings.b, scalings.b_rest) if by_source else (scalings.a, scalings.a_rest)
    given, rest = given.reshape(n * m, -1)[pairs], rest.reshape(n * m, -1)[pairs]
    weights = out.weights[pairs]
    relative = given + centre
    low, high = relative.min(axis=1), relative.max(axis=1)
    span = (high - low).max()
    if span > SPAN:
        return False
    middle = np.rint(0.5 * (low + high))[:, None]
    out.middle[pairs] = middle
    relative -= middle
    np.add(relative, rest, out=weights)
    if span <= NARROW:
        np.exp(weights, out=weights)
    else:
        relative -= weights
        relative += rest  # what the sum was rounded by
        np.exp(weights, out=weights)
        relative *= weights
        weights += relative
    probability = rows[1].data.reshape(1, m, m) if by_source else rows[0].data.reshape(n, 1, n)[first:last]
    weights.reshape(last - first, m, -1)[...] *= probability
    return True


def project(
    first: int,
    last: int,
    by_source: bool,
    step: float,
    cost: Floats,
    rows: tuple[Rows, Rows],
    shared: Shared,
    given: Weights,
    scalings: Scalings,
    expected: Floats | None,
) -> bool:
    """Source rows first..last: own scalings are set, or `expected` if it is given. False if a pair is out of range."""
    n, m = len(rows[0].indptr) - 1, len(rows[1].indptr) - 1
    pairs = slice(first * m, last * m)
    own, own_rest = (scalings.a, scalings.a_rest) if by_source else (scalings.b, scalings.b_rest)
    mine, mine_rest = own.reshape(n * m, -1)[pairs], own_rest.reshape(n * m, -1)[pairs]
    logs = given.weights[pairs] @ shared.factor
    if logs.min() < SMALLEST:
        return False
    np.log(logs, out=logs)
    if expected is None:
        np.rint(logs, out=mine)
        np.subtract(mine, logs, out=mine_rest)
        mine += given.middle[pairs]
        mine += shared.shift
        np.negative(mine, out=mine)
        return True
    change = mine + given.middle[pairs]
    change += shared.shift
    logs += mine_rest
    change += logs
    by_state = change.reshape(last - first, m, -1)
    if by_source:
        total = np.matmul(by_state, rows[0].data.reshape(n, n, 1)[first:last])[:, :, 0]
    else:
        total = np.einsum("xyj,yj->xy", by_state, rows[1].data.reshape(m, m))
    expected[first:last] = cost[first:last] - total / step
    return True

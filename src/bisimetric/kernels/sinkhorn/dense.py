"""Half projections and rounding as matrix products, where every state has all successors.

    sums = weights · factor,        weights = Q(y'|y)·exp(β + v),        factor = exp(Λ - u - v)

The equations are those of kernels/sinkhorn/projection.py, summed with the shared kernel. Scalings of consecutive pairs
are the rows of a matrix. numpy takes exponentials and logarithms, the BLAS multiplies, and one compiled pass does the
work between them. The weights are kept for the other passes of a round, and a projection computes those that the next
projection needs. If one pair of a block is out of range, the general kernel does the whole block. Each function is one
pass, so nothing iterates here.

References: Cuturi 2013; Calo et al. 2024.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import vector_kernel
from bisimetric.kernels.layout import SMALLEST, SPAN
from bisimetric.kernels.sinkhorn.elementary import inner

UNKNOWN = np.inf  # the first `middle` of a block whose weights are not computed yet


@vector_kernel
def relate(first, last, given, rest, centre, out, error, middle):
    """Set out + error = given + centre + rest, relative to the whole part of the first state.

    Returns the largest distance of a whole part from that of the first state.
    """
    furthest = 0.0
    for pair in range(first, last):
        row, row_rest, here, missed = given[pair], rest[pair], out[pair], error[pair - first]
        reference = row[0] + centre[0]
        middle[pair] = reference
        for k in range(len(centre)):
            whole = (row[k] + centre[k]) - reference
            furthest = max(furthest, abs(whole))
            total = whole + row_rest[k]
            missed[k] = (whole - total) + row_rest[k]
            here[k] = total
    return furthest


@vector_kernel
def weigh(first, last, m, by_source, probability, error, weights):
    """Correct the exponentials for the errors of their arguments, and multiply by the other side's probabilities."""
    for pair in range(first, last):
        x = pair // m
        here, missed, row = weights[pair], error[pair - first], probability[pair - x * m if by_source else x]
        for k in range(len(here)):
            here[k] = (here[k] + here[k] * missed[k]) * row[k]


@vector_kernel
def commit(first, last, relaxation, logs, middle, shift, mine, mine_rest):
    """Move the own scalings towards what the logarithms of the sums ask for; all the way with relaxation 1."""
    for pair in range(first, last):
        log, own, own_rest, reference = logs[pair - first], mine[pair], mine_rest[pair], middle[pair]
        if relaxation == 1.0:
            for i in range(len(log)):
                carry = np.rint(log[i])
                own[i] = -(reference + shift[i] + carry)
                own_rest[i] = carry - log[i]
        else:
            for i in range(len(log)):
                moved = own_rest[i] - relaxation * ((reference + shift[i] + own[i]) + (log[i] + own_rest[i]))
                carry = np.rint(moved)
                own[i] += carry
                own_rest[i] = moved - carry


@vector_kernel
def expect(first, last, by_source, step, cost, probability, logs, middle, shift, mine, mine_rest, expected):
    """Set expected = c - 1/step·Σ P(x')·(α + log Σ …) from the logarithms of the sums; overwrites them."""
    m = cost.shape[1]
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        log, own, own_rest, reference = logs[pair - first], mine[pair], mine_rest[pair], middle[pair]
        for i in range(len(log)):
            log[i] = (own[i] + (reference + shift[i])) + (own_rest[i] + log[i])
        expected[x, y] = cost[x, y] - inner(probability[x if by_source else y], log) / step


@vector_kernel
def turn(first, last, m, by_source, probability, sums, factor, top, weights, middle):
    """Compute the weights of the side just projected, without exponentials: its scalings are one over the sums."""
    for pair in range(first, last):
        x = pair // m
        here, total, row = weights[pair], sums[pair - first], probability[x if by_source else pair - x * m]
        for k in range(len(here)):
            # The operator / would test every divisor for zero, which prevents vector instructions.
            here[k] = np.divide(row[k] * factor[k], total[k])
        middle[pair] = top - middle[pair]


def prepare(first, last, by_source, rows, centre, scalings, out):
    """Compute the weights of the pairs first..last; returns False if one is out of range."""
    n, m = len(rows[0].indptr) - 1, len(rows[1].indptr) - 1
    given, rest = (scalings.b, scalings.b_rest) if by_source else (scalings.a, scalings.a_rest)
    error = np.empty((last - first, len(centre)))
    given, rest = given.reshape(n * m, -1), rest.reshape(n * m, -1)
    if relate(first, last, given, rest, centre, out.weights, error, out.middle) > 0.5 * SPAN:
        return False
    part = out.weights[first:last]
    np.exp(part, out=part)
    weigh(first, last, m, by_source, rows[1 if by_source else 0].data.reshape(-1, len(centre)), error, out.weights)
    return True


def project(first, last, relaxation, step, cost, rows, shared, given, own_centre, scalings, expected):
    """Project the pairs first..last: set own scalings, or `expected` if it is not empty; False if one is out of range.

    When it sets scalings without over-relaxation, `given` becomes the weights of the own side, relative to
    `own_centre`, if they fit.
    """
    n, m = cost.shape
    by_source, own = shared.by_source, rows[0 if shared.by_source else 1]
    sums = given.weights[first:last] @ shared.factor
    if sums.min() < SMALLEST:
        return False
    probability = own.data.reshape(-1, sums.shape[1])
    mine, rest = (scalings.a, scalings.a_rest) if by_source else (scalings.b, scalings.b_rest)
    mine, rest = mine.reshape(n * m, -1), rest.reshape(n * m, -1)
    if expected.size > 0:
        logs = np.log(sums, out=sums)
        expect(first, last, by_source, step, cost, probability, logs, given.middle, shared.shift, mine, rest, expected)
        return True
    commit(first, last, relaxation, np.log(sums), given.middle, shared.shift, mine, rest)
    relative = own_centre - shared.shift
    if relaxation == 1.0 and n == m and relative.max() - relative.min() <= 0.5 * SPAN:
        top = relative.max()
        factor = np.exp(relative - top)
        turn(first, last, m, by_source, probability, sums, factor, top, given.weights, given.middle)
    else:
        given.middle[first] = UNKNOWN
    return True


def rounded_mean(first, last, rows, centres, kernel, top, value, scalings):
    """[pairs], <G, value> where G is the rounded coupling of each pair first..last; None if one is out of range.

    Before rounding the coupling is F = diag(A) kernel diag(B), so Algorithm 3 (see kernels/sinkhorn/rounding.py) needs
    only products with vectors. Entries of `kernel` = exp(Λ - centres - top) below e^-708 are lost; A and B are at most
    e^300, so each such entry of F is at most e^-108.
    """
    n, m = value.shape
    p = np.repeat(rows[0].data.reshape(n, n)[first // m : last // m], m, axis=0)
    q = np.tile(rows[1].data.reshape(m, m), ((last - first) // m, 1))
    a, b = scalings.a.reshape(n * m, n)[first:last] + centres[0], scalings.b.reshape(n * m, m)[first:last] + centres[1]
    high_a, high_b = a.max(axis=1), b.max(axis=1)
    half = np.rint(0.5 * (high_a - high_b - top))
    if (high_a - half).max() > 0.5 * SPAN or (high_b + half + top).max() > 0.5 * SPAN:
        return None
    a -= half[:, None]
    b += (half + top)[:, None]
    for exponent, rest, probability in ((a, scalings.a_rest, p), (b, scalings.b_rest, q)):
        exponent += rest.reshape(n * m, -1)[first:last]
        np.exp(exponent, out=exponent)
        exponent *= probability
    _shrink(a, b @ kernel.T, p)
    column = a @ kernel
    _shrink(b, column, q)
    left = np.maximum(p - a * (b @ kernel.T), 0.0)
    right = np.maximum(q - b * column, 0.0)
    lacking = right.sum(axis=1)
    spread = np.einsum("ki,ki->k", left, right @ value.T)
    np.divide(spread, lacking, out=spread, where=lacking > 0.0)
    mean = np.einsum("ki,ki->k", a, b @ (kernel * value).T) + spread
    return mean if np.isfinite(mean).all() else None


def _shrink(weights, products, limit):
    """Scale the weights down where weights·products exceed the limit."""
    total = weights * products
    weights *= np.divide(limit, total, out=np.ones_like(total), where=total > limit)

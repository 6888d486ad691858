"""Policy evaluation: the operators I - γΠ and the vector steps of BiCGSTAB.

For a fixed coupling Π the value solves (I - γΠ) V = c. Every kernel works on source rows first..last; inner
products come back as one partial sum per source row, added up in that order by the caller, so they do not
depend on how rows are split between threads.

Reference: van der Vorst 1992 (BiCGSTAB).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel


@kernel
def apply_trees(first, last, vector, out, other, discount, P, Q, pairs, trees, sums):
    """out = vector - γΠ·vector for the trees' coupling; sums[x] = (<other, out>, <out, out>)."""
    row, begin = pairs.row, pairs.begin
    listed = begin.size > 0
    for x in range(first, last):
        sx = P.indptr[x + 1] - P.indptr[x]
        product = 0.0
        square = 0.0
        for pair in range(row[x], row[x + 1]):
            y = pair - row[x]
            at = trees.offset[x] + (np.int64(begin[pair]) if listed else y * (sx - 1) + Q.indptr[y])
            expected = 0.0
            for k in range(at, at + trees.used[pair]):
                expected += trees.weight[k] * vector[trees.target[k]]
            result = vector[pair] - discount * expected
            out[pair] = result
            product += other[pair] * result
            square += result * result
        sums[x, 0] = product
        sums[x, 1] = square


@kernel
def apply_independent(first, last, vector, out, other, discount, stop, P, Q, sums):
    """The same for the independent coupling: out = vector - γ·P vector Qᵀ."""
    m = len(Q.indptr) - 1
    mixed = np.empty(m)
    for x in range(first, last):
        mixed[:] = 0.0
        for k in range(P.indptr[x], P.indptr[x + 1]):
            weight = P.data[k]
            at = P.indices[k] * m
            for y in range(m):
                mixed[y] += weight * vector[at + y]
        product = 0.0
        square = 0.0
        for y in range(m):
            pair = x * m + y
            expected = 0.0
            if stop.size == 0 or not stop[x, y]:
                for k in range(Q.indptr[y], Q.indptr[y + 1]):
                    expected += Q.data[k] * mixed[Q.indices[k]]
            result = vector[pair] - discount * expected
            out[pair] = result
            product += other[pair] * result
            square += result * result
        sums[x, 0] = product
        sums[x, 1] = square


@kernel
def step_direction(first, last, p, r, v, beta, omega):
    """p = r + β(p - ωv)."""
    for k in range(first, last):
        p[k] = r[k] + beta * (p[k] - omega * v[k])


@kernel
def step_half(first, last, r, v, alpha):
    """r -= αv; what the textbooks call s."""
    for k in range(first, last):
        r[k] -= alpha * v[k]


@kernel
def step_full(first, last, x, p, r, t, shadow, alpha, omega, sums):
    """x += αp + ωr and then r -= ωt; sums[part] = (<shadow, r>, max |r|), for even parts of the vectors."""
    parts = len(sums)
    for part in range(first, last):
        product = 0.0
        largest = 0.0
        for k in range(x.size * part // parts, x.size * (part + 1) // parts):
            x[k] += alpha * p[k] + omega * r[k]
            rest = r[k] - omega * t[k]
            r[k] = rest
            product += shadow[k] * rest
            largest = max(largest, abs(rest))
        sums[part, 0] = product
        sums[part, 1] = largest

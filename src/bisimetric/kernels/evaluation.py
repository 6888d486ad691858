"""Policy evaluation: the operators I - γΠ and the vector steps of BiCGSTAB.

    (I - γΠ) V = c

For a fixed coupling Π this is its value. Every kernel works on source rows first..last. Inner products come back as one
partial sum per source row; the caller adds them up in the order of the rows, so they do not depend on how rows are
split between threads. Each kernel is one pass, so nothing iterates here; the iteration is in kernels/krylov.py.

Reference: van der Vorst 1992 (BiCGSTAB).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part, summing_kernel
from bisimetric.kernels.layout import COMPACT_BITS, Index

WITHOUT_SIGN = np.int64(2**63 - 1)  # mask for the bits of a real


@kernel
def apply_trees(first, last, vector, out, other, discount, P, Q, pairs, trees, sums):
    """Compute out = vector - γΠ·vector for the trees' coupling; sums[x] = (<other, out>, <out, out>)."""
    row, begin, q_at = pairs.row, pairs.begin, Q.indptr
    offset, used, target, weight = trees.offset, trees.used, trees.target, trees.weight
    listed = begin.size > 0
    one, two = Index(1), Index(2)
    for x in range(first, last):
        sx = P.indptr[x + 1] - P.indptr[x]
        product = 0.0
        square = 0.0
        for pair in range(Index(row[x]), Index(row[x + 1])):
            y = pair - Index(row[x])
            at = offset[x] + (np.int64(begin[pair]) if listed else np.int64(y) * (sx - 1) + q_at[y])
            k = Index(at)
            end = k + Index(used[pair])
            even = 0.0  # two sums: the processor adds to both at once
            odd = 0.0
            while k + one < end:
                even += weight[k] * vector[Index(target[k])]
                odd += weight[k + one] * vector[Index(target[k + one])]
                k += two
            if k < end:
                even += weight[k] * vector[Index(target[k])]
            result = vector[pair] - discount * (even + odd)
            out[pair] = result
            product += other[pair] * result
            square += result * result
        sums[x, 0] = product
        sums[x, 1] = square


@kernel
def apply_compact(first, last, vector, out, other, discount, P, Q, pairs, trees, sums):
    """The same for the compact layout of trees, on all pairs.

    Rows of rounded weights w do not sum to one, so what is missing stays where it is: Πv = v + Σ w (v' - v). Constants
    are then exact, and rounding errors are those of differences between neighbours.
    """
    q_at, q_to, offset, used, cell, weight = Q.indptr, Q.indices, trees.offset, trees.used, trees.target, trees.weight
    m = len(q_at) - 1
    one, two, bits = Index(1), Index(2), Index(COMPACT_BITS)
    low = (one << bits) - one
    begins = np.empty(one << bits, np.uint64)  # [successors of x], where their rows of pairs begin
    for x in range(first, last):
        x_at = P.indptr[x]
        sx = P.indptr[x + 1] - x_at
        for i in range(sx):
            begins[i] = Index(np.int64(P.indices[Index(x_at + i)]) * m)
        product = 0.0
        square = 0.0
        for y in range(Index(m)):
            pair = Index(x * m) + y
            y_at = Index(q_at[y])
            here = vector[pair]
            k = Index(offset[x] + np.int64(y) * (sx - 1) + q_at[y])
            end = k + Index(used[pair])
            even = 0.0  # two sums: the processor adds to both at once
            odd = 0.0
            while k + one < end:
                c = Index(cell[k])
                d = Index(cell[k + one])
                even += weight[k] * (vector[begins[c >> bits] + Index(q_to[y_at + (c & low)])] - here)
                odd += weight[k + one] * (vector[begins[d >> bits] + Index(q_to[y_at + (d & low)])] - here)
                k += two
            if k < end:
                c = Index(cell[k])
                even += weight[k] * (vector[begins[c >> bits] + Index(q_to[y_at + (c & low)])] - here)
            result = (1.0 - discount) * here - discount * (even + odd)
            out[pair] = result
            product += other[pair] * result
            square += result * result
        sums[x, 0] = product
        sums[x, 1] = square


@kernel
def row_products(first, last, row, out, other, sums):
    """sums[x] = (<other, out>, <out, out>) as `apply_trees` adds them up, for an `out` that was computed elsewhere."""
    for x in range(first, last):
        product = 0.0
        square = 0.0
        for pair in range(Index(row[x]), Index(row[x + 1])):
            product += other[pair] * out[pair]
            square += out[pair] * out[pair]
        sums[x, 0] = product
        sums[x, 1] = square


@kernel
def apply_independent(first, last, vector, out, other, discount, stop, P, Q, sums):
    """The same for the independent coupling: out = vector - γ·P vector Qᵀ."""
    q_at, q_to, q_mass = Q.indptr, Q.indices, Q.data
    m = len(q_at) - 1
    mixed = np.empty(m)
    stopping = stop.size > 0
    for x in range(first, last):
        mixed[:] = 0.0
        for k in range(P.indptr[x], P.indptr[x + 1]):
            weight = P.data[k]
            from_row = vector[P.indices[k] * m : (P.indices[k] + 1) * m]
            for y in range(m):
                mixed[y] += weight * from_row[y]
        row = slice(x * m, (x + 1) * m)
        here, there, others = vector[row], out[row], other[row]
        product = 0.0
        square = 0.0
        for y in range(m):
            expected = 0.0
            if not (stopping and stop[x, y]):
                for k in range(Index(q_at[y]), Index(q_at[y + 1])):
                    expected += q_mass[k] * mixed[Index(q_to[k])]
            result = here[y] - discount * expected
            there[y] = result
            product += others[y] * result
            square += result * result
        sums[x, 0] = product
        sums[x, 1] = square


@part
def _largest_bits(vector):
    """The bits of max |vector|, which is NaN if an entry is: as whole numbers they are in the order of the sizes.

    Maxima of reals that may be infinite are taken one after the other, which takes three times as long.
    """
    bits = vector.view(np.int64)
    largest = np.int64(0)
    for k in range(bits.size):
        largest = max(largest, bits[k] & WITHOUT_SIGN)
    return largest


@part
def _advance(x, p, r, t, alpha, omega):
    """x += αp + ωr and then r -= ωt, entry by entry and without fused operations.

    Sums have loops of their own, which write nothing: a loop that writes is made twice, with and without vector
    instructions, and where arrays are in memory decides which one runs. Sums of the two would differ.
    """
    for k in range(x.size):
        x[k] += alpha * p[k] + omega * r[k]
        r[k] -= omega * t[k]


@summing_kernel
def step_begin(first, last, b, t, r, shadow, sums):
    """r = shadow = b - t; sums[part] = (<r, r>, max |r|), for equal parts of the vectors."""
    parts = len(sums)
    bits = sums.view(np.int64)
    for share in range(first, last):
        here = slice(r.size * share // parts, r.size * (share + 1) // parts)
        b_here, t_here, r_here, shadow_here = b[here], t[here], r[here], shadow[here]
        for k in range(r_here.size):
            rest = b_here[k] - t_here[k]
            r_here[k] = rest
            shadow_here[k] = rest
        product = 0.0
        for k in range(r_here.size):
            product += r_here[k] * r_here[k]
        sums[share, 0] = product
        bits[share, 1] = _largest_bits(r_here)


@kernel
def step_direction(first, last, p, r, v, beta, omega):
    """p = r + β(p - ωv)."""
    p, r, v = p[first:last], r[first:last], v[first:last]
    for k in range(p.size):
        p[k] = r[k] + beta * (p[k] - omega * v[k])


@kernel
def step_half(first, last, r, v, alpha):
    """r -= αv, which textbooks call s."""
    r, v = r[first:last], v[first:last]
    for k in range(r.size):
        r[k] -= alpha * v[k]


@summing_kernel
def step_full(first, last, x, p, r, t, shadow, alpha, omega, sums):
    """x += αp + ωr and then r -= ωt; sums[part] = (<shadow, r>, max |r|), for equal parts of the vectors."""
    parts = len(sums)
    bits = sums.view(np.int64)
    for share in range(first, last):
        here = slice(x.size * share // parts, x.size * (share + 1) // parts)
        x_here, p_here, r_here, t_here, shadow_here = x[here], p[here], r[here], t[here], shadow[here]
        _advance(x_here, p_here, r_here, t_here, alpha, omega)
        product = 0.0
        for k in range(r_here.size):
            product += shadow_here[k] * r_here[k]
        sums[share, 0] = product
        bits[share, 1] = _largest_bits(r_here)

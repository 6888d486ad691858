"""Derivatives of transports with respect to their marginals, summed over pairs of states.

With ν the weight of a pair and (f, g) optimal potentials of its transport,

    ∂/∂P(i|x)  ←  Σ_y ν(x, y) f_xy(i),        ∂/∂Q(j|y)  ←  Σ_x ν(x, y) g_xy(j),        f(i) = min_j V(i, j) - g(j).

Potentials are defined up to a constant; here each has mean zero over its support. The coupling of a pair and its
potentials are the only optimal ones if the cells with mass form a spanning tree and no other cell is tight. One pass
over the pairs, so nothing iterates here.

Reference: Kantorovich 1942 (duality of transport).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel
from bisimetric.kernels.layout import Index


@kernel
def potential_sums(x_of, y_of, at, visits, value, P, Q, cells, tight, to_source, to_target, tied):
    """Add ν·f and ν·g of the pairs (x_of, y_of), number `at` in `cells`, to the entries of the rows.

    Cells of reduced cost up to `tight` are tight. `tied` gets for every pair whether it has several optima.
    """
    p_at, p_to = P.indptr, P.indices
    q_at, q_to = Q.indptr, Q.indices
    indptr, weight, start, potential = cells.indptr, cells.weight, cells.start, cells.potential
    f, rest = np.empty(len(p_to) + 1), np.empty(len(q_to) + 1)  # hold one row at a time
    for pair in range(len(x_of)):
        k = at[pair]
        first, last = indptr[k], indptr[k + 1]
        if first == last:  # a stop
            continue
        x_at, y_at, g_at = p_at[x_of[pair]], q_at[y_of[pair]], start[k]
        sx, sy = p_at[x_of[pair] + 1] - x_at, q_at[y_of[pair] + 1] - y_at
        used = 0
        for cell in range(Index(first), Index(last)):
            used += weight[cell] > 0.0
        mean = 0.0
        touched = 0
        for i in range(sx):
            row = value[Index(p_to[Index(x_at + i)])]
            least = np.inf
            for j in range(sy):
                rest[j] = row[Index(q_to[Index(y_at + j)])] - potential[Index(g_at + j)]
                least = min(least, rest[j])
            for j in range(sy):
                touched += rest[j] <= least + tight
            f[i] = least
            mean += least
        mean /= sx
        for i in range(sx):
            to_source[Index(x_at + i)] += visits[pair] * (f[i] - mean)
        mean = 0.0
        for j in range(sy):
            mean += potential[Index(g_at + j)]
        mean /= sy
        for j in range(sy):
            to_target[Index(y_at + j)] += visits[pair] * (potential[Index(g_at + j)] - mean)
        tied[pair] = used != sx + sy - 1 or touched != used

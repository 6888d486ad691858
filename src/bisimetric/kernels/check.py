"""The checker: what a value, couplings and potentials prove, whoever proposed them.

For every pair (x, y), with any π that couples P[x] and Q[y] and any g,

    U = c + γ<π, V> ≥ (T V),        f(i) = min_j V(i, j) - g(j),        L = c + γ(<f, P[x]> + <g, Q[y]>) ≤ (T V),

because (f, g) is dual feasible for every g. The checker measures by how much the marginals of π are wrong, and counts
negative masses and cells outside the supports as invalid. It shares no code with the kernels that propose couplings and
potentials. It makes one pass over the pairs, so nothing iterates here.

Reference: Kantorovich 1942 (duality of transport).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel
from bisimetric.kernels.layout import Index


@kernel
def check(x_of, y_of, value, cost, scale, discount, stop, P, Q, cells, upper, lower):
    """Compute U and L at the pairs (x_of, y_of); returns the fields of a `Report`."""
    p_at, p_to, p_mass = P.indptr, P.indices, P.data  # local names: numba counts no references on every use
    q_at, q_to, q_mass = Q.indptr, Q.indices, Q.data
    indptr, left, right, weight = cells.indptr, cells.left, cells.right, cells.weight
    start, potential = cells.start, cells.potential
    stopping = stop.size > 0
    row_mass = np.zeros(len(P.data) + 1)  # holds one row at a time
    column_mass = np.zeros(len(Q.data) + 1)
    lowest = np.inf
    highest = -np.inf
    marginal_error = 0.0
    largest = 0.0
    most = 0
    invalid = 0
    for pair in range(len(x_of)):
        x = x_of[pair]
        y = y_of[pair]
        scaled = cost[x, y] * scale
        here = value[x, y]
        if stopping and stop[x, y]:
            upper[pair] = scaled
            lower[pair] = scaled
            lowest = min(lowest, scaled - here)
            highest = max(highest, scaled - here)
            continue
        x_at = p_at[x]
        sx = p_at[x + 1] - x_at
        y_at = q_at[y]
        sy = q_at[y + 1] - y_at
        for i in range(sx):
            row_mass[i] = p_mass[Index(x_at + i)]
        for j in range(sy):
            column_mass[j] = q_mass[Index(y_at + j)]
        expected = 0.0
        for k in range(Index(indptr[pair]), Index(indptr[pair + 1])):
            i = left[k]
            j = right[k]
            mass = weight[k]
            if i < 0 or i >= sx or j < 0 or j >= sy or not mass >= 0.0:
                invalid += 1
                continue
            row_mass[i] -= mass
            column_mass[j] -= mass
            expected += mass * value[Index(p_to[Index(x_at + i)]), Index(q_to[Index(y_at + j)])]
        off = 0.0
        for i in range(sx):
            off += abs(row_mass[i])
        for j in range(sy):
            off += abs(column_mass[j])
        marginal_error = max(marginal_error, off)

        g_at = start[pair]
        dual = 0.0
        largest_f = 0.0
        largest_g = 0.0
        for j in range(sy):
            g = potential[Index(g_at + j)]
            dual += g * q_mass[Index(y_at + j)]
            largest_g = max(largest_g, abs(g))
            if not abs(g) < np.inf:
                invalid += 1
        for i in range(sx):
            state = Index(p_to[Index(x_at + i)])
            f = np.inf
            for j in range(sy):
                f = min(f, value[state, Index(q_to[Index(y_at + j)])] - potential[Index(g_at + j)])
            dual += f * p_mass[Index(x_at + i)]
            largest_f = max(largest_f, abs(f))
        largest = max(largest, largest_f + largest_g)
        above = scaled + discount * expected
        below = scaled + discount * dual
        upper[pair] = above
        lower[pair] = below
        lowest = min(lowest, below - here)
        highest = max(highest, above - here)
        most = max(most, max(indptr[pair + 1] - indptr[pair], sx + sy))
    return lowest, highest, marginal_error, largest, most, invalid


@kernel
def lead_outside(indptr, heads, reached):
    """Mark the nodes of a graph that reach node number len(indptr) - 1, which stands for everything outside.

    The arcs of node k are heads[indptr[k] : indptr[k + 1]]. A backward search from the outside visits every arc once.
    """
    size = len(indptr) - 1
    start = np.zeros(size + 2, np.int64)
    for head in heads:
        start[head + 1] += 1
    for k in range(size + 1):
        start[k + 1] += start[k]
    tails = np.empty(len(heads), np.int32)
    for k in range(size - 1, -1, -1):
        for arc in range(indptr[k], indptr[k + 1]):
            head = heads[arc]
            start[head + 1] -= 1
            tails[start[head + 1]] = k
    # Now start[h + 1] is where the tails of h begin, and start[h + 2] where they end (the outside ends with the list).
    reached[:] = False
    queue = np.empty(size + 1, np.int32)
    queue[0] = size
    filled = 1
    looked = 0
    while looked < filled:
        head = queue[looked]
        looked += 1
        end = start[head + 2] if head < size else len(tails)
        for arc in range(start[head + 1], end):
            tail = tails[arc]
            if not reached[tail]:
                reached[tail] = True
                queue[filled] = tail
                filled += 1

"""Half projections where states have few successors, one source row of pairs at a time; see kernels/sinkhorn.py.

The scalings of the pairs (x, ·) lie side by side, those of the target side in the order of the target's rows. So all
exponentials and all logarithms of such a row of pairs are taken in one go, and only the sums go pair by pair.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import vector_kernel
from bisimetric.kernels.layout import SMALLEST, SPAN, Index
from bisimetric.kernels.sinkhorn.elementary import exp_parts, log_all
from bisimetric.kernels.sinkhorn.projection import own_way

NO_MASS = 1.0  # sums of a pair that is not projected, so that their logarithms can be taken with the others


@vector_kernel
def project(first, last, by_source, commit, step, cost, scale, stop, P, Q, shared, centre, scalings, expected):
    """What `sinkhorn.project` does, for the pairs of source rows first..last."""
    m = len(Q.indptr) - 1
    longest = 0
    for x in range(first, last):
        longest = max(longest, P.indptr[x + 1] - P.indptr[x])
    size = max(m * longest, len(Q.indices))
    states, probability, ends = np.empty(m * longest, np.int32), np.empty(m * longest), np.empty(m + 1, np.int64)
    whole, rest, weights, scratch = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    sums, tops, logs = np.empty(size), np.empty(size), np.empty(size)
    middle, fits = np.empty(m), np.empty(m, np.bool_)
    p_to, p_mass, factor, shift = P.indices, P.data, shared.factor, shared.shift
    for x in range(first, last):
        # Source and target side in the same form: the row of x once for every y.
        x_at = P.indptr[x]
        sx = P.indptr[x + 1] - x_at
        ends[0] = 0
        for y in range(m):
            ends[y + 1] = ends[y] + sx
            for i in range(sx):
                states[Index(y * sx + i)] = p_to[Index(x_at + i)]
                probability[Index(y * sx + i)] = p_mass[Index(x_at + i)]
        at_x, at_y = m * P.indptr[x], x * len(Q.indices)
        a, a_rest = scalings.a[at_x : at_x + m * sx], scalings.a_rest[at_x : at_x + m * sx]
        b, b_rest = scalings.b[at_y : at_y + len(Q.indices)], scalings.b_rest[at_y : at_y + len(Q.indices)]
        mine, mine_rest, given, given_rest = (a, a_rest, b, b_rest) if by_source else (b, b_rest, a, a_rest)
        own_states, other_states = (states, Q.indices) if by_source else (Q.indices, states)
        own_probability, other_probability = (probability, Q.data) if by_source else (Q.data, probability)
        own_ends, other_ends = (ends, Q.indptr) if by_source else (Q.indptr, ends)
        owns, others = len(mine), len(given)
        for k in range(others):
            whole[k] = given[k] + centre[Index(other_states[k])]
            rest[k] = given_rest[k]
        for y in range(m):
            begin, end = Index(other_ends[y]), Index(other_ends[y + 1])
            low, high = whole[begin], whole[begin]
            for k in range(begin, end):
                low, high = min(low, whole[k]), max(high, whole[k])
            fits[y] = high - low <= SPAN
            middle[y] = np.rint(0.5 * (low + high)) if fits[y] else high  # of the latter no exponential overflows
            for k in range(begin, end):
                whole[k] -= middle[y]
        exp_parts(others, whole, rest, weights, scratch)
        for k in range(others):
            weights[k] *= other_probability[k]
        for y in range(m):
            if stop.size > 0 and stop[x, y]:
                sums[own_ends[y] : own_ends[y + 1]] = NO_MASS
                continue
            begin, end = Index(other_ends[y]), Index(other_ends[y + 1])
            for i in range(Index(own_ends[y]), Index(own_ends[y + 1])):
                own, total = Index(own_states[i]), 0.0
                for k in range(begin, end):
                    total += weights[k] * factor[Index(other_states[k]), own]
                fits[y] = fits[y] and total >= SMALLEST
                sums[i] = total
                tops[i] = middle[y] + shift[own]
            if not fits[y]:
                mine_here, others_here = slice(own_ends[y], own_ends[y + 1]), slice(other_ends[y], other_ends[y + 1])
                own_way(
                    other_probability[others_here], other_states[others_here], given[others_here],
                    given_rest[others_here], own_states[mine_here], shared, scratch, sums[mine_here], tops[mine_here],
                )  # fmt: skip
        log_all(owns, sums, logs, scratch)
        if commit:
            for i in range(owns):
                carry = np.rint(logs[i])
                tops[i] = -(tops[i] + carry)
                logs[i] = carry - logs[i]
            for y in range(m):
                if stop.size == 0 or not stop[x, y]:
                    for i in range(Index(own_ends[y]), Index(own_ends[y + 1])):
                        mine[i] = tops[i]
                        mine_rest[i] = logs[i]
            continue
        for i in range(owns):
            change = (mine[i] + tops[i]) + (mine_rest[i] + logs[i])
            sums[i] = own_probability[i] * change
        for y in range(m):
            total = 0.0
            if stop.size == 0 or not stop[x, y]:
                for i in range(Index(own_ends[y]), Index(own_ends[y + 1])):
                    total += sums[i]
            expected[x, y] = cost[x, y] * scale - total / step

"""Derivatives of transports with respect to their marginals, summed over pairs of states.

With ν the weight of a pair and (f, g) optimal potentials of its transport,

    ∂/∂P(i|x)  ←  Σ_y ν(x, y) f_xy(i),        ∂/∂Q(j|y)  ←  Σ_x ν(x, y) g_xy(j),        f(i) = min_j V(i, j) - g(j).

Potentials are defined up to a constant; here each has mean zero over its support. The coupling of a pair and its
potentials are the only optimal ones if the cells with mass form a spanning tree and no other cell is tight. Masses that
rounding of the rows explains do not count. One pass over the pairs, so nothing iterates here.

Where pairs of classes were solved, f and g are those of the classes, so one pass over the pairs of classes suffices.

Reference: Kantorovich 1942 (duality of transport).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part
from bisimetric.kernels.layout import ROUNDING_MASS, Index


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
            used += weight[cell] > ROUNDING_MASS * (sx + sy)
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


@kernel
def sum_over_classes(visits, class_x, class_y, by_x, by_y):
    """Add ν up over the target states of each class, to by_x [n, classes], and over the source states, to by_y."""
    for x in range(len(class_x)):
        X = class_x[x]
        for y in range(len(class_y)):
            share = visits[x, y]
            by_x[x, class_y[y]] += share
            by_y[X, y] += share


@kernel
def class_sums(first, last, value, source, target, members, small, visits, tight, sums, ties):
    """The same for the pairs of classes with source classes first..last, whose cells are `small`.

    `members` are the states of the source and of the target classes, as (indptr, states); `visits` holds ν summed over
    the target states of a class, [n, classes], and over the source states, [classes, m]. `sums` is (to_source,
    to_target). `ties` gets whether a pair of classes has several optima, [classes, classes], and whether a state does
    because several of its successors, in one class, have a choice, [n, classes] and [classes, m].
    """
    wide = value.shape[1]
    # Local names, since numba counts a reference whenever code takes an array from a tuple or slices it.
    p_at, p_position, p_class = source.indptr, source.position, source.class_of
    q_at, q_position, q_class = target.indptr, target.position, target.class_of
    small_p_at, small_p, small_q_at, small_q = (
        source.small_indptr, source.small_classes, target.small_indptr, target.small_classes,
    )  # fmt: skip
    x_begin, x_states, y_begin, y_states = members
    visits_x, visits_y = visits
    to_source, to_target = sums
    tied, tied_x, tied_y = ties
    indptr, weight, start, potential = small.indptr, small.weight, small.start, small.potential
    f = np.empty(len(small_p) + 1)
    choices_x = np.empty(len(f), np.int64)  # tight cells of each row
    choices_y = np.empty(len(small_q) + 1, np.int64)  # and of each column
    for X in range(first, last):
        x_at = small_p_at[X]
        sx = small_p_at[X + 1] - x_at
        for Y in range(wide):
            pair = (X - first) * wide + Y
            if indptr[pair] == indptr[pair + 1]:  # a stop
                continue
            y_at, g_at = small_q_at[Y], start[pair]
            sy = small_q_at[Y + 1] - y_at
            used = 0
            for cell in range(Index(indptr[pair]), Index(indptr[pair + 1])):
                used += weight[cell] > ROUNDING_MASS * (sx + sy)
            touched = 0
            mean_f = 0.0
            mean_g = 0.0
            for j in range(sy):
                choices_y[j] = 0
                mean_g += potential[Index(g_at + j)]
            for i in range(sx):
                row = Index(small_p[Index(x_at + i)])
                least = _lowest(value, row, small_q, y_at, potential, g_at, sy)
                f[i] = least
                mean_f += least
                count = 0
                for j in range(sy):
                    near = value[row, Index(small_q[Index(y_at + j)])] - potential[Index(g_at + j)] <= least + tight
                    count += near
                    choices_y[j] += near
                choices_x[i] = count
                touched += count
            mean_f /= sx
            mean_g /= sy
            tied[X, Y] = used != sx + sy - 1 or touched != used
            for member in range(x_begin[X], x_begin[X + 1]):
                x = x_states[member]
                share = visits_x[x, Y]
                if share > 0.0:
                    i, before = 0, -1
                    for entry in range(Index(p_at[x]), Index(p_at[x + 1])):
                        of_class = p_class[entry]
                        while i < sx and small_p[Index(x_at + i)] < of_class:
                            i += 1
                        listed = i < sx and small_p[Index(x_at + i)] == of_class
                        level = f[i] if listed else _lowest(value, of_class, small_q, y_at, potential, g_at, sy)
                        to_source[Index(p_at[x] + p_position[entry])] += share * (level - mean_f)
                        if of_class == before and listed and choices_x[i] > 1:
                            tied_x[x, Y] = True
                        before = of_class
            for member in range(y_begin[Y], y_begin[Y + 1]):
                y = y_states[member]
                share = visits_y[X, y]
                if share > 0.0:
                    j, before = 0, -1
                    for entry in range(Index(q_at[y]), Index(q_at[y + 1])):
                        of_class = q_class[entry]
                        while j < sy and small_q[Index(y_at + j)] < of_class:
                            j += 1
                        listed = j < sy and small_q[Index(y_at + j)] == of_class
                        level = (
                            potential[Index(g_at + j)] if listed else _largest_g(value, small_p, x_at, sx, of_class, f)
                        )
                        to_target[Index(q_at[y] + q_position[entry])] += share * (level - mean_g)
                        if of_class == before and listed and choices_y[j] > 1:
                            tied_y[X, y] = True
                        before = of_class


@part
def _lowest(value, row, to, y_at, potential, g_at, sy):
    """f = min_j V(i, j) - g(j) for the successors j that are listed from y_at on, and g from g_at on."""
    least = np.inf
    for j in range(sy):
        least = min(least, value[row, Index(to[Index(y_at + j)])] - potential[Index(g_at + j)])
    return least


@part
def _largest_g(value, successors, x_at, sx, of_class, f):
    """The largest g of a class without a potential that f allows."""
    least = np.inf
    for i in range(sx):
        least = min(least, value[successors[x_at + i], of_class] - f[i])
    return least

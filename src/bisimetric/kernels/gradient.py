"""Derivatives of transports with respect to their marginals, summed over pairs of states.

With ν the weight of a pair and (f, g) optimal potentials of its transport,

    ∂/∂P(i|x)  ←  Σ_y ν(x, y) f_xy(i),        ∂/∂Q(j|y)  ←  Σ_x ν(x, y) g_xy(j),        f(i) = min_j V(i, j) - g(j).

Potentials are defined up to a constant; here each has mean zero over its support. The coupling of a pair and its
potentials are the only optimal ones if the cells with mass form a spanning tree and no other cell is tight. One pass
over the pairs, so nothing iterates here.

Where pairs of classes were solved, f and g are those of the classes, so one pass over the pairs of classes suffices.

Reference: Kantorovich 1942 (duality of transport).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part
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


@kernel
def class_sums(first, last, value, source, target, members, small, visits, tight, sums, ties):
    """The same for the pairs of classes with source classes first..last, whose cells are `small`.

    `members` are the states of the source and of the target classes, as (indptr, states); `visits` holds ν summed over
    the target states of a class, [n, classes], and over the source states, [classes, m]. `sums` is (to_source,
    to_target). `ties` gets whether a pair of classes has several optima, [classes, classes], and whether a state does
    because several of its successors, in one class, have a choice, [n, classes] and [classes, m].
    """
    wide = value.shape[1]
    f, rest = np.empty(len(source.small_classes) + 1), np.empty(len(target.small_classes) + 1)
    choices_x, choices_y = np.empty(len(f), np.int64), np.empty(len(rest), np.int64)  # tight cells of a row or column
    tied, tied_x, tied_y = ties
    for X in range(first, last):
        x_at, sx = source.small_indptr[X], source.small_indptr[X + 1] - source.small_indptr[X]
        for Y in range(wide):
            pair = (X - first) * wide + Y
            if small.indptr[pair] == small.indptr[pair + 1]:  # a stop
                continue
            y_at, sy = target.small_indptr[Y], target.small_indptr[Y + 1] - target.small_indptr[Y]
            g = small.potential[small.start[pair] : small.start[pair] + sy]
            to = target.small_classes[y_at : y_at + sy]
            used = 0
            for cell in range(small.indptr[pair], small.indptr[pair + 1]):
                used += small.weight[cell] > 0.0
            touched = 0
            choices_y[:sy] = 0
            for i in range(sx):
                row = value[source.small_classes[x_at + i]]
                f[i] = _lowest(row, to, g)
                choices_x[i] = 0
                for j in range(sy):
                    if row[to[j]] - g[j] <= f[i] + tight:
                        choices_x[i] += 1
                        choices_y[j] += 1
                touched += choices_x[i]
            tied[X, Y] = used != sx + sy - 1 or touched != used
            mean = f[:sx].mean()
            for member in range(members[0][X], members[0][X + 1]):
                x = members[1][member]
                weight = visits[0][x, Y]
                if weight > 0.0:
                    i, before = 0, -1
                    for entry in range(source.indptr[x], source.indptr[x + 1]):
                        of_class = source.class_of[entry]
                        while i < sx and source.small_classes[x_at + i] < of_class:
                            i += 1
                        listed = i < sx and source.small_classes[x_at + i] == of_class
                        level = f[i] if listed else _lowest(value[of_class], to, g)
                        sums[0][source.indptr[x] + source.position[entry]] += weight * (level - mean)
                        if of_class == before and listed and choices_x[i] > 1:
                            tied_x[x, Y] = True
                        before = of_class
            mean = g.mean()
            for member in range(members[2][Y], members[2][Y + 1]):
                y = members[3][member]
                weight = visits[1][X, y]
                if weight > 0.0:
                    j, before = 0, -1
                    for entry in range(target.indptr[y], target.indptr[y + 1]):
                        of_class = target.class_of[entry]
                        while j < sy and to[j] < of_class:
                            j += 1
                        listed = j < sy and to[j] == of_class
                        level = (
                            g[j] if listed else _largest_g(value, source.small_classes[x_at : x_at + sx], of_class, f)
                        )
                        sums[1][target.indptr[y] + target.position[entry]] += weight * (level - mean)
                        if of_class == before and listed and choices_y[j] > 1:
                            tied_y[X, y] = True
                        before = of_class


@part
def _lowest(row, to, g):
    """f = min_j V(i, j) - g(j)."""
    least = np.inf
    for j in range(len(g)):
        least = min(least, row[to[j]] - g[j])
    return least


@part
def _largest_g(value, successors, of_class, f):
    """The largest g of a class without a potential that f allows."""
    least = np.inf
    for i in range(len(successors)):
        least = min(least, value[successors[i], of_class] - f[i])
    return least

"""Couplings of a quotient, spread over the states of its classes.

    Σ_{i ∈ I, j ∈ J} π(i, j) = π̂(I, J),        π couples P[x] and Q[y]

A coupling π̂ of the classes' rows says how much mass goes to the pair of classes (I, J). Every way to spread it over
pairs of states costs the same, because distances depend on classes only; this one fills the states of a class in their
order (the north-west corner rule). A cell ends when its mass, a state of I or a state of J is used up, so a pair has at
most S_x + S_y cells more than π̂. The rule takes only minima and differences of exact probabilities, so marginals are
exact where those of π̂ are. Where classes do not lump exactly, the mass that remains is spread in the same way over all
states: the marginals are still exact, and the cost changes by at most the mass that lumping moved, times the span of
the distances. Every step of the rule uses up a cell or a state, so it ends.

Reference: Kemeny & Snell 1960 (lumpability).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part
from bisimetric.kernels.layout import Index


@kernel
def lift(sources, targets, class_x, class_y, source, target, small, number, value, out):
    """Make the cells of the pairs (sources[k], targets[k]) from those of their classes, number[k] in `small`.

    Fills `out`, whose arrays must be long enough, and returns the number of cells.
    """
    # Local names, since numba counts a reference whenever code takes an array from a tuple.
    p_at, p_position, p_mass = source.indptr, source.position, source.data
    q_at, q_position, q_mass = target.indptr, target.position, target.data
    p_alike, q_alike = source.alike, target.alike
    indptr, left, right, weight, g_at, potential = (
        small.indptr, small.left, small.right, small.weight, small.start, small.potential,
    )  # fmt: skip
    out_potential = out.potential
    out_indptr, out_left, out_right, out_weight, out_start = out.indptr, out.left, out.right, out.weight, out.start
    left_x, left_y = np.empty(_longest(p_at, sources)), np.empty(_longest(q_at, targets))
    size = _longest(source.small_indptr, class_x[sources])
    next_x, end_x = np.empty(size, np.int64), np.empty(size, np.int64)
    size = _longest(target.small_indptr, class_y[targets])
    next_y, end_y = np.empty(size, np.int64), np.empty(size, np.int64)
    cells = Index(0)
    one = Index(1)
    out_indptr[0] = 0
    out_start[0] = 0
    for pair in range(len(sources)):
        x, y, at = sources[pair], targets[pair], number[pair]
        x_at, y_at = p_at[x], q_at[y]
        sx, sy = p_at[x + 1] - x_at, q_at[y + 1] - y_at
        out_start[pair + 1] = out_start[pair] + sy
        if q_alike[y]:
            for j in range(sy):
                out_potential[Index(out_start[pair] + q_position[Index(y_at + j)])] = potential[Index(g_at[at] + j)]
        else:
            _lift_potential(class_x[x], y, class_y[y], source, target, small, at, out_start[pair], value, out_potential)
        if p_alike[x] and q_alike[y]:
            for k in range(Index(indptr[at]), Index(indptr[at + 1])):
                if weight[k] > 0.0:
                    out_left[cells] = p_position[Index(x_at + left[k])]
                    out_right[cells] = q_position[Index(y_at + right[k])]
                    out_weight[cells] = weight[k]
                    cells += one
        elif indptr[at] < indptr[at + 1]:  # the pair is no stop
            _ranges(source, x, class_x[x], next_x, end_x)
            _ranges(target, y, class_y[y], next_y, end_y)
            for i in range(sx):
                left_x[i] = p_mass[Index(x_at + i)]
            for j in range(sy):
                left_y[j] = q_mass[Index(y_at + j)]
            for k in range(Index(indptr[at]), Index(indptr[at + 1])):
                to_x, to_y, mass = Index(left[k]), Index(right[k]), weight[k]
                i, j = Index(next_x[to_x]), Index(next_y[to_y])
                while mass > 0.0 and i < Index(end_x[to_x]) and j < Index(end_y[to_y]):
                    moved = min(mass, min(left_x[i], left_y[j]))
                    if moved > 0.0:
                        out_left[cells] = p_position[Index(x_at) + i]
                        out_right[cells] = q_position[Index(y_at) + j]
                        out_weight[cells] = moved
                        cells += one
                    mass -= moved
                    left_x[i] -= moved
                    left_y[j] -= moved
                    if left_x[i] == 0.0:
                        i += one
                    if left_y[j] == 0.0:
                        j += one
                next_x[to_x] = i
                next_y[to_y] = j
            i, j = Index(0), Index(0)
            while i < Index(sx) and j < Index(sy):  # spread the rest, which is zero where lumping is exact
                moved = min(left_x[i], left_y[j])
                if moved > 0.0:
                    out_left[cells] = p_position[Index(x_at) + i]
                    out_right[cells] = q_position[Index(y_at) + j]
                    out_weight[cells] = moved
                    cells += one
                left_x[i] -= moved
                left_y[j] -= moved
                if left_x[i] == 0.0:
                    i += one
                else:
                    j += one
        out_indptr[pair + 1] = cells
    return cells


@part
def _longest(indptr, rows):
    """The largest number of entries in one of the rows."""
    longest = 0
    for row in rows:
        longest = max(longest, indptr[row + 1] - indptr[row])
    return longest


@part
def _ranges(side, state, of_class, begin, end):
    """Find where the entries of each class in the quotient's row begin and end among a row's sorted entries."""
    at = side.indptr[state]
    size = side.indptr[state + 1] - at
    small_at = side.small_indptr[of_class]
    i = 0
    for k in range(side.small_indptr[of_class + 1] - small_at):
        while i < size and side.class_of[at + i] < side.small_classes[small_at + k]:
            i += 1
        begin[k] = i
        while i < size and side.class_of[at + i] == side.small_classes[small_at + k]:
            i += 1
        end[k] = i


@part
def _lift_potential(X, y, Y, source, target, small, at, begin, value, out):
    """Give each state the g of its class; a class missing from the quotient's row gets the largest g that keeps f."""
    q_at, q_position, class_of, classes = target.indptr, target.position, target.class_of, target.small_classes
    potential = small.potential
    Y_at, Y_end = target.small_indptr[Y], target.small_indptr[Y + 1]
    g_at = small.start[at] - Y_at
    k = Y_at
    for j in range(Index(q_at[y]), Index(q_at[y + 1])):
        to = class_of[j]
        while k < Y_end and classes[Index(k)] < to:
            k += 1
        if k < Y_end and classes[Index(k)] == to:
            g = potential[Index(g_at + k)]
        else:
            g = np.inf
            for i in range(source.small_indptr[X], source.small_indptr[X + 1]):
                row = value[source.small_classes[i]]
                f = np.inf
                for other in range(Y_at, Y_end):
                    f = min(f, row[classes[other]] - potential[g_at + other])
                g = min(g, row[to] - f)
        out[Index(begin + q_position[j])] = g

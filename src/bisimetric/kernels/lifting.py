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
    p_at, p_position = source.indptr, source.position
    q_at, q_position = target.indptr, target.position
    p_alike, q_alike = source.alike, target.alike
    indptr, left, right, weight, g_at, potential = (
        small.indptr, small.left, small.right, small.weight, small.start, small.potential,
    )  # fmt: skip
    out_potential = out.potential
    out_indptr, out_left, out_right, out_weight, out_start = out.indptr, out.left, out.right, out.weight, out.start
    room = _room(source), _room(target)
    cells = Index(0)
    one = Index(1)
    out_indptr[0] = 0
    out_start[0] = 0
    for pair in range(len(sources)):
        x, y, at = sources[pair], targets[pair], number[pair]
        x_at, y_at = p_at[x], q_at[y]
        sy = q_at[y + 1] - y_at
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
            cells = _spread(x, y, class_x[x], class_y[y], source, target, small, at, room, out, cells)
        out_indptr[pair + 1] = cells
    return cells


@kernel
def lift_flat(first, last, number, class_x, class_y, states, source, target, small, cells, indptr, to, weight):
    """Write the flat successor pairs of the pairs first..last and their weights, with offsets; returns their number.

    number[k] is where the classes of the k-th of these pairs are in `small`. `states` are the successors of source and
    of target states, in the order of the entries of `source` and `target`. `cells` has room for one pair.
    """
    p_at, p_alike, q_at, q_alike = source.indptr, source.alike, target.indptr, target.alike
    small_indptr, left, right, mass = small.indptr, small.left, small.right, small.weight
    p_position, q_position = source.position, target.position
    p_to, q_to = states
    m = len(class_y)
    room = _room(source), _room(target)
    filled = Index(0)
    one = Index(1)
    indptr[0] = 0
    x, y = first // m, first % m
    for pair in range(last - first):
        at = Index(number[pair])
        x_at, y_at = p_at[x], q_at[y]
        if p_alike[x] and q_alike[y]:
            for k in range(Index(small_indptr[at]), Index(small_indptr[at + one])):
                if mass[k] > 0.0:
                    i, j = p_position[Index(x_at + left[k])], q_position[Index(y_at + right[k])]
                    to[filled] = p_to[Index(x_at + i)] * m + q_to[Index(y_at + j)]
                    weight[filled] = mass[k]
                    filled += one
        elif small_indptr[at] < small_indptr[at + one]:  # the pair is no stop
            used = _spread(x, y, class_x[x], class_y[y], source, target, small, at, room, cells, Index(0))
            for k in range(used):
                to[filled] = p_to[Index(x_at + cells.left[k])] * m + q_to[Index(y_at + cells.right[k])]
                weight[filled] = cells.weight[k]
                filled += one
        indptr[pair + 1] = filled
        y += 1
        if y == m:
            x, y = x + 1, 0
    return filled


@part
def _room(side):
    """Space for the rest of each entry of a row, and for where the entries of each class begin and end."""
    longest = _longest(side.small_indptr)
    return np.empty(_longest(side.indptr)), np.empty(longest, np.int64), np.empty(longest, np.int64)


@part
def _longest(indptr):
    """The largest number of entries in a row."""
    longest = 0
    for row in range(len(indptr) - 1):
        longest = max(longest, indptr[row + 1] - indptr[row])
    return longest


@part
def _spread(x, y, X, Y, source, target, small, at, room, out, cells):
    """Spread the cells of the classes (X, Y), number `at` in `small`, over the successors of (x, y).

    Writes to `out` from the cell number `cells` on, and returns the number after the last.
    """
    x_at, y_at = source.indptr[x], target.indptr[y]
    sx, sy = source.indptr[x + 1] - x_at, target.indptr[y + 1] - y_at
    p_position, q_position = source.position, target.position
    (left_x, next_x, end_x), (left_y, next_y, end_y) = room
    out_left, out_right, out_weight = out.left, out.right, out.weight
    one = Index(1)
    _ranges(source, x, X, next_x, end_x)
    _ranges(target, y, Y, next_y, end_y)
    for i in range(sx):
        left_x[i] = source.data[Index(x_at + i)]
    for j in range(sy):
        left_y[j] = target.data[Index(y_at + j)]
    for k in range(Index(small.indptr[at]), Index(small.indptr[at + 1])):
        to_x, to_y, mass = Index(small.left[k]), Index(small.right[k]), small.weight[k]
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
    return cells


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

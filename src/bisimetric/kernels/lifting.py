"""Couplings of a quotient, spread over the states of its classes.

A coupling π̂ of the classes' rows says how much mass goes to the pair of classes (I, J). Any way to spread it over
pairs of states inside costs the same, because distances depend on classes only; here the states of a class are
filled in their order (the north-west corner rule). A cell ends when its mass, a state of I or a state of J is used up,
so a pair has at most S_x + S_y cells more than π̂. Only minima and differences of exact probabilities are taken, so
marginals are exact where those of π̂ are. Where classes do not lump exactly, what the cells leave over is
spread in the same way over all states: the marginals are still exact, and the cost is off by at most what lumping
moved.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel


@kernel
def lift_row(x, X, first, last, source, target, class_y, small, value, out):
    """Cells of the pairs (x, first) … (x, last - 1); `small` holds those of class X with the classes class_y.

    Pair number y - first of `small` is that of y. Fills `out`, whose arrays are long enough, and returns the number of
    its cells.
    """
    x_at = source.indptr[x]
    sx = source.indptr[x + 1] - x_at
    X_at = source.small_indptr[X]
    SX = source.small_indptr[X + 1] - X_at
    left_x, next_x, end_x = np.empty(sx), np.empty(SX, np.int64), np.empty(SX, np.int64)
    widest = 0
    widest_small = 0
    for y in range(first, last):
        widest = max(widest, target.indptr[y + 1] - target.indptr[y])
        Y = class_y[y - first]
        widest_small = max(widest_small, target.small_indptr[Y + 1] - target.small_indptr[Y])
    left_y = np.empty(widest)
    next_y, end_y = np.empty(widest_small, np.int64), np.empty(widest_small, np.int64)
    cells = 0
    out.indptr[0] = 0
    out.start[0] = 0
    for y in range(first, last):
        pair = y - first
        Y = class_y[pair]
        y_at = target.indptr[y]
        sy = target.indptr[y + 1] - y_at
        Y_at = target.small_indptr[Y]
        SY = target.small_indptr[Y + 1] - Y_at
        out.start[pair + 1] = out.start[pair] + sy
        _lift_potential(x, X, y, Y, source, target, small, pair, value, out)
        if small.indptr[pair] < small.indptr[pair + 1]:  # the game goes on here
            _ranges(source.class_of, x_at, sx, source.small_classes, X_at, SX, next_x, end_x)
            _ranges(target.class_of, y_at, sy, target.small_classes, Y_at, SY, next_y, end_y)
            for i in range(sx):
                left_x[i] = source.data[x_at + i]
            for j in range(sy):
                left_y[j] = target.data[y_at + j]
            for k in range(small.indptr[pair], small.indptr[pair + 1]):
                I, J, mass = small.left[k], small.right[k], small.weight[k]
                i, j = next_x[I], next_y[J]
                while mass > 0.0 and i < end_x[I] and j < end_y[J]:
                    moved = min(mass, min(left_x[i], left_y[j]))
                    if moved > 0.0:
                        out.left[cells] = source.position[x_at + i]
                        out.right[cells] = target.position[y_at + j]
                        out.weight[cells] = moved
                        cells += 1
                    mass -= moved
                    left_x[i] -= moved
                    left_y[j] -= moved
                    if left_x[i] == 0.0:
                        i += 1
                    if left_y[j] == 0.0:
                        j += 1
                next_x[I] = i
                next_y[J] = j
            i, j = 0, 0
            while i < sx and j < sy:  # nothing is left where lumping is exact
                moved = min(left_x[i], left_y[j])
                if moved > 0.0:
                    out.left[cells] = source.position[x_at + i]
                    out.right[cells] = target.position[y_at + j]
                    out.weight[cells] = moved
                    cells += 1
                left_x[i] -= moved
                left_y[j] -= moved
                if left_x[i] == 0.0:
                    i += 1
                else:
                    j += 1
        out.indptr[pair + 1] = cells
    return cells


@kernel
def _ranges(class_of, at, size, small_classes, small_at, small_size, begin, end):
    """Where the entries of each class of the quotient's row begin and end among a row's sorted entries."""
    i = 0
    for k in range(small_size):
        while i < size and class_of[at + i] < small_classes[small_at + k]:
            i += 1
        begin[k] = i
        while i < size and class_of[at + i] == small_classes[small_at + k]:
            i += 1
        end[k] = i


@kernel
def _lift_potential(x, X, y, Y, source, target, small, pair, value, out):
    """g of a state is that of its class; a class that the quotient's row lacks gets the largest g that changes no f."""
    y_at = target.indptr[y]
    Y_at, Y_end = target.small_indptr[Y], target.small_indptr[Y + 1]
    X_at, X_end = source.small_indptr[X], source.small_indptr[X + 1]
    g_at = small.start[pair]
    J = Y_at
    for j in range(y_at, target.indptr[y + 1]):
        to = target.class_of[j]
        while J < Y_end and target.small_classes[J] < to:
            J += 1
        if J < Y_end and target.small_classes[J] == to:
            g = small.potential[g_at + J - Y_at]
        else:
            g = np.inf
            for I in range(X_at, X_end):
                f = np.inf
                for K in range(Y_at, Y_end):
                    seen = value[source.small_classes[I], target.small_classes[K]] - small.potential[g_at + K - Y_at]
                    f = min(f, seen)
                g = min(g, value[source.small_classes[I], to] - f)
        out.potential[out.start[pair] + target.position[j]] = g

"""Vectors over listed pairs and matrices over all pairs of states; which pairs lead where."""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part

SLICE = 20_000_000  # moves that are followed in one call, about a tenth of a second


@part
def folded_number(n, x, y):
    """The number of a pair of states, or of its mirror image, if one of each two is listed; -1 for equal states.

    The source row x has the states x + 1, …, x + count on the circle of all n, in ascending order: first those beyond
    the end of the circle, if any. (Numbers in, a number out: an array that is handed on costs more than all of this.)
    """
    half = (n - 1) // 2
    rows_with_one_more = (n // 2) * (1 - n % 2)
    ahead = y - x if y >= x else y - x + n
    if ahead == 0:
        return -1
    if ahead > half + (x < rows_with_one_more):
        x, y, ahead = y, x, n - ahead
    first = x * half + min(x, rows_with_one_more)
    beyond = max(x + half + (x < rows_with_one_more) - (n - 1), 0)
    return first + (y if y < x else beyond + ahead - 1)


@kernel
def numbers(x_of, y_of, pairs, m, out):
    """The numbers of pairs of states."""
    number = pairs.number
    numbered = number.size > 0
    for k in range(len(out)):
        out[k] = number[x_of[k] * m + y_of[k]] if numbered else folded_number(m, x_of[k], y_of[k])


@kernel
def gather(first, last, pairs, matrix, vector):
    """vector = the entries of the listed pairs of the source rows first..last."""
    row, column = pairs.row, pairs.column
    for x in range(first, last):
        for pair in range(row[x], row[x + 1]):
            vector[pair] = matrix[x, column[pair]]


@kernel
def spread(first, last, pairs, vector, matrix):
    """Write a vector over listed pairs into the rows first..last of a matrix over all pairs, known entries left out."""
    m = matrix.shape[1]
    number = pairs.number
    numbered = number.size > 0
    for x in range(first, last):
        for y in range(m):
            pair = number[x * m + y] if numbered else folded_number(m, x, y)
            if pair >= 0:
                matrix[x, y] = vector[pair]


@kernel
def reach(begin, queue, filled, stop, P, Q, seen):
    """Follow all moves from the flat pairs queue[begin:filled], up to SLICE of them; returns the new (begin, filled).

    Pairs that were not seen are appended. Nothing is followed from a pair at which the game stops.
    """
    m = seen.shape[1]
    steps = 0
    while begin < filled and filled < seen.size and steps < SLICE:
        x = queue[begin] // m
        y = queue[begin] - x * m
        begin += 1
        if stop.size > 0 and stop[x, y]:
            continue
        for i in range(P.indptr[x], P.indptr[x + 1]):
            for j in range(Q.indptr[y], Q.indptr[y + 1]):
                after_x = P.indices[i]
                after_y = Q.indices[j]
                if not seen[after_x, after_y]:
                    seen[after_x, after_y] = True
                    queue[filled] = after_x * m + after_y
                    filled += 1
        steps += (P.indptr[x + 1] - P.indptr[x]) * (Q.indptr[y + 1] - Q.indptr[y])
    return begin, filled


@kernel
def successors(wanted, x_of, y_of, cells, P, Q, pairs, stop, cost, count, head):
    """How many successor pairs the couplings of the wanted ones of the pairs (x_of, y_of) have, and which, by number.

    None at a stop. Successors at which V is known do not count if it is zero, else they are number n_pairs. Returns
    how many there are in all.
    """
    indptr, left, right, weight, number = cells.indptr, cells.left, cells.right, cells.weight, pairs.number
    listed, numbered, stopping = pairs.column.size > 0, number.size > 0, stop.size > 0
    m = cost.shape[1]
    filled = 0
    for k in range(len(wanted)):
        pair = wanted[k]
        x_at = P.indptr[x_of[pair]]
        y_at = Q.indptr[y_of[pair]]
        before = filled
        if not (stopping and stop[x_of[pair], y_of[pair]]):
            for cell in range(indptr[pair], indptr[pair + 1]):
                x = np.int64(P.indices[x_at + left[cell]])
                y = np.int64(Q.indices[y_at + right[cell]])
                after = x * m + y
                if listed:
                    after = np.int64(number[after]) if numbered else folded_number(m, x, y)
                if after < 0 and cost[x, y] > 0.0:
                    after = pairs.row[-1]
                if after >= 0 and weight[cell] > 0.0:
                    head[filled] = after
                    filled += 1
        count[k] = filled - before
    return filled

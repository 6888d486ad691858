"""Vectors over listed pairs, matrices over all pairs of states, and the moves between pairs.

    vector[number(x, y)] = matrix[x, y],        (x, y) → (x', y')  if  P(x'|x) > 0 and Q(y'|y) > 0

A solver that lists pairs keeps one vector entry per listed pair. Either an array holds the numbers of the pairs, or one
of (x, y) and (y, x) is listed and `folded_number` computes its number. All kernels are one pass, except `reach`: a
breadth-first search, which visits each pair at most once and stops when no pair is left.

Reference: Moore 1959 (breadth-first search).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part
from bisimetric.kernels.layout import Index

SLICE = 20_000_000  # moves that one call follows, which takes about a tenth of a second


@part
def folded_number(n, x, y):
    """The number of (x, y) or (y, x), whichever is listed; -1 for equal states.

    Think of the n states as a circle. Source row x lists the `count` states that follow x on it, in ascending order:
    those past the end of the circle come first. (Arguments are numbers: passing an array costs more than this.)
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
    """Write the numbers of the pairs (x_of, y_of) to `out`."""
    number = pairs.number
    numbered = number.size > 0
    for k in range(len(out)):
        out[k] = number[x_of[k] * m + y_of[k]] if numbered else folded_number(m, x_of[k], y_of[k])


@kernel
def gather(first, last, pairs, matrix, vector):
    """Copy the entries of the listed pairs of source rows first..last from a matrix to a vector."""
    row, column = pairs.row, pairs.column
    for x in range(first, last):
        for pair in range(row[x], row[x + 1]):
            vector[pair] = matrix[x, column[pair]]


@kernel
def spread(first, last, pairs, vector, matrix):
    """Write a vector over listed pairs to rows first..last of a matrix over all pairs; keep entries of other pairs."""
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
    """Follow the moves from the flat pairs queue[begin:filled], about SLICE of them; returns the new (begin, filled).

    Appends the pairs not seen before. Follows no move from a pair at which the game stops.
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
    """Count and list the successor pairs, by number, of the couplings of pairs `wanted` among (x_of, y_of).

    A stop has no successors. A successor at which V is known is skipped if V is zero there, else its number is n_pairs.
    Returns the number of successors in all.
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


@kernel
def flat_successors(first, indptr, left, right, P, Q, out):
    """Write the flat pair of states that each cell leads to; the cells are those of the flat pairs from `first` on."""
    m = len(Q.indptr) - 1
    for k in range(len(indptr) - 1):
        x, y = (first + k) // m, (first + k) % m
        x_at, y_at = P.indptr[x], Q.indptr[y]
        for cell in range(indptr[k], indptr[k + 1]):
            out[cell] = np.int64(P.indices[x_at + left[cell]]) * m + Q.indices[y_at + right[cell]]


@kernel
def follow(indptr, indices, seen, queue):
    """Mark all states that the marked ones lead to; `queue` has room for all of them.

    One pass over the states in their order, which reads memory in its order too; states that are met behind it wait in
    the queue for a breadth-first search.
    """
    met = 0
    done = 0
    first = 0
    while first < len(seen) or done < met:
        if first < len(seen):
            state = first
            first += 1
            if not seen[state]:
                continue
        else:
            state = queue[done]
            done += 1
        for at in range(Index(indptr[state]), Index(indptr[state + 1])):
            to = Index(indices[at])
            if not seen[to]:
                seen[to] = True
                if indices[at] < first:
                    queue[met] = indices[at]
                    met += 1

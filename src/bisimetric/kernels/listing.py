"""Vectors over listed pairs and matrices over all pairs of states."""

from __future__ import annotations

from bisimetric.kernels._compile import kernel


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
    for x in range(first, last):
        for y in range(m):
            pair = number[x * m + y]
            if pair >= 0:
                matrix[x, y] = vector[pair]

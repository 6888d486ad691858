"""Rows that are known up to a 1-norm, by linear programs."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog


def least_transport(p, q, a, b, value):
    """min <μ, value> over joint laws whose marginals differ from p and q by at most the masses a and b."""
    n, m = value.shape
    size = n * m + 2 * n + 2 * m  # the joint law; mass taken from and added to p; the same for q
    equations, sides = [], []
    for axis, (law, count, begin) in enumerate(((p, n, n * m), (q, m, n * m + 2 * n))):
        for k in range(count):
            row = np.zeros(size)
            row[: n * m].reshape(n, m)[(slice(None),) * axis + (k,)] = 1.0
            row[begin + k], row[begin + count + k] = 1.0, -1.0
            equations.append(row)
            sides.append(law[k])
    equations.append(np.repeat([1.0, 0.0], [n * m, size - n * m]))
    taken = np.zeros((2, size))
    taken[0, n * m : n * m + n] = 1.0
    taken[1, n * m + 2 * n : n * m + 2 * n + m] = 1.0
    objective = np.concatenate([value.ravel(), np.zeros(size - n * m)])
    return linprog(objective, A_ub=taken, b_ub=[a, b], A_eq=np.array(equations), b_eq=[*sides, 1.0]).fun


def most_gained(plan, a, b, value):
    """max of <π', value> - <π, value> where at most a of a plan's mass moves to another row, b to another column."""
    at = np.argwhere(plan > 0.0)
    here = np.array([value[i, j] for i, j in at])
    weight = np.array([plan[i, j] for i, j in at])
    gains = [
        np.array([value[:, j].max() for _, j in at]) - here,
        np.array([value[i].max() for i, _ in at]) - here,
        value.max() - here,
    ]
    one, none = np.ones(len(at)), np.zeros(len(at))
    limits = np.vstack(
        [np.hstack([np.eye(len(at))] * 3), np.concatenate([one, none, one]), np.concatenate([none, one, one])]
    )
    return -linprog(-np.concatenate(gains), A_ub=limits, b_ub=[*weight, a, b]).fun


def moved_rows(matrix, errors, random, value=None):
    """Rows at the 1-norms `errors` from those of a matrix: mass moves to one state, at random or by a value [n].

    With a value the mass is taken where that is smallest and goes where it is largest.
    """
    rows = np.array(matrix, float)
    for row, error in zip(rows, errors, strict=True):
        order = random.permutation(len(row)) if value is None else np.argsort(value, kind="stable")
        to, left = order[-1], error / 2
        for k in order[:-1]:
            taken = min(left, row[k])
            row[k] -= taken
            row[to] += taken
            left -= taken
    return rows

"""Rounding to valid couplings: shrink rows and columns that exceed the marginals, then spread the missing mass.

The marginals of a pair's coupling F = P Q exp(α + β + Λ) are nearly the required p and q. Algorithm 3 of Calo et al.
2024 makes them exact, and moves F by at most twice the error of its marginals:

    F'  = diag(min(p / F1, 1)) F,        F'' = F' diag(min(q / F'ᵀ1, 1)),
    G   = F'' + err_p err_qᵀ / |err_p|,  err_p = p - F''1,  err_q = q - F''ᵀ1.

Nothing is stored: the checker and every product of a policy evaluation compute the couplings of a pair when they need
them. G is a coupling for any scalings, also in the middle of a round. Rounding is one pass, so nothing iterates here.

References: Altschuler, Weed & Rigollet 2017, Algorithm 2; Calo et al. 2024, Algorithm 3.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel
from bisimetric.kernels.layout import Index
from bisimetric.kernels.sinkhorn.elementary import exp_parts

NOTHING = -60.0  # a density with an exponent below this counts as zero; rounding replaces the lost mass
TOO_MUCH = 300.0  # exponents are cut off here; only an interrupted round has larger ones


@kernel
def densities(x, y, P, Q, scalings, whole, rest, plan, work):
    """Write the coupling of (x, y), not rounded, to plan[:S_x·S_y], row by row."""
    m = len(Q.indptr) - 1
    x_at, y_at = P.indptr[x], Q.indptr[y]
    sx, sy = P.indptr[x + 1] - x_at, Q.indptr[y + 1] - y_at
    at_x, at_y = m * x_at + y * sx, x * len(Q.data) + y_at
    q_to, q_mass, b, b_rest = Q.indices, Q.data, scalings.b, scalings.b_rest
    exponent, remainder, exps, scratch = work[0], work[1], work[2], work[3]
    for i in range(sx):
        state = Index(P.indices[x_at + i])
        a, a_rest = scalings.a[at_x + i], scalings.a_rest[at_x + i]
        top = -np.inf
        for j in range(sy):
            other = Index(q_to[Index(y_at + j)])
            w = (a + b[Index(at_y + j)]) + whole[state, other]
            exponent[j] = min(max(w, 2.0 * NOTHING), TOO_MUCH)
            remainder[j] = (a_rest + b_rest[Index(at_y + j)]) + rest[state, other]
            top = max(top, w)
        if top < NOTHING:
            plan[i * sy : (i + 1) * sy] = 0.0
            continue
        exp_parts(sy, exponent, remainder, exps, scratch)
        p = P.data[x_at + i]
        for j in range(sy):
            mass = p * q_mass[Index(y_at + j)] * exps[j]
            plan[Index(i * sy + j)] = mass if exponent[j] >= NOTHING else 0.0


@kernel
def couple(p, q, plan, row, column):
    """Apply Algorithm 3 to plan[:S_x·S_y] in place; row and column are work space."""
    sx, sy = len(p), len(q)
    for i in range(sx):
        total = 0.0
        for j in range(sy):
            total += plan[Index(i * sy + j)]
        row[i] = p[i] / total if total > p[i] else 1.0
    column[:sy] = 0.0
    for i in range(sx):
        shrink = row[i]
        for j in range(sy):
            plan[Index(i * sy + j)] *= shrink
            column[j] += plan[Index(i * sy + j)]
    for j in range(sy):
        column[j] = q[j] / column[j] if column[j] > q[j] else 1.0
    missing = 0.0
    for i in range(sx):
        total = 0.0
        for j in range(sy):
            plan[Index(i * sy + j)] *= column[j]
            total += plan[Index(i * sy + j)]
        row[i] = max(p[i] - total, 0.0)
        missing += row[i]
    if missing == 0.0:
        return
    column[:sy] = 0.0
    for i in range(sx):
        for j in range(sy):
            column[j] += plan[Index(i * sy + j)]
    lacking = 0.0
    for j in range(sy):
        column[j] = max(q[j] - column[j], 0.0)
        lacking += column[j]
    if lacking == 0.0:
        return
    for i in range(sx):
        share = row[i] / lacking
        for j in range(sy):
            plan[Index(i * sy + j)] += share * column[j]


@kernel
def rounded(first, last, P, Q, scalings, whole, rest, make_valid, cells):
    """Write all S_x·S_y cells of the couplings of the flat pairs first..last; rounded if `make_valid`."""
    m = len(Q.indptr) - 1
    work = np.empty((4, m))
    row, column = np.empty(len(P.indptr) - 1), np.empty(m)
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        at, end = cells.indptr[pair - first], cells.indptr[pair - first + 1]
        if at == end:
            continue
        p = P.data[P.indptr[x] : P.indptr[x + 1]]
        q = Q.data[Q.indptr[y] : Q.indptr[y + 1]]
        plan = cells.weight[at:end]
        densities(x, y, P, Q, scalings, whole, rest, plan, work)
        if make_valid:
            couple(p, q, plan, row, column)
        left, right = cells.left[at:end], cells.right[at:end]
        for i in range(len(p)):
            for j in range(len(q)):
                left[Index(i * len(q) + j)] = i
                right[Index(i * len(q) + j)] = j


@kernel
def potentials(first, last, value, P, Q, scalings, total_step, cells):
    """Make potentials g for `value`: scalings divided by the total step, improved by transforms.

    Each side's scalings give a pair of potentials, f(i) = min_j value(i, j) - g(j) and g(j) = min_i value(i, j) - f(i);
    the pair with the larger dual value is kept. The kernel's value is not quite `value`, so either may be the better.
    """
    m = len(Q.indptr) - 1
    p_to, q_to, p_mass, q_mass = P.indices, Q.indices, P.data, Q.data
    f, other = np.empty(len(P.indptr) - 1), np.empty(m)
    per_step = 1.0 / total_step if total_step > 0.0 else 0.0
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        x_at, y_at = P.indptr[x], Q.indptr[y]
        sx, sy = P.indptr[x + 1] - x_at, Q.indptr[y + 1] - y_at
        at_x, at_y = m * x_at + y * sx, x * len(Q.data) + y_at
        xs, ys = p_to[x_at : x_at + sx], q_to[y_at : y_at + sy]
        p, q = p_mass[x_at : x_at + sx], q_mass[y_at : y_at + sy]
        g = cells.potential[cells.start[pair - first] : cells.start[pair - first + 1]]
        for i in range(sx):
            f[i] = (scalings.a[at_x + i] + scalings.a_rest[at_x + i]) * per_step
        _transform_rows(value, xs, ys, f, g)
        _transform_columns(value, xs, ys, g, f)
        from_source = _dual(p, f) + _dual(q, g)
        for j in range(sy):
            other[j] = (scalings.b[at_y + j] + scalings.b_rest[at_y + j]) * per_step
        _transform_columns(value, xs, ys, other, f)
        _transform_rows(value, xs, ys, f, other)
        if _dual(p, f) + _dual(q, other) > from_source:
            g[:] = other[:sy]


@kernel
def _transform_rows(value, xs, ys, f, g):
    """g(j) = min_i value(i, j) - f(i)."""
    g[:] = np.inf
    for i in range(len(xs)):
        state = Index(xs[i])
        for j in range(len(ys)):
            g[j] = min(g[j], value[state, Index(ys[j])] - f[i])


@kernel
def _transform_columns(value, xs, ys, g, f):
    """f(i) = min_j value(i, j) - g(j)."""
    for i in range(len(xs)):
        state, least = Index(xs[i]), np.inf
        for j in range(len(ys)):
            least = min(least, value[state, Index(ys[j])] - g[j])
        f[i] = least


@kernel
def _dual(mass, potential):
    """Σ mass·potential."""
    total = 0.0
    for k in range(len(mass)):
        total += mass[k] * potential[k]
    return total


@kernel
def apply_rounded(first, last, vector, out, other, discount, stop, P, Q, scalings, whole, rest, sums):
    """out = vector - γΠ·vector for the rounded coupling, source rows first..last; sums as in kernels/evaluation.py."""
    m = len(Q.indptr) - 1
    most_x = 0
    for x in range(first, last):
        most_x = max(most_x, P.indptr[x + 1] - P.indptr[x])
    plan = np.empty(most_x * m)
    work = np.empty((4, m))
    row, column = np.empty(most_x), np.empty(m)
    q_to = Q.indices
    for x in range(first, last):
        x_at, sx = P.indptr[x], P.indptr[x + 1] - P.indptr[x]
        p = P.data[x_at : x_at + sx]
        product = 0.0
        square = 0.0
        for y in range(m):
            pair = x * m + y
            expected = 0.0
            if stop.size == 0 or not stop[x, y]:
                y_at, sy = Q.indptr[y], Q.indptr[y + 1] - Q.indptr[y]
                densities(x, y, P, Q, scalings, whole, rest, plan, work)
                couple(p, Q.data[y_at : y_at + sy], plan, row, column)
                for i in range(sx):
                    here = np.int64(P.indices[x_at + i]) * m
                    for j in range(sy):
                        expected += plan[Index(i * sy + j)] * vector[Index(here + q_to[Index(y_at + j)])]
            result = vector[pair] - discount * expected
            out[pair] = result
            product += other[pair] * result
            square += result * result
        sums[x, 0] = product
        sums[x, 1] = square


@kernel
def marginal_errors(first, last, P, Q, stop, scalings, whole, rest, off_x, off_y):
    """Compute the 1-norm errors of the marginals of both sides, before rounding, at the pairs first..last."""
    m = len(Q.indptr) - 1
    work = np.empty((4, m))
    plan = np.empty((len(P.indptr) - 1) * m)
    column = np.empty(m)
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        if stop.size > 0 and stop[x, y]:
            continue
        x_at, y_at = P.indptr[x], Q.indptr[y]
        sx, sy = P.indptr[x + 1] - x_at, Q.indptr[y + 1] - y_at
        densities(x, y, P, Q, scalings, whole, rest, plan, work)
        off = 0.0
        column[:sy] = 0.0
        for i in range(sx):
            total = 0.0
            for j in range(sy):
                total += plan[Index(i * sy + j)]
                column[j] += plan[Index(i * sy + j)]
            off += abs(P.data[x_at + i] - total)
        off_x[x, y] = off
        off = 0.0
        for j in range(sy):
            off += abs(Q.data[y_at + j] - column[j])
        off_y[x, y] = off


@kernel
def make_valid(first, last, P, Q, visited, cells):
    """Apply Algorithm 3 to the couplings in `cells`, of the pairs first..last; pairs never visited get the product."""
    m = len(Q.indptr) - 1
    row, column = np.empty(len(P.indptr) - 1), np.empty(m)
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        at, end = cells.indptr[pair - first], cells.indptr[pair - first + 1]
        if at == end:
            continue
        p = P.data[P.indptr[x] : P.indptr[x + 1]]
        q = Q.data[Q.indptr[y] : Q.indptr[y + 1]]
        plan = cells.weight[at:end]
        left, right = cells.left[at:end], cells.right[at:end]
        for i in range(len(p)):
            for j in range(len(q)):
                k = Index(i * len(q) + j)
                left[k] = i
                right[k] = j
                if not visited[pair] > 0.0:
                    plan[k] = p[i] * q[j]
        couple(p, q, plan, row, column)

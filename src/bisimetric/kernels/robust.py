"""One application of the Bellman operator for all rows within radii of the stored ones, from above and from below.

The rows of x may differ from P[x] by a = r_x/2 in mass, those of y from Q[y] by b = r_y/2, and mass may go to any
state.

*Above*, for any π that couples P[x] and Q[y]. Other rows are coupled by moving cells of π: where the first row loses
mass at i, the same share of the cells (i, j) moves to (i', j); then likewise for columns. So at most a of π's mass
changes its row, at most b its column, and a cell k = (i, j) gains at most

    X_k = max_i' V(i', j) - V_k,      Y_k = max_j' V(i, j') - V_k,      Z_k = max V - V_k      (row, column, both).

The best that such moves can gain is a linear program; for any λ, μ ≥ 0 its dual bounds it:

    U = c + γ( <π, V> + λa + μb + Σ_k π_k max(0, X_k - λ, Y_k - μ, Z_k - λ - μ) ).

λ and μ are found by minimising over one at a time, which is a quantile.

*Below*, for any g on the successors of y. With f from g by c-transform over all states, f_low the smallest f, and g,
g_low from f in the same way, f + g ≤ V at all pairs of states, so

    L = c + γ( <f, P>_a + <g, Q>_b ),        <f, P>_a = min { <f, p> : p within a of P[x] in mass },

where the minimum moves the mass a from the largest f to f_low. Cutting f at that quantile leaves <f, P>_a as it is
and lets g grow. Never less than c + γ min V.

Both kernels also write the linear form that the outcome is made of, so that its fixed point can be solved for. They
make one pass over the pairs, so nothing iterates here.

References: Kantorovich 1942 (duality of transport); Nilim & El Ghaoui 2005, Iyengar 2005 (robust decision processes).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, part
from bisimetric.kernels.layout import Index

ALTERNATIONS = 3  # of λ and μ


@part
def _level(key, weight, budget, otherwise):
    """The smallest level above which the weight is at most `budget`; `otherwise` if that is all weight."""
    order = np.argsort(key)
    above_it = 0.0
    for place in range(len(key) - 1, -1, -1):
        k = order[place]
        if above_it + weight[k] > budget:
            return key[k]
        above_it += weight[k]
    return otherwise


@part
def _prices(here, to_row, to_column, weight, largest, a, b, key):
    """λ and μ, by minimising over one of them at a time."""
    size = len(here)
    mu = 0.0
    for k in range(size):
        mu = max(mu, largest - here[k])
    lam = mu
    for _ in range(ALTERNATIONS):
        for k in range(size):
            key[k] = max(to_row[k], largest - here[k] - mu) - max(0.0, to_column[k] - mu)
        lam = max(0.0, _level(key[:size], weight, a, 0.0))
        for k in range(size):
            key[k] = max(to_column[k], largest - here[k] - lam) - max(0.0, to_row[k] - lam)
        mu = max(0.0, _level(key[:size], weight, b, 0.0))
    return lam, mu


@kernel
def above(
    x_of, y_of, value, most, cost, scale, discount, stop, half_x, half_y, P, Q, cells, bound, to, mass, count, constant
):
    """Compute U at the pairs (x_of, y_of), and its linear form U = c + γ(Σ mass·V(to) + constant).

    Entries are those of the cells. Returns the largest 1-norm error of a coupling's marginals, the most terms of a sum,
    and the number of invalid cells.
    """
    m = value.shape[1]
    stopping = stop.size > 0
    longest = 1
    for pair in range(len(x_of)):
        longest = max(longest, cells.indptr[pair + 1] - cells.indptr[pair])
    here, to_row, to_column, key = np.empty(longest), np.empty(longest), np.empty(longest), np.empty(longest)
    row_mass = np.zeros(len(P.data) + 1)  # holds one row at a time
    column_mass = np.zeros(len(Q.data) + 1)
    marginal_error = 0.0
    terms = 0
    invalid = 0
    for pair in range(len(x_of)):
        x, y = x_of[pair], y_of[pair]
        scaled = cost[x, y] * scale
        count[pair] = 0
        constant[pair] = 0.0
        if stopping and stop[x, y]:
            bound[pair] = scaled
            continue
        x_at, y_at = P.indptr[x], Q.indptr[y]
        sx, sy = P.indptr[x + 1] - x_at, Q.indptr[y + 1] - y_at
        for i in range(sx):
            row_mass[i] = P.data[Index(x_at + i)]
        for j in range(sy):
            column_mass[j] = Q.data[Index(y_at + j)]
        first = cells.indptr[pair]
        size = cells.indptr[pair + 1] - first
        weight = cells.weight[first : first + size]
        expected = 0.0
        for k in range(size):
            i, j = cells.left[first + k], cells.right[first + k]
            if i < 0 or i >= sx or j < 0 or j >= sy or not weight[k] >= 0.0:
                invalid += 1
                here[k] = to_row[k] = to_column[k] = 0.0
                continue
            row_mass[i] -= weight[k]
            column_mass[j] -= weight[k]
            row, column = P.indices[Index(x_at + i)], Q.indices[Index(y_at + j)]
            here[k] = value[Index(row), Index(column)]
            to_row[k] = most.column[Index(column)] - here[k]
            to_column[k] = most.row[Index(row)] - here[k]
            expected += weight[k] * here[k]
        off = 0.0
        for i in range(sx):
            off += abs(row_mass[i])
        for j in range(sy):
            off += abs(column_mass[j])
        marginal_error = max(marginal_error, off)
        a, b = half_x[x], half_y[y]
        lam, mu = _prices(here[:size], to_row[:size], to_column[:size], weight, most.overall, a, b, key)
        gained = lam * a + mu * b
        for k in range(size):
            both = most.overall - here[k] - lam - mu
            gained += weight[k] * max(0.0, to_row[k] - lam, to_column[k] - mu, both)
        bound[pair] = scaled + discount * (expected + gained)
        terms = max(terms, size)
        if invalid:
            continue
        # At these prices a cell moves as a whole, wherever that is worth most.
        known = lam * a + mu * b
        for k in range(size):
            row = P.indices[Index(x_at + cells.left[first + k])]
            column = Q.indices[Index(y_at + cells.right[first + k])]
            by_row, by_column, both = to_row[k] - lam, to_column[k] - mu, most.overall - here[k] - lam - mu
            best = max(0.0, by_row, by_column, both)
            if best == 0.0:
                to[first + k] = row * m + column
            elif best == by_row:
                to[first + k] = most.column_at[Index(column)] * m + column
                known -= weight[k] * lam
            elif best == by_column:
                to[first + k] = row * m + most.row_at[Index(row)]
                known -= weight[k] * mu
            else:
                to[first + k] = most.overall_at
                known -= weight[k] * (lam + mu)
            mass[first + k] = weight[k]
        count[pair] = size
        constant[pair] = known
    return marginal_error, terms, invalid


@kernel
def below(
    x_of, y_of, value, least, cost, scale, discount, stop, half_x, half_y, P, Q, cells, bound, to, mass, count, constant
):
    """Compute L at the pairs (x_of, y_of), and its linear form L = c + γ(Σ mass·V(to) + constant).

    A pair has at most S_x + 1 entries, which begin at (longest row + 1)·pair. Returns the largest |f| + |g|, the most
    terms of a sum, and the number of invalid potentials.
    """
    m = value.shape[1]
    stopping = stop.size > 0
    longest_x, longest_y = 1, 1
    for x in range(len(P.indptr) - 1):
        longest_x = max(longest_x, P.indptr[x + 1] - P.indptr[x])
    for y in range(len(Q.indptr) - 1):
        longest_y = max(longest_y, Q.indptr[y + 1] - Q.indptr[y])
    f, g, at = np.empty(longest_x), np.empty(longest_y), np.empty(longest_x, np.int64)
    largest = 0.0
    terms = 0
    invalid = 0
    for pair in range(len(x_of)):
        x, y = x_of[pair], y_of[pair]
        scaled = cost[x, y] * scale
        count[pair] = 0
        constant[pair] = 0.0
        if stopping and stop[x, y]:
            bound[pair] = scaled
            continue
        x_at, y_at, g_at = P.indptr[x], Q.indptr[y], cells.start[pair]
        sx, sy = P.indptr[x + 1] - x_at, Q.indptr[y + 1] - y_at
        p, q = P.data[x_at : x_at + sx], Q.data[y_at : y_at + sy]
        rows, columns = P.indices[x_at : x_at + sx], Q.indices[y_at : y_at + sy]
        a, b = half_x[x], half_y[y]
        for j in range(sy):
            g[j] = cells.potential[Index(g_at + j)]
            if not abs(g[j]) < np.inf:
                invalid += 1
                g[j] = 0.0
        f_low = np.inf
        for j in range(sy):
            f_low = min(f_low, least.column[Index(columns[j])] - g[j])
        for i in range(sx):
            f[i] = np.inf
            for j in range(sy):
                f[i] = min(f[i], value[Index(rows[i]), Index(columns[j])] - g[j])
        level = _level(f[:sx], p, a, f_low)
        g_low = least.overall - f_low
        for i in range(sx):
            f[i] = min(f[i], level)
            g_low = min(g_low, least.row[Index(rows[i])] - f[i])
        for j in range(sy):
            g[j] = least.column[Index(columns[j])] - f_low
            for i in range(sx):
                g[j] = min(g[j], value[Index(rows[i]), Index(columns[j])] - f[i])
        level = _level(g[:sy], q, b, g_low)
        dual = b * (g_low - level)
        f_low, low_at, low_g = least.overall - g_low, least.overall_at, g_low
        largest_g = abs(g_low)
        for j in range(sy):
            g[j] = min(g[j], level)
            dual += q[j] * g[j]
            largest_g = max(largest_g, abs(g[j]))
            column = columns[j]
            if least.column[Index(column)] - g[j] < f_low:
                f_low, low_g = least.column[Index(column)] - g[j], g[j]
                low_at = least.column_at[Index(column)] * m + column
        known = dual  # what does not depend on the value
        largest_f = abs(f_low)
        for i in range(sx):
            row = rows[i]
            f[i] = least.row[Index(row)] - g_low
            at[i] = -1
            for j in range(sy):
                reduced = value[Index(row), Index(columns[j])] - g[j]
                if reduced < f[i]:
                    f[i] = reduced
                    at[i] = j
            largest_f = max(largest_f, abs(f[i]))
        moved = a
        written = (longest_x + 1) * pair
        begin = written
        order = np.argsort(f[:sx])
        for place in range(sx - 1, -1, -1):
            i = order[place]
            taken = min(moved, p[i])
            moved -= taken
            stays = p[i] - taken
            if stays > 0.0:
                dual += stays * f[i]
                known -= stays * (g[at[i]] if at[i] >= 0 else g_low)
                to[written] = rows[i] * m + (columns[at[i]] if at[i] >= 0 else least.row_at[Index(rows[i])])
                mass[written] = stays
                written += 1
        if a > moved:
            dual += (a - moved) * f_low
            known -= (a - moved) * low_g
            to[written] = low_at
            mass[written] = a - moved
            written += 1
        if dual < least.overall:
            dual, known, written = least.overall, 0.0, begin + 1
            to[begin] = least.overall_at
            mass[begin] = 1.0
        bound[pair] = scaled + discount * dual
        constant[pair] = known
        count[pair] = written - begin
        largest = max(largest, largest_f + largest_g)
        terms = max(terms, sx + sy)
    return largest, terms, invalid

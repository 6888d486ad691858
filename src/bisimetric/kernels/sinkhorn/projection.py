"""Half projections of couplings in factored form: the arithmetic of every Sinkhorn-like solver.

All couplings of a problem share one kernel and differ in their scalings,

    π(x'y'|xy) = P(x'|x) Q(y'|y) · exp(α_xy(x') + β_xy(y') + Λ(x', y')).

A half projection on the source side makes the sums over y' equal to P(x'|x), which sets

    α_xy(x') = -log Σ_{y'} Q(y'|y) exp(β_xy(y') + Λ(x', y')),

and the one on the target side is the same with the roles exchanged. One kernel does both; `own` names the side that is
projected, `other` the opposite side. Over-relaxed, α moves ω times as far: α ← α + ω(α' - α), with α' as above.

Logarithms grow with the number of rounds: they leave the range of exp, and the rounding of a single number would exceed
the allowed error of a marginal. So each is stored as a whole number plus a rest in [-1/2, 1/2]: sums of whole numbers
are exact, so α + β + Λ, which is small where there is mass, loses no digits. There are two ways to compute a sum:

- *shared*: exp(Λ - u - v) is computed once for all pairs, with references u, v on the two sides. A pair needs the
  exponentials of its own β + v, and then only multiplications: pair by pair where supports are small, else by one
  matrix product for all pairs of a source row. It is accurate as long as β + v spans at most SPAN on the support of the
  pair, and no sum is below SMALLEST.
- *alone*: every other pair takes exponentials of all its S_x·S_y cells, relative to the largest exponent of a row.

The kernel works source row by source row: the scalings of the pairs (x, ·) are adjacent, so it takes all exponentials
and all logarithms of a row at once. Where every state has all successors, kernels/sinkhorn/dense.py is faster. A half
projection is one pass, so nothing iterates here.

Scalings lie in flat arrays: those of (x, y) begin at m·P.indptr[x] + y·S_x and at x·nnz(Q) + Q.indptr[y].

References: Cuturi 2013; Schmitzer 2019 (stabilised scalings); Calo et al. 2024 (Sinkhorn value iteration).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import vector_kernel, vector_part
from bisimetric.kernels.layout import SMALLEST, SPAN, Index, Supports
from bisimetric.kernels.sinkhorn.elementary import exp_parts, log_all

NO_MASS = 1.0  # stands for the sums of a pair that is not projected; any number with a logarithm serves
ALONE = 1024  # cells of pairs that do not fit the shared kernel whose exponentials are taken at once
HUGE = 1.7e308  # above every logarithm; not infinite, since these kernels assume finite numbers


@vector_kernel
def gibbs(amount, expected, whole, rest, commit, out):
    """Fill `out` with Λ - amount·expected and its exponential relative to u and v; `commit` also sets Λ to it."""
    by_source, centre = out.by_source, out.centre
    n, m = whole.shape
    others, owns = (m, n) if by_source else (n, m)
    for x in range(n):
        for y in range(m):
            drop = amount * expected[x, y]
            drop_whole = np.rint(drop)
            r = rest[x, y] - (drop - drop_whole)
            carry = np.rint(r)
            w = whole[x, y] - drop_whole + carry
            r -= carry
            if commit:
                whole[x, y] = w
                rest[x, y] = r
            if by_source:
                out.whole[y, x] = w
                out.rest[y, x] = r
            else:
                out.whole[x, y] = w
                out.rest[x, y] = r
    for own in range(owns):
        out.shift[own] = -HUGE
    for other in range(others):
        for own in range(owns):
            out.shift[own] = max(out.shift[own], out.whole[other, own] - centre[other])
    relative, scratch = np.empty(owns), np.empty(owns)
    for other in range(others):
        for own in range(owns):
            relative[own] = out.whole[other, own] - centre[other] - out.shift[own]
        exp_parts(owns, relative, out.rest[other], out.factor[other], scratch)


@vector_kernel
def centres(P, Q, scalings, centre_x, centre_y):
    """References for shared sums: minus the mean of the scalings of all pairs at a successor, as a whole number."""
    n, m = len(P.indptr) - 1, len(Q.indptr) - 1
    count_x, count_y = np.zeros(n), np.zeros(m)
    centre_x[:] = 0.0
    centre_y[:] = 0.0
    at_x, at_y = 0, 0
    for x in range(n):
        for _ in range(m):
            for k in range(P.indptr[x], P.indptr[x + 1]):
                centre_x[P.indices[k]] -= scalings.a[at_x]
                at_x += 1
        for k in range(P.indptr[x], P.indptr[x + 1]):
            count_x[P.indices[k]] += m
    for _ in range(n):
        for k in range(len(Q.indices)):
            centre_y[Q.indices[k]] -= scalings.b[at_y]
            at_y += 1
    for k in range(len(Q.indices)):
        count_y[Q.indices[k]] += n
    for x in range(n):
        centre_x[x] = np.rint(centre_x[x] / max(count_x[x], 1.0))
    for y in range(m):
        centre_y[y] = np.rint(centre_y[y] / max(count_y[y], 1.0))


@vector_kernel
def project(first, last, by_products, relaxation, step, cost, stop, P, Q, shared, scalings, expected):
    """Half-project the pairs of the source rows first..last.

    If `expected` is empty, this moves the own scalings: onto the marginals with relaxation 1, beyond them with a larger
    one. Otherwise it sets expected = c - 1/step·Σ P(x')·(α + log Σ …):
    the Bellman–Sinkhorn operator applied to the value that `shared` was built with, averaged over the own successors.
    """
    by_source, m = shared.by_source, len(Q.indptr) - 1
    longest = 0
    for x in range(first, last):
        longest = max(longest, P.indptr[x + 1] - P.indptr[x])
    size = max(m * longest, len(Q.indices))
    states, probability, ends = np.empty(m * longest, np.int32), np.empty(m * longest), np.empty(m + 1, np.int64)
    work = np.empty((6, size))
    whole, weights, scratch, sums, tops, logs = work[0], work[1], work[2], work[3], work[4], work[5]
    middle, fits, going = np.empty(m), np.empty(m, np.bool_), np.ones(m, np.bool_)
    dense, factors = np.empty((m, m) if by_products else (0, 0)), np.empty(m * longest if by_products else 0)
    for x in range(first, last):
        x_at, sx = P.indptr[x], P.indptr[x + 1] - P.indptr[x]
        if stop.size > 0:
            for y in range(m):
                going[y] = not stop[x, y]
        _repeat_row(x_at, sx, P.indices, P.data, states, probability, ends)
        at_x, at_y = m * x_at, x * len(Q.indices)
        a, a_rest = scalings.a[at_x : at_x + m * sx], scalings.a_rest[at_x : at_x + m * sx]
        b, b_rest = scalings.b[at_y : at_y + len(Q.indices)], scalings.b_rest[at_y : at_y + len(Q.indices)]
        mine, mine_rest, given, given_rest = (a, a_rest, b, b_rest) if by_source else (b, b_rest, a, a_rest)
        own_states, other_states = (states, Q.indices) if by_source else (Q.indices, states)
        own_probability, other_probability = (probability, Q.data) if by_source else (Q.data, probability)
        own_ends, other_ends = (ends, Q.indptr) if by_source else (Q.indptr, ends)
        _relate(other_states, other_ends, given, shared.centre, whole, middle, fits)
        exp_parts(len(given), whole, given_rest, weights, scratch)
        for k in range(len(given)):
            weights[k] *= other_probability[k]
        if not by_products:
            missed = _sum_by_pair(
                own_states, own_ends, other_states, other_ends, weights, shared.factor, shared.shift, middle, going,
                fits, sums, tops,
            )  # fmt: skip
        else:
            row = P.indices[x_at : x_at + sx]
            if by_source:
                _sum_by_row(row, other_states, other_ends, weights, shared.factor, dense, factors, sums)
            else:
                _sum_by_column(row, own_states, own_ends, weights, shared.factor, dense, factors, sums)
            missed = _misfits(own_states, own_ends, shared.shift, middle, going, fits, sums, tops)
        if missed > 0:
            other = Supports(other_states, other_probability, other_ends)
            _sum_alone(own_states, own_ends, other, given, given_rest, shared, fits, sums, tops)
        log_all(len(mine), sums, logs, scratch)
        if expected.size == 0:
            _set_scalings(own_ends, going, relaxation, tops, logs, mine, mine_rest)
        else:
            for i in range(len(mine)):
                sums[i] = own_probability[i] * ((mine[i] + tops[i]) + (mine_rest[i] + logs[i]))
            for y in range(m):
                total = 0.0
                if going[y]:
                    for i in range(Index(own_ends[y]), Index(own_ends[y + 1])):
                        total += sums[i]
                expected[x, y] = cost[x, y] - total / step


@vector_part
def _repeat_row(x_at, sx, p_to, p_mass, states, probability, ends):
    """Repeat the successors of x for every y, so that both sides have the same form."""
    ends[0] = 0
    for y in range(len(ends) - 1):
        ends[y + 1] = ends[y] + sx
        for i in range(sx):
            states[Index(y * sx + i)] = p_to[Index(x_at + i)]
            probability[Index(y * sx + i)] = p_mass[Index(x_at + i)]


@vector_part
def _relate(states, ends, given, centre, whole, middle, fits):
    """Set whole = given + centre - middle for each pair; fits[y] says whether all its exponentials are in range."""
    for k in range(len(given)):
        whole[k] = given[k] + centre[Index(states[k])]
    for y in range(len(middle)):
        begin, end = Index(ends[y]), Index(ends[y + 1])
        low, high = whole[begin], whole[begin]
        for k in range(begin, end):
            low, high = min(low, whole[k]), max(high, whole[k])
        fits[y] = high - low <= SPAN
        middle[y] = np.rint(0.5 * (low + high)) if fits[y] else high  # relative to `high` no exponential overflows
        for k in range(begin, end):
            whole[k] -= middle[y]


@vector_part
def _sum_by_pair(
    own_states, own_ends, other_states, other_ends, weights, factor, shift, middle, going, fits, sums, tops
):
    """Set sums = Σ weights·factor at every own successor, over the other successors of its pair; see `_misfits`."""
    missed = 0
    for y in range(len(going)):
        if not going[y]:
            for i in range(Index(own_ends[y]), Index(own_ends[y + 1])):
                sums[i] = NO_MASS
            fits[y] = True
            continue
        begin, end = Index(other_ends[y]), Index(other_ends[y + 1])
        right, base = fits[y], middle[y]
        for i in range(Index(own_ends[y]), Index(own_ends[y + 1])):
            state, total = Index(own_states[i]), 0.0
            for k in range(begin, end):
                total += weights[k] * factor[Index(other_states[k]), state]
            right = right and total >= SMALLEST
            sums[i] = total
            tops[i] = base + shift[state]
        fits[y] = right
        missed += not right
    return missed


@vector_part
def _sum_by_row(row, other_states, other_ends, weights, factor, dense, factors, sums):
    """Do the same by one matrix product for the source side, whose successors at every pair are `row`."""
    m, sx = len(dense), len(row)
    columns = factors[: m * sx].reshape(m, sx)
    for j in range(m):
        for i in range(sx):
            columns[j, i] = factor[j, Index(row[i])]
    dense[:] = 0.0
    for y in range(m):
        into = dense[y]
        for k in range(Index(other_ends[y]), Index(other_ends[y + 1])):
            into[Index(other_states[k])] = weights[k]
    np.dot(dense, columns, sums[: m * sx].reshape(m, sx))


@vector_part
def _sum_by_column(row, own_states, own_ends, weights, factor, dense, factors, sums):
    """Do the same for the target side: the other successors at every pair are `row`."""
    m, sx = len(dense), len(row)
    rows = factors[: sx * m].reshape(sx, m)
    for i in range(sx):
        rows[i] = factor[row[i]]
    np.dot(weights[: m * sx].reshape(m, sx), rows, dense)
    for y in range(m):
        found = dense[y]
        for i in range(Index(own_ends[y]), Index(own_ends[y + 1])):
            sums[i] = found[Index(own_states[i])]


@vector_part
def _misfits(own_states, ends, shift, middle, going, fits, sums, tops):
    """Set `tops` so that the true sums are sums·exp(tops); returns how many pairs do not fit the shared kernel."""
    missed = 0
    for y in range(len(going)):
        right, base = fits[y], middle[y]
        for i in range(Index(ends[y]), Index(ends[y + 1])):
            if not going[y]:
                sums[i] = NO_MASS
            right = right and sums[i] >= SMALLEST
            tops[i] = base + shift[Index(own_states[i])]
        fits[y] = right or not going[y]
        missed += not fits[y]
    return missed


@vector_part
def _sum_alone(own_states, ends, other, given, given_rest, shared, fits, sums, tops):
    """Sum the pairs that do not fit the shared kernel, each sum relative to its largest exponent.

    It takes the exponentials of several pairs at once.
    """
    m, most = len(fits), ALONE
    for y in range(m):
        most = max(most, (ends[y + 1] - ends[y]) * (other.ends[y + 1] - other.ends[y]))
    work = np.empty((4, most))
    exponent, remainder, exps, scratch = work[0], work[1], work[2], work[3]
    begin = 0
    while begin < m:
        end, count = begin, 0
        while end < m:
            size = 0 if fits[end] else (ends[end + 1] - ends[end]) * (other.ends[end + 1] - other.ends[end])
            if count + size > most:
                break
            count += size
            end += 1
        _exponents(begin, end, own_states, ends, other.states, other.ends, given, given_rest, shared.whole, shared.rest,
                   fits, exponent, remainder, tops)  # fmt: skip
        exp_parts(count, exponent, remainder, exps, scratch)
        at = Index(0)
        for y in range(begin, end):
            if not fits[y]:
                for i in range(Index(ends[y]), Index(ends[y + 1])):
                    total = 0.0
                    for k in range(Index(other.ends[y]), Index(other.ends[y + 1])):
                        total += other.probability[k] * exps[at]
                        at += Index(1)
                    sums[i] = total
        begin = end


@vector_part
def _exponents(
    begin, end, own_states, ends, other_states, other_ends, given, given_rest, whole, rest, fits, exponent, remainder,
    tops,
):  # fmt: skip
    """Write the exponents of the pairs begin..end that do not fit, relative to the largest of each sum."""
    at = Index(0)
    for y in range(begin, end):
        if fits[y]:
            continue
        first, last = Index(other_ends[y]), Index(other_ends[y + 1])
        for i in range(Index(ends[y]), Index(ends[y + 1])):
            state, highest, here = Index(own_states[i]), -HUGE, at
            for k in range(first, last):
                to = Index(other_states[k])
                exponent[at] = given[k] + whole[to, state]
                remainder[at] = given_rest[k] + rest[to, state]
                highest = max(highest, exponent[at])
                at += Index(1)
            for k in range(here, at):
                exponent[k] -= highest
            tops[i] = highest


@vector_part
def _set_scalings(ends, going, relaxation, tops, logs, mine, mine_rest):
    """Move mine + mine_rest towards -(tops + logs), except where the game stops; overwrites tops and logs."""
    for i in range(len(mine)):
        carry = np.rint(logs[i])
        tops[i] = -(tops[i] + carry)
        logs[i] = carry - logs[i]
    if relaxation != 1.0:
        for i in range(len(mine)):
            moved = mine_rest[i] + relaxation * ((tops[i] - mine[i]) + (logs[i] - mine_rest[i]))
            carry = np.rint(moved)
            tops[i] = mine[i] + carry
            logs[i] = moved - carry
    for y in range(len(going)):
        if going[y]:
            for i in range(Index(ends[y]), Index(ends[y + 1])):
                mine[i] = tops[i]
                mine_rest[i] = logs[i]


@vector_kernel
def duals(first, last, stop, P, Q, scalings, out):
    """Compute <α, P[x]> + <β, Q[y]> of the pairs first..last; keeps `out` at stops."""
    m = len(Q.indptr) - 1
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        if stop.size > 0 and stop[x, y]:
            continue
        sx, sy = P.indptr[x + 1] - P.indptr[x], Q.indptr[y + 1] - Q.indptr[y]
        at_x, at_y = m * P.indptr[x] + y * sx, x * len(Q.data) + Q.indptr[y]
        base = scalings.a[at_x]  # α and β may contain a large constant with opposite signs; these cancel here
        total = base + scalings.b[at_y]
        for i in range(sx):
            total += P.data[P.indptr[x] + i] * ((scalings.a[at_x + i] - base) + scalings.a_rest[at_x + i])
        base = scalings.b[at_y]
        for j in range(sy):
            total += Q.data[Q.indptr[y] + j] * ((scalings.b[at_y + j] - base) + scalings.b_rest[at_y + j])
        out[x, y] = total

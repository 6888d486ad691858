"""Half projections of couplings in factored form: the arithmetic of every Sinkhorn-like solver.

All couplings of a problem share one kernel and differ in their scalings,

    π(x'y'|xy) = P(x'|x) Q(y'|y) · exp(α_xy(x') + β_xy(y') + Λ(x', y')).

A half projection on the source side makes the sums over y' equal to P(x'|x), which sets

    α_xy(x') = -log Σ_{y'} Q(y'|y) exp(β_xy(y') + Λ(x', y')),

and the one on the target side is the same with the roles exchanged: one kernel serves both, `own` being the side
that is projected.

Logarithms grow with the number of rounds, far beyond what exp can take and until their last digits are larger than
a marginal may err. Hence every one is kept as a whole number plus a rest in [-1/2, 1/2]: sums of whole numbers are
exact, so α + β + Λ, a small number where there is mass, loses nothing. There are two ways to a sum:

- *shared*: exp(Λ - u - v) is computed once for all pairs, with references u, v on the two sides. A pair needs the
  exponentials of its own β + v, and then only multiplications: a matrix product where supports are large. It is
  right as long as β + v spans at most SPAN on the support of the pair, and no sum is below SMALLEST.
- *own*: any other pair takes exponentials of all its S_x·S_y cells, relative to the largest of a row.

Scalings lie in flat arrays: those of (x, y) begin at m·P.indptr[x] + y·S_x and at x·nnz(Q) + Q.indptr[y].

References: Cuturi 2013; Schmitzer 2019 (stabilised scalings); Calo et al. 2024 (Sinkhorn value iteration).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import vector_kernel
from bisimetric.kernels.layout import SMALLEST, SPAN
from bisimetric.kernels.sinkhorn.elementary import exp_parts, highest, inner, log_all, lowest

CHUNK = 16  # pairs per matrix product; blocks begin at multiples of it
HUGE = 1.7e308  # beyond any logarithm: kernels may assume finite numbers
FAINT = -80.0  # exponents this far below the largest add nothing to a sum, also where probabilities are 2^-52


@vector_kernel
def gibbs(by_source, amount, expected, whole, rest, centre, commit, out):
    """Λ - amount·expected, other side first, and its exponential relative to u and v = centre; `commit` sets Λ."""
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
    """References for the shared way: minus the mean of the scalings of all pairs at a successor, as a whole number."""
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
def project(first, last, by_source, commit, dense, step, cost, scale, stop, P, Q, shared, centre, scalings, expected):
    """A half projection of the pairs first..last (flat; `first` is a multiple of CHUNK).

    With `commit` the own scalings are set. Otherwise expected = c - 1/step·Σ P(x')·(α + log Σ …): what the
    Bellman–Sinkhorn operator makes of the value that `shared` was built with, averaged over the own successors.
    """
    m = len(Q.indptr) - 1
    own_rows, other_rows = (P, Q) if by_source else (Q, P)
    own_whole, own_rest = (scalings.a, scalings.a_rest) if by_source else (scalings.b, scalings.b_rest)
    other_whole, other_rest = (scalings.b, scalings.b_rest) if by_source else (scalings.a, scalings.a_rest)
    others, owns = shared.whole.shape
    whole, rest, exps = np.empty(CHUNK * others), np.empty(CHUNK * others), np.empty(CHUNK * others)
    weights = np.zeros((CHUNK, others))
    products = np.empty((CHUNK, owns))
    sums, tops, logs = np.empty(CHUNK * owns), np.empty(CHUNK * owns), np.empty(CHUNK * owns)
    scratch = np.empty(CHUNK * max(owns, others))
    middle = np.empty(CHUNK)
    fits, at_rest = np.empty(CHUNK, np.bool_), np.empty(CHUNK, np.bool_)
    # Per pair of a chunk: where its scalings, rows and parts of the buffers begin.
    own_scaling, other_scaling = np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int64)
    own_at, own_size = np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int64)
    other_at, other_size = np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int64)
    for begin in range(first, last, CHUNK):
        count = min(CHUNK, last - begin)
        filled = 0
        for r in range(count):
            x = (begin + r) // m
            y = begin + r - x * m
            at_x = m * P.indptr[x] + y * (P.indptr[x + 1] - P.indptr[x])
            at_y = x * len(Q.data) + Q.indptr[y]
            own, other = (x, y) if by_source else (y, x)
            own_scaling[r], other_scaling[r] = (at_x, at_y) if by_source else (at_y, at_x)
            own_at[r], own_size[r] = own_rows.indptr[own], own_rows.indptr[own + 1] - own_rows.indptr[own]
            other_at[r], other_size[r] = (
                other_rows.indptr[other],
                other_rows.indptr[other + 1] - other_rows.indptr[other],
            )
            at_rest[r] = stop.size > 0 and stop[x, y]
            fits[r] = not at_rest[r]
            if at_rest[r]:
                continue
            # The others' scalings relative to their references and to the middle of the pair's range. (Loops run
            # over slices: with an offset in the index the compiler must expect negative ones, and does not vectorise.)
            size = other_size[r]
            given = other_whole[other_scaling[r] : other_scaling[r] + size]
            given_rest = other_rest[other_scaling[r] : other_scaling[r] + size]
            states = other_rows.indices[other_at[r] : other_at[r] + size]
            here, here_rest = whole[filled : filled + size], rest[filled : filled + size]
            if size == others:  # full support: no indirection
                for k in range(size):
                    here[k] = given[k] + centre[k]
            else:
                for k in range(size):
                    here[k] = given[k] + centre[states[k]]
            low, high = lowest(here), highest(here)
            fits[r] = high - low <= SPAN
            if not fits[r]:
                continue
            middle[r] = np.rint(0.5 * (low + high))
            for k in range(size):
                here[k] -= middle[r]
                here_rest[k] = given_rest[k]
            filled += size
        exp_parts(filled, whole, rest, exps, scratch)
        filled = 0
        for r in range(count):
            if fits[r]:
                size, weight = other_size[r], weights[r]
                probability = other_rows.data[other_at[r] : other_at[r] + size]
                states = other_rows.indices[other_at[r] : other_at[r] + size]
                part = exps[filled : filled + size]
                if dense and size < others:
                    weight[:] = 0.0
                    for k in range(size):
                        weight[states[k]] = probability[k] * part[k]
                else:
                    for k in range(size):
                        weight[k] = probability[k] * part[k]
                filled += size
        if dense:
            np.dot(weights[:count], shared.factor, products[:count])
        filled = 0
        for r in range(count):
            if at_rest[r]:
                continue
            size = own_size[r]
            states = own_rows.indices[own_at[r] : own_at[r] + size]
            total, top = sums[filled : filled + size], tops[filled : filled + size]
            if fits[r]:
                if dense and size == owns:
                    total[:] = products[r]
                elif dense:
                    for i in range(size):
                        total[i] = products[r, states[i]]
                else:
                    total[:] = 0.0
                    for k in range(other_size[r]):
                        weight_k = weights[r, k]
                        factors = shared.factor[other_rows.indices[other_at[r] + k]]
                        for i in range(size):
                            total[i] += weight_k * factors[states[i]]
                fits[r] = lowest(total) >= SMALLEST
                if size == owns:
                    for i in range(size):
                        top[i] = middle[r] + shared.shift[i]
                else:
                    for i in range(size):
                        top[i] = middle[r] + shared.shift[states[i]]
            if not fits[r]:
                others_here = other_rows.indices[other_at[r] : other_at[r] + other_size[r]]
                probability = other_rows.data[other_at[r] : other_at[r] + other_size[r]]
                given = other_whole[other_scaling[r] : other_scaling[r] + other_size[r]]
                given_rest = other_rest[other_scaling[r] : other_scaling[r] + other_size[r]]
                own_way(probability, others_here, given, given_rest, states, shared, whole, total, top)
            filled += size
        log_all(filled, sums, logs, scratch)
        filled = 0
        for r in range(count):
            size = own_size[r]
            x = (begin + r) // m
            y = begin + r - x * m
            if at_rest[r]:
                if not commit:
                    expected[x, y] = cost[x, y] * scale
                continue
            log, top, change = logs[filled : filled + size], tops[filled : filled + size], sums[filled : filled + size]
            mine = own_whole[own_scaling[r] : own_scaling[r] + size]
            mine_rest = own_rest[own_scaling[r] : own_scaling[r] + size]
            if commit:
                for i in range(size):
                    carry = np.rint(log[i])
                    mine[i] = -(top[i] + carry)
                    mine_rest[i] = carry - log[i]
            else:
                for i in range(size):
                    change[i] = (mine[i] + top[i]) + (mine_rest[i] + log[i])
                expected[x, y] = cost[x, y] * scale - inner(own_rows.data[own_at[r] : own_at[r] + size], change) / step
            filled += size


@vector_kernel
def own_way(probability, others, given, given_rest, states, shared, exponent, total, top):
    """total and top with Σ_k probability·exp(given + Λ) = total·exp(top) for each own state, top the largest term."""
    for i in range(len(states)):
        highest_here = -HUGE
        for k in range(len(others)):
            exponent[k] = given[k] + shared.whole[others[k], states[i]]
            highest_here = max(highest_here, exponent[k])
        found = 0.0
        for k in range(len(others)):
            if exponent[k] - highest_here > FAINT:
                r = given_rest[k] + shared.rest[others[k], states[i]]
                found += probability[k] * np.exp(exponent[k] - highest_here + r)
        top[i] = highest_here
        total[i] = found


@vector_kernel
def duals(first, last, stop, P, Q, scalings, out):
    """<α, P[x]> + <β, Q[y]> of the pairs first..last, nothing at stops."""
    m = len(Q.indptr) - 1
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        if stop.size > 0 and stop[x, y]:
            continue
        sx, sy = P.indptr[x + 1] - P.indptr[x], Q.indptr[y + 1] - Q.indptr[y]
        at_x, at_y = m * P.indptr[x] + y * sx, x * len(Q.data) + Q.indptr[y]
        base = scalings.a[at_x]  # α and β may be large and opposite, up to a constant
        total = base + scalings.b[at_y]
        for i in range(sx):
            total += P.data[P.indptr[x] + i] * ((scalings.a[at_x + i] - base) + scalings.a_rest[at_x + i])
        base = scalings.b[at_y]
        for j in range(sy):
            total += Q.data[Q.indptr[y] + j] * ((scalings.b[at_y + j] - base) + scalings.b_rest[at_y + j])
        out[x, y] = total

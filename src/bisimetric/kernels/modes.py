"""The preconditioner of policy evaluations: the slow modes that all couplings share.

    M⁻¹ v = v + (da ⊕ db) + W[block],    (a ⊕ b)(x, y) = a(x) + b(y)

For every coupling Π of P and Q, Π(a ⊕ b) = P a ⊕ Q b. So two systems of the size of a chain solve exactly for the part
of v that is a function of x plus a function of y; `da` and `db` are their corrections. The rest is averaged over blocks
of pairs (products of clusters of states), and `W` is the correction from the coupling between blocks. Where states tend
to stay where they are, the rest is also divided by D = 1 - γ·diag(Π) (Jacobi).

Every cluster of source states is summed separately, in the order of its states, so results do not depend on the
threads. Every kernel is one pass, so nothing iterates here; the iteration that uses M⁻¹ is in kernels/krylov.py.

Reference: Nicolaides 1987 (coarse corrections by blocks).
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import kernel, summing_kernel
from bisimetric.kernels.layout import COMPACT_BITS, Index

LOW_BITS = (1 << COMPACT_BITS) - 1

FLOW_UNIT = 2.0**-30  # to which masses are rounded; sums of them are exact up to 2^23, the pairs of a block
ROUND_TO_UNIT = 2.0**52 * FLOW_UNIT  # adding and subtracting this rounds to the unit


@kernel
def match(order, indptr, indices, weight, label):
    """Join each state, in the given order, with its free neighbour of largest weight; returns the number of groups.

    A group has two states, or one without a free neighbour. The pattern of the matrix is symmetric. Writes the number
    of a state's group to label[state].
    """
    label[:] = -1
    count = 0
    for place in range(len(order)):
        state = order[place]
        if label[state] >= 0:
            continue
        label[state] = count
        best = -1
        for k in range(indptr[state], indptr[state + 1]):
            if label[indices[k]] < 0 and (best < 0 or weight[k] > weight[best]):
                best = k
        if best >= 0:
            label[indices[best]] = count
        count += 1
    return count


@kernel
def resolvent(moves, discount, out):
    """out = (I - γP)⁻¹ - I for the dense matrix P = `moves`, which is overwritten, by Gauss-Jordan elimination.

    I - γP is so dominated by its diagonal that pivots stay on it. LAPACK's threads would keep spinning after a call.
    """
    n = len(moves)
    for i in range(n):
        for j in range(n):
            moves[i, j] *= -discount
            out[i, j] = 0.0
        moves[i, i] += 1.0
        out[i, i] = 1.0
    for k in range(n):
        pivot_row, result_row = moves[k], out[k]
        scale = 1.0 / pivot_row[k]
        for j in range(k + 1, n):
            pivot_row[j] *= scale
        for j in range(k + 1):
            result_row[j] *= scale
        for i in range(n):
            if i != k:
                row, into = moves[i], out[i]
                share = row[k]
                if share != 0.0:
                    for j in range(k + 1, n):
                        row[j] -= share * pivot_row[j]
                    for j in range(k + 1):
                        into[j] -= share * result_row[j]
    for i in range(n):
        out[i, i] -= 1.0


@kernel
def times(matrix, vector, out):
    """out = matrix·vector."""
    for i in range(len(matrix)):
        row = matrix[i]
        total = 0.0
        for k in range(vector.size):
            total += row[k] * vector[k]
        out[i] = total


@kernel
def block_flows(first, last, modes, m, discount, P, Q, trees, flows, quickness):
    """Add to flows[B, B'] the mass that the trees' couplings send from block B to B', for source clusters first..last.

    Masses are counted in units of FLOW_UNIT. So all sums are exact, and the same in any order: the states of a cluster
    may be in several processes. Unless `quickness` is empty, writes quickness[pair] = 1/(1 - γΠ(pair, pair)).
    """
    cluster_x, cluster_y, q_at, p_to, q_to = modes.cluster_x, modes.cluster_y, Q.indptr, P.indices, Q.indices
    offset, used, target, weight = trees.offset, trees.used, trees.target, trees.weight
    width = np.int64(len(modes.size_y))
    jacobi, compact = quickness.size > 0, trees.shift == COMPACT_BITS
    for cluster in range(first, last):
        for place in range(modes.member_at[cluster], modes.member_at[cluster + 1]):
            x = modes.member[place]
            x_at = P.indptr[x]
            sx = P.indptr[x + 1] - x_at
            for y in range(m):
                row = flows[cluster * width + cluster_y[y]]
                pair = x * m + y
                begin = offset[x] + y * (sx - 1) + q_at[y]
                mine = 0.0
                for k in range(begin, begin + np.int64(used[pair])):
                    to = np.int32(target[k])
                    to_x = to // np.int32(m)
                    to_y = to - to_x * np.int32(m)
                    if compact:
                        to_x = p_to[x_at + (to >> COMPACT_BITS)]
                        to_y = q_to[q_at[y] + (to & LOW_BITS)]
                    share = (weight[k] + ROUND_TO_UNIT) - ROUND_TO_UNIT
                    row[cluster_x[to_x] * width + cluster_y[to_y]] += share
                    if to_x == x and to_y == y:
                        mine += weight[k]
                if jacobi:
                    quickness[pair] = 1.0 / (1.0 - discount * mine)


@summing_kernel
def sums(first, last, vector, modes, m, by_row, by_cluster):
    """by_row[x] = Σ_y v(x, y) and by_cluster[X, y] = Σ_{x in X} v(x, y), for source clusters first..last."""
    for cluster in range(first, last):
        into = by_cluster[Index(cluster)]
        into[:] = 0.0
        for place in range(modes.member_at[cluster], modes.member_at[cluster + 1]):
            x = modes.member[place]
            here = vector[x * m : (x + 1) * m]
            total = 0.0
            for y in range(m):
                total += here[y]
                into[y] += here[y]
            by_row[x] = total


@summing_kernel
def direction_with_sums(first, last, p, r, v, beta, omega, modes, m, by_row, by_cluster):
    """p = r + β(p - ωv) as `evaluation.step_direction` has it, and the sums of p in the same pass."""
    for cluster in range(first, last):
        into = by_cluster[Index(cluster)]
        into[:] = 0.0
        for place in range(modes.member_at[cluster], modes.member_at[cluster + 1]):
            x = modes.member[place]
            row = slice(x * m, (x + 1) * m)
            p_here, r_here, v_here = p[row], r[row], v[row]
            total = 0.0
            for y in range(m):
                moved = r_here[y] + beta * (p_here[y] - omega * v_here[y])
                p_here[y] = moved
                total += moved
                into[y] += moved
            by_row[x] = total


@summing_kernel
def half_with_sums(first, last, r, v, alpha, modes, m, by_row, by_cluster):
    """r -= αv as `evaluation.step_half` has it, and the sums of r in the same pass."""
    for cluster in range(first, last):
        into = by_cluster[Index(cluster)]
        into[:] = 0.0
        for place in range(modes.member_at[cluster], modes.member_at[cluster + 1]):
            x = modes.member[place]
            row = slice(x * m, (x + 1) * m)
            r_here, v_here = r[row], v[row]
            total = 0.0
            for y in range(m):
                rest = r_here[y] - alpha * v_here[y]
                r_here[y] = rest
                total += rest
                into[y] += rest
            by_row[x] = total


@kernel
def means(modes, by_row, by_cluster, mean_x, mean_y, block):
    """Compute means from sums; returns the mean over all pairs.

    mean_x and mean_y are the means by x and by y minus the mean over all; `block` holds the means of blocks minus the
    three others.
    """
    n, m = len(mean_x), len(mean_y)
    mean = 0.0
    for x in range(n):
        mean += by_row[x]
    mean /= np.float64(n) * np.float64(m)
    for x in range(n):
        mean_x[x] = by_row[x] / m - mean
    mean_y[:] = 0.0
    block[:] = 0.0
    for cluster in range(len(modes.size_x)):
        for y in range(m):
            mean_y[y] += by_cluster[cluster, y]
            block[cluster, modes.cluster_y[y]] += by_cluster[cluster, y]
    for y in range(m):
        mean_y[y] = mean_y[y] / n - mean
    for cluster in range(len(modes.size_x)):
        smooth = 0.0
        for place in range(modes.member_at[cluster], modes.member_at[cluster + 1]):
            smooth += mean_x[modes.member[place]]
        smooth = mean + smooth / modes.size_x[cluster]
        for other in range(len(modes.size_y)):
            block[cluster, other] = block[cluster, other] / (modes.size_x[cluster] * modes.size_y[other]) - smooth
    for y in range(m):
        share = mean_y[y] / modes.size_y[modes.cluster_y[y]]
        for cluster in range(len(modes.size_x)):
            block[cluster, modes.cluster_y[y]] -= share
    return mean


@kernel
def combine(modes, among_blocks, added_y, added):
    """added[X, y] = added_y(y) + among_blocks[X, cluster of y]."""
    for cluster in range(len(modes.size_x)):
        for y in range(len(added_y)):
            added[cluster, y] = added_y[y] + among_blocks[cluster, modes.cluster_y[y]]


@kernel
def correct(first, last, vector, out, modes, m, mean, mean_x, mean_y, added_x, added, quickness):
    """Compute out = M⁻¹ vector on source rows first..last; `quickness` is 1/D, or empty to leave out Jacobi."""
    jacobi = quickness.size > 0
    for x in range(first, last):
        here, there = vector[x * m : (x + 1) * m], out[x * m : (x + 1) * m]
        into = added[modes.cluster_x[x]]
        constant = added_x[x]
        if jacobi:
            quick, by_source = quickness[x * m : (x + 1) * m], mean + mean_x[x]
            for y in range(m):
                smooth = by_source + mean_y[y]
                there[y] = smooth + (here[y] - smooth) * quick[y] + (constant + into[y])
        else:
            for y in range(m):
                there[y] = here[y] + (constant + into[y])

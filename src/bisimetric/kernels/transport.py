"""Exact transport between the rows of two chains, one small problem per pair, warm-started.

    OT_V(P[x], Q[y]) = min { Σ π(i, j) V(i, j) : π ≥ 0, π couples P[x] and Q[y] }

The marginals of a pair never change, so the tree of the last sweep is still feasible for the next V: it is priced
again, and most pairs need that one look and no pivot. Only the first sweep has no trees. There a pair with few
successors takes the tree of the pair before it if the probabilities are the same, else a staircase; one with many
repairs the tree of the pair before it if both have the same successors, since that tree is optimal already (dual
simplex), else it starts greedily from the potentials of the pair before.

The pivot tolerance and the limits of the simplex only weaken what a sweep claims; a separate checker decides.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import finite_kernel, kernel
from bisimetric.kernels.layout import HINT_RUN, SMALL
from bisimetric.kernels.simplex import HUGE, dual, flows, greedy, lowest_difference, new_tree, primal, staircase

# Columns of a sweep's report.
LOWEST, HIGHEST, PIVOTS = range(3)


@kernel
def _load(trees, at, arcs, tree):
    """The arcs of the tree that is stored at a position."""
    mask = (1 << trees.shift) - 1
    for k in range(arcs):
        code = np.int64(trees.code[at + k])
        tree.child[k] = code >> trees.shift
        tree.parent[k] = code & mask


@finite_kernel
def _duals(trees, at, sx, sy, cost, pot, tol):
    """Potentials of a stored tree, and its most negative reduced cost (or, for large supports, one below -tol)."""
    shift = np.uint64(trees.shift)  # unsigned indices spare a test for negative ones
    mask = (np.uint64(1) << shift) - np.uint64(1)
    first = np.uint64(sx)
    pot[0] = 0.0
    for k in range(at, at + sx + sy - 1):
        code = np.uint64(trees.code[k])
        u = code >> shift
        w = code & mask
        pot[u] = cost[min(u, w), max(u, w) - first] - pot[w]
    slack = 0.0
    if sx * sy <= SMALL:
        for i in range(sx):
            lowest = HUGE
            for j in range(sy):
                lowest = min(lowest, cost[i, j] - pot[sx + j])
            slack = min(slack, lowest - pot[i])
        return slack
    for i in range(sx):
        slack = min(slack, lowest_difference(cost[i], pot[sx:], sy) - pot[i])
        if slack < -tol:
            break
    return slack


@kernel
def _store(trees, at, pair, sx, arcs, tree, source, target, width):
    """Keep the tree, and apart from it the cells that carry flow, in the form that evaluation reads."""
    used = 0
    for k in range(arcs):
        u = tree.child[k]
        w = tree.parent[k]
        trees.code[at + k] = (u << trees.shift) | w
        if tree.flow[u] > 0.0:
            trees.target[at + used] = source[min(u, w)] * width + target[max(u, w) - sx]
            trees.weight[at + used] = tree.flow[u]
            used += 1
    trees.used[pair] = used


@kernel
def _same(left, right):
    """Whether two arrays are equal."""
    if left.size != right.size:
        return False
    for k in range(left.size):
        if left[k] != right[k]:
            return False
    return True


@kernel
def improve(first, last, value, cost, scale, discount, stop, P, Q, alike, trees, residual, tol, cold, report):
    """residual = c + γ·OT_value - value on the pairs first..last (flat), every tree pivoted to optimality.

    `cold` starts new trees; `alike[y]` names target rows with the same probabilities, whose trees may be
    copied. `tol[K]` is the pivot tolerance for K nodes. report: the lowest residual that can be claimed,
    the highest, and counts.
    """
    m = cost.shape[1]
    width = value.shape[1]
    largest_x = 0
    for x in range(first // m, (last - 1) // m + 1):
        largest_x = max(largest_x, P.indptr[x + 1] - P.indptr[x])
    largest_y = 0
    for y in range(m):
        largest_y = max(largest_y, Q.indptr[y + 1] - Q.indptr[y])
    size = largest_x + largest_y
    local = np.empty((largest_x, largest_y))
    tree = new_tree(size)
    pot = tree.pot
    link = np.empty(2 * size, np.int32)
    end = np.empty(2 * size, np.int32)
    hinting = cold and largest_x * largest_y > SMALL
    hint = np.zeros(width)  # target potentials of the pair before, by state
    hint_at = -1  # where the tree of the pair before is stored, if it may be used
    last_source = P.indices[:0]
    last_target = Q.indices[:0]
    lowest = HUGE
    highest = -HUGE
    n_pivots = 0
    for x in range(first // m, (last - 1) // m + 1):
        x_at = P.indptr[x]
        sx = P.indptr[x + 1] - x_at
        a = P.data[x_at : x_at + sx]
        source = P.indices[x_at : x_at + sx]
        seen = -1
        seen_at = 0
        for y in range(max(first - x * m, 0), min(last - x * m, m)):
            if hinting and (x * m + y) % HINT_RUN == 0:
                hint[:] = 0.0
                hint_at = -1
            scaled = cost[x, y] * scale
            if stop.size > 0 and stop[x, y]:
                change = scaled - value[x, y]
                residual[x, y] = change
                lowest = min(lowest, change)
                highest = max(highest, change)
                continue
            y_at = Q.indptr[y]
            sy = Q.indptr[y + 1] - y_at
            b = Q.data[y_at : y_at + sy]
            target = Q.indices[y_at : y_at + sy]
            at = trees.offset[x] + y * (sx - 1) + y_at
            arcs = sx + sy - 1
            transported = 0.0
            slack = 0.0  # the most negative reduced cost that is left
            if not cold and (sx == 1 or sy == 1):  # only one coupling
                for i in range(sx):
                    for j in range(sy):
                        transported += a[i] * b[j] * value[source[i], target[j]]
            else:
                for i in range(sx):
                    here = value[source[i]]
                    for j in range(sy):
                        local[i, j] = here[np.uint32(target[j])]
                if cold:
                    if sx * sy > SMALL:
                        repairs = -1
                        if hint_at >= 0 and _same(source, last_source) and _same(target, last_target):
                            _load(trees, hint_at, arcs, tree)
                            repairs = dual(sx, sy, a, b, local, tree)
                        n_pivots += abs(repairs)
                        if repairs < 0:
                            for j in range(sy):
                                tree.excess[j] = hint[target[j]]
                            greedy(sx, sy, a, b, local, tree.excess, tree, link, end)
                        hint_at = at
                        last_source = source
                        last_target = target
                    elif seen == alike[y]:
                        _load(trees, seen_at, arcs, tree)
                    else:
                        staircase(sx, sy, a, b, tree.child, tree.parent)
                    seen = alike[y]
                    seen_at = at
                    flows(sx, sy, a, b, tree)
                    _store(trees, at, x * m + y, sx, arcs, tree, source, target, width)
                ignored = tol[arcs + 1]
                slack = _duals(trees, at, sx, sy, local, pot, ignored)
                if slack < -ignored:
                    _load(trees, at, arcs, tree)
                    pivots = primal(sx, sy, a, b, local, tree, ignored)
                    slack = -ignored if pivots >= 0 else -HUGE
                    n_pivots += abs(pivots)
                    _store(trees, at, x * m + y, sx, arcs, tree, source, target, width)
                if cold and sx * sy > SMALL:
                    for j in range(sy):
                        hint[target[j]] = pot[sx + j]
                from_targets = 0.0
                for i in range(sx):
                    transported += a[i] * pot[i]
                for j in range(sy):
                    from_targets += b[j] * pot[sx + j]
                transported += from_targets
            change = scaled + discount * transported - value[x, y]
            residual[x, y] = change
            lowest = min(lowest, change + discount * slack)
            highest = max(highest, change)
    report[LOWEST] = lowest
    report[HIGHEST] = highest
    report[PIVOTS] = n_pivots


@kernel
def read_trees(first, last, value, stop, P, Q, trees, cells):
    """Couplings and potentials of the pairs first..last (flat), read off their trees into `cells`."""
    n_rows = len(P.indptr) - 1
    m = len(Q.indptr) - 1
    size = 0
    for x in range(n_rows):
        size = max(size, P.indptr[x + 1] - P.indptr[x])
    more = 0
    for y in range(m):
        more = max(more, Q.indptr[y + 1] - Q.indptr[y])
    tree = new_tree(size + more)
    pot = tree.pot
    for pair in range(first, last):
        x = pair // m
        y = pair - x * m
        x_at = P.indptr[x]
        sx = P.indptr[x + 1] - x_at
        y_at = Q.indptr[y]
        sy = Q.indptr[y + 1] - y_at
        g_at = cells.start[pair - first]
        if stop.size > 0 and stop[x, y]:
            for j in range(sy):
                cells.potential[g_at + j] = 0.0
            continue
        _load(trees, trees.offset[x] + y * (sx - 1) + y_at, sx + sy - 1, tree)
        flows(sx, sy, P.data[x_at : x_at + sx], Q.data[y_at : y_at + sy], tree)
        pot[0] = 0.0
        out = cells.indptr[pair - first]
        for k in range(sx + sy - 1):
            u = tree.child[k]
            w = tree.parent[k]
            i = min(u, w)
            j = max(u, w) - sx
            pot[u] = value[P.indices[x_at + i], Q.indices[y_at + j]] - pot[w]
            if tree.flow[u] > 0.0:
                cells.left[out] = i
                cells.right[out] = j
                cells.weight[out] = tree.flow[u]
                out += 1
        for j in range(sy):
            cells.potential[g_at + j] = pot[sx + j]

"""Exact transport between the rows of two chains, one small problem per pair, warm-started.

    OT_V(P[x], Q[y]) = min { Σ π(i, j) V(i, j) : π ≥ 0, π couples P[x] and Q[y] }

The marginals of a pair never change, so the tree of the last sweep is still feasible for the next V. A sweep computes
its reduced costs again, and most pairs then need no pivot. Only the first sweep has no trees. There a pair with few
successors takes the tree of the pair before it if the probabilities are the same, else a staircase. A pair with many
successors repairs the tree of the pair before it by the dual simplex if both have the same successors, since that tree
has optimal reduced costs; else it starts greedily from the potentials of the pair before it.

A sweep visits every pair once; each pair ends at its optimal tree, or at the pivot limit of the simplex. The pivot
tolerance and that limit only weaken the bounds that a sweep returns; a separate checker decides.

References: as in kernels/transport/simplex.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric.kernels._compile import finite_part, inlined_part, kernel, part
from bisimetric.kernels.layout import COMPACT_BITS, FEW_CELLS, HINT_RUN, Index
from bisimetric.kernels.listing import folded_number
from bisimetric.kernels.transport.simplex import (
    CHILD,
    FLOW,
    HUGE_COST,
    MASS,
    PARENT,
    POT,
    ROOM,
    Node,
    dual,
    flows,
    lowest_difference,
    new_tree,
    primal,
    primal_narrow,
)
from bisimetric.kernels.transport.starts import greedy, staircase

NO_PAIR: Any = np.int64(-1)  # typed: for a plain Python number numba compiles a second version of a function


@part
def load(codes, shift, at, arcs, tree):
    """Read the arcs of the tree that is stored at position `at`."""
    mask = (1 << shift) - 1
    for k in range(arcs):
        code = np.int64(codes[Index(at + k)])
        tree[k, CHILD] = code >> shift
        tree[k, PARENT] = code & mask


@inlined_part
def _potentials(codes, shift, at, sx, sy, cost, real):
    """Compute the potentials of a stored tree."""
    shift = Index(shift)
    mask = (Index(1) << shift) - Index(1)
    first = Index(sx)
    real[POT, 0] = 0.0
    for k in range(Index(at), Index(at + sx + sy - 1)):
        code = Index(codes[k])
        u = code >> shift
        w = code & mask
        real[POT, u] = cost[min(u, w), max(u, w) - first] - real[POT, w]


@finite_part
def _narrow_duals(codes, shift, at, sx, sy, cost, real, tol):
    """Compute the potentials of a stored tree; returns its lowest reduced cost, at most 0."""
    _potentials(codes, shift, at, sx, sy, cost, real)
    slack = 0.0
    for i in range(sx):
        lowest = HUGE_COST
        for j in range(sy):
            lowest = min(lowest, cost[i, j] - real[POT, Index(sx + j)])
        slack = min(slack, lowest - real[POT, i])
    return slack


@finite_part
def _duals(codes, shift, at, sx, sy, cost, real, tol):
    """The same; for large supports any reduced cost below -tol will do."""
    if sx * sy <= FEW_CELLS:
        return _narrow_duals(codes, shift, at, sx, sy, cost, real, tol)
    _potentials(codes, shift, at, sx, sy, cost, real)
    slack = 0.0
    for i in range(sx):
        slack = min(slack, lowest_difference(cost, i, real, POT, sx, sy) - real[POT, i])
        if slack < -tol:
            break
    return slack


@part
def _same(indptr, entries, k, other):
    """Whether two rows have the same entries."""
    size = indptr[k + 1] - indptr[k]
    if size != indptr[other + 1] - indptr[other]:
        return False
    different = 0
    for e in range(size):
        different += entries[Index(indptr[k] + e)] != entries[Index(indptr[other] + e)]
    return different == 0


@part
def rows_up_to(row, pair):
    """How many entries of the sorted `row` are at most `pair`."""
    low = 0
    high = len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle] <= pair:
            low = middle + 1
        else:
            high = middle
    return low


@part
def longest(indptr, first, last):
    """The largest number of entries of the rows first..last."""
    most = 0
    for row in range(first, last):
        most = max(most, indptr[row + 1] - indptr[row])
    return most


@inlined_part
def read_cost(x_at, y_at, sx, sy, p_to, q_to, value, local):
    """local[i, j] = value at the i-th successor of x and the j-th of y."""
    for i in range(sx):
        state = Index(p_to[Index(x_at + i)])
        for j in range(sy):
            local[i, j] = value[state, Index(q_to[Index(y_at + j)])]


@inlined_part
def read_mass(x_at, y_at, sx, sy, p_mass, q_mass, real):
    """Copy the marginals of a pair into real[MASS]."""
    for i in range(sx):
        real[MASS, i] = p_mass[Index(x_at + i)]
    for j in range(sy):
        real[MASS, Index(sx + j)] = q_mass[Index(y_at + j)]


@inlined_part
def _forced_cost(x_at, y_at, sx, sy, p_to, p_mass, q_to, q_mass, value):
    """The cost of the only coupling, where x or y has a single successor."""
    total = 0.0
    for i in range(sx):
        for j in range(sy):
            total += p_mass[x_at + i] * q_mass[y_at + j] * value[p_to[x_at + i], q_to[y_at + j]]
    return total


@inlined_part
def dual_cost(x_at, y_at, sx, sy, p_mass, q_mass, real):
    """<f, P[x]> + <g, Q[y]> for the potentials of a tree."""
    from_sources = 0.0
    from_targets = 0.0
    for i in range(sx):
        from_sources += p_mass[Index(x_at + i)] * real[POT, i]
    for j in range(sy):
        from_targets += q_mass[Index(y_at + j)] * real[POT, Index(sx + j)]
    return from_sources + from_targets


@inlined_part
def store(x_at, y_at, at, sx, sy, p_to, q_to, listed, number, width, tree, real, codes, shift, target, weight):
    """Write a tree and the cells with flow at position `at`; returns how many cells there are."""
    numbered, compact = number.size > 0, shift == COMPACT_BITS
    used = 0
    for k in range(sx + sy - 1):
        u = tree[k, CHILD]
        w = tree[k, PARENT]
        codes[Index(at + k)] = (Index(u) << Index(shift)) | Index(w)
        if real[FLOW, u] > 0.0:
            from_x = np.int64(min(u, w))
            from_y = np.int64(max(u, w)) - sx
            after_x = np.int64(p_to[Index(x_at + from_x)])
            after_y = np.int64(q_to[Index(y_at + from_y)])
            after = after_x * width + after_y
            if listed:
                after = number[after] if numbered else folded_number(width, after_x, after_y)
            known = after < 0  # an evaluation changes nothing there
            if compact:  # then all pairs are solved
                after = from_x << COMPACT_BITS | from_y
            target[Index(at + used)] = 0 if known else after
            weight[Index(at + used)] = 0.0 if known else real[FLOW, u]
            used += 1
    return used


@part
def _first_narrow_tree(x, y, last_x, last_y, P, Q, hint, local, tree, real, links):
    """Start from the tree of the pair before, where the probabilities are the same, or from a staircase; no pivots."""
    if last_x != x or not _same(Q.indptr, Q.data, y, last_y):
        staircase(P.indptr[x + 1] - P.indptr[x], Q.indptr[y + 1] - Q.indptr[y], tree, real)
    return 0


@part
def _first_tree(x, y, last_x, last_y, P, Q, hint, local, tree, real, links):
    """The same; on large supports repair the tree of the pair before, or start greedily. Returns the pivots."""
    y_at = Q.indptr[y]
    sx, sy = P.indptr[x + 1] - P.indptr[x], Q.indptr[y + 1] - y_at
    if sx * sy <= FEW_CELLS:
        return _first_narrow_tree(x, y, last_x, last_y, P, Q, hint, local, tree, real, links)
    repairs = -1
    if last_x >= 0 and _same(P.indptr, P.indices, x, last_x) and _same(Q.indptr, Q.indices, y, last_y):
        repairs = dual(sx, sy, local, tree, real)
    if repairs < 0:
        for j in range(sy):
            real[ROOM, j] = hint[Q.indices[y_at + j]]
        greedy(sx, sy, local, tree, real, links)
    return abs(repairs)


def improve_over(first_tree, duals, primal, name):
    """Make the sweep over these parts; `improve` takes all rows, `improve_narrow` compiles faster."""

    def improve(first, last, value, cost, scale, discount, stop, P, Q, pairs, trees, residual, tol, cold):
        """Pivot every tree to optimality, and set residual = c + γ·OT_value - value.

        This is for the pairs first..last by number. `cold` starts new trees. `tol[K]` is the pivot tolerance for K
        nodes. Returns a lower bound on all residuals, an upper bound, and the number of pivots.
        """
        # Local names, since numba counts a reference whenever code takes an array from a tuple or slices it.
        p_at, p_to, p_mass = P.indptr, P.indices, P.data
        q_at, q_to, q_mass = Q.indptr, Q.indices, Q.data
        codes, offset, shift = trees.code, trees.offset, trees.shift
        target, weight, used = trees.target, trees.weight, trees.used
        row, column, begin, number = pairs.row, pairs.column, pairs.begin, pairs.number
        listed, stopping = column.size > 0, stop.size > 0
        m = cost.shape[1]
        width = value.shape[1]
        x_first = rows_up_to(row, first) - 1
        x_last = rows_up_to(row, last - 1)
        largest_x, largest_y = longest(p_at, x_first, x_last), longest(q_at, 0, m)
        local = np.empty((largest_x, largest_y))
        tree, real = new_tree(largest_x + largest_y)
        links = np.empty((2, 2 * (largest_x + largest_y)), Node)
        hinting = cold and largest_x * largest_y > FEW_CELLS
        hint = np.zeros(width)  # [m], target potentials of the last pair, by state
        last_x = last_y = NO_PAIR  # the last pair, whose tree is still in `tree`; -1 if it must not be used
        lowest = HUGE_COST
        highest = -HUGE_COST
        n_pivots = 0
        for x in range(x_first, x_last):
            x_at = p_at[x]
            sx = p_at[x + 1] - x_at
            for pair in range(max(first, row[x]), min(last, row[x + 1])):
                y = column[pair] if listed else pair - row[x]
                if cold and pair % HINT_RUN == 0:
                    last_x = NO_PAIR
                    if hinting:
                        hint[:] = 0.0
                scaled = cost[x, y] * scale
                y_at = q_at[y]
                sy = q_at[y + 1] - y_at
                transported = 0.0
                slack = 0.0  # the most negative reduced cost that is left
                if stopping and stop[x, y]:
                    pass
                elif not cold and (sx == 1 or sy == 1):
                    transported = _forced_cost(x_at, y_at, sx, sy, p_to, p_mass, q_to, q_mass, value)
                else:
                    read_cost(x_at, y_at, sx, sy, p_to, q_to, value, local)
                    at = offset[x] + (np.int64(begin[pair]) if listed else y * (sx - 1) + y_at)
                    ignored = tol[sx + sy]
                    if not cold:
                        slack = duals(codes, shift, at, sx, sy, local, real, ignored)
                    if cold or slack < -ignored:
                        read_mass(x_at, y_at, sx, sy, p_mass, q_mass, real)
                        if not cold:
                            load(codes, shift, at, sx + sy - 1, tree)
                        else:
                            n_pivots += first_tree(x, y, last_x, last_y, P, Q, hint, local, tree, real, links)
                        pivots = primal(sx, sy, local, tree, real, ignored)
                        slack = -ignored if pivots >= 0 else -HUGE_COST
                        n_pivots += abs(pivots)
                        used[pair] = store(
                            x_at, y_at, at, sx, sy, p_to, q_to, listed, number, width, tree, real, codes, shift, target,
                            weight,
                        )  # fmt: skip
                        last_x = x
                        last_y = y
                        if hinting:
                            for j in range(sy):
                                hint[q_to[y_at + j]] = real[POT, sx + j]
                    transported = dual_cost(x_at, y_at, sx, sy, p_mass, q_mass, real)
                change = scaled + discount * transported - value[x, y]
                residual[pair] = change
                lowest = min(lowest, change + discount * slack)
                highest = max(highest, change)
        return lowest, highest, n_pivots

    improve.__qualname__ = name  # names the file of the compiled function
    return improve


improve = kernel(improve_over(_first_tree, _duals, primal, "improve"))
improve_narrow = kernel(improve_over(_first_narrow_tree, _narrow_duals, primal_narrow, "improve_narrow"))


@kernel
def read_trees(x_of, y_of, number, mirrored, value, P, Q, pairs, trees, cells):
    """Read couplings and potentials of the pairs (x_of, y_of) from the trees with these numbers into `cells`.

    Where `mirrored`, writes those of (y, x): the two sides are exchanged. Where `number` is -1 there is no tree: the
    coupling then keeps equal states together, if `cells` has space for it.
    """
    p_at, p_to, p_mass = P.indptr, P.indices, P.data
    q_at, q_to, q_mass = Q.indptr, Q.indices, Q.data
    left, right, weight, potential = cells.left, cells.right, cells.weight, cells.potential
    codes, offset, shift, begin = trees.code, trees.offset, trees.shift, pairs.begin
    listed = begin.size > 0
    tree, real = new_tree(longest(p_at, 0, len(p_at) - 1) + longest(q_at, 0, len(q_at) - 1))
    for pair in range(len(x_of)):
        x = x_of[pair]
        y = y_of[pair]
        x_at = p_at[x]
        sx = p_at[x + 1] - x_at
        y_at = q_at[y]
        sy = q_at[y + 1] - y_at
        g_at = cells.start[pair]
        if number[pair] < 0:
            for j in range(sy):
                potential[Index(g_at + j)] = 0.0
            for k in range(cells.indptr[pair], cells.indptr[pair + 1]):
                i = k - cells.indptr[pair]
                left[k] = i
                right[k] = i
                weight[k] = p_mass[x_at + i]
            continue
        read_mass(x_at, y_at, sx, sy, p_mass, q_mass, real)
        at = offset[x] + (np.int64(begin[number[pair]]) if listed else y * (sx - 1) + y_at)
        load(codes, shift, at, sx + sy - 1, tree)
        flows(sx, sy, tree, real)
        real[POT, 0] = 0.0
        out = cells.indptr[pair]
        for k in range(sx + sy - 1):
            u = tree[k, CHILD]
            w = tree[k, PARENT]
            from_x = np.int64(min(u, w))
            from_y = np.int64(max(u, w)) - sx
            state = Index(p_to[Index(x_at + from_x)])
            real[POT, u] = value[state, Index(q_to[Index(y_at + from_y)])] - real[POT, w]
            if real[FLOW, u] > 0.0:
                left[Index(out)] = from_y if mirrored[pair] else from_x
                right[Index(out)] = from_x if mirrored[pair] else from_y
                weight[Index(out)] = real[FLOW, u]
                out += 1
        if mirrored[pair]:
            for i in range(sx):  # f, which proves the same bound as g
                least = HUGE_COST
                for j in range(sy):
                    least = min(least, value[p_to[x_at + i], q_to[y_at + j]] - real[POT, sx + j])
                potential[g_at + i] = least
        else:
            for j in range(sy):
                potential[Index(g_at + j)] = real[POT, Index(sx + j)]

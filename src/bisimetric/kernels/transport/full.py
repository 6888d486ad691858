"""Sweeps over chains in which every state can follow every other: all pairs have the same successors and costs.

    OT_V(P[x], Q[y]) = min { Σ π(i, j) V(i, j) : π ≥ 0, π couples P[x] and Q[y] }

Only the marginals differ between pairs, so any tree that is optimal for one pair has optimal reduced costs for every
other, and the dual simplex makes its flows feasible. What that takes depends on the tree. A first sweep looks at the
potentials (f, g) of some earlier pairs: <f, P[x]> + <g, Q[y]> bounds the transport from below, and the pair with the
largest bound lends its tree. It looks at the last pairs of the same source state and, for the same target state, at the
first few source states, the hubs; at a hub itself only at the first hub. So hubs are independent once the first is
done, and the other rows once all hubs are: threads change nothing.

The dual simplex here differs from that of `simplex` in three ways. A leaving arc is judged by its flow divided by the
square root of the number of nodes that it cuts off, which saves pivots. The entering arc is looked for on the smaller
side of the cut, in V or in its transpose. Rows are priced four at a time: minima of whole columns, in vector
instructions. Sizes of subtrees stand in for depths.

A sweep stops after every pair was visited once, each with an optimal tree or at the pivot limit, as in `sweep`.

References: as in kernels/transport/simplex.py; Forrest & Goldfarb 1992 (steepest-edge rules, of which the weight above
is a cheap relative).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric.kernels._compile import finite_part, kernel, part, summing_part
from bisimetric.kernels.layout import Index
from bisimetric.kernels.transport.simplex import (
    CHILD,
    FIRST_ROW,
    FLOW,
    HUGE_COST,
    MASS,
    NOBODY,
    PARENT,
    POT,
    REPAIRS_PER_NODE,
    ROOM,
    UP,
    Node,
    list_arcs,
    new_tree,
    next_below,
    plant,
    primal,
    reverse_path,
)
from bisimetric.kernels.transport.starts import greedy

AFTER_ROOT: Any = np.int64(1)  # typed, as FIRST_ROW: for a plain number numba compiles a second version of a function
NEAR = 16  # earlier pairs of the same source state whose trees may be taken over


@finite_part
def lowest_by_column(cost, rows, count, pot, first, lowest, size):
    """lowest[j] = min over the listed rows i of cost[i, j] - pot[first + i]."""
    first = Index(first)
    for j in range(size):
        lowest[j] = HUGE_COST
    k = 0
    while k + 4 <= count:
        i, i1, i2, i3 = Index(rows[k]), Index(rows[k + 1]), Index(rows[k + 2]), Index(rows[k + 3])
        f, f1, f2, f3 = pot[first + i], pot[first + i1], pot[first + i2], pot[first + i3]
        c, c1, c2, c3 = cost[i], cost[i1], cost[i2], cost[i3]
        for j in range(size):
            of_two = min(c[j] - f, c1[j] - f1)
            of_others = min(c2[j] - f2, c3[j] - f3)
            lowest[j] = min(lowest[j], min(of_two, of_others))
        k += 4
    while k < count:
        i = Index(rows[k])
        f = pot[first + i]
        c = cost[i]
        for j in range(size):
            lowest[j] = min(lowest[j], c[j] - f)
        k += 1


@finite_part
def _least_weighted(flow, size, weight, first, last):
    """min over the nodes first..last of the flow to the parent, times the weight of the part below."""
    least = HUGE_COST
    for u in range(first, last):
        least = min(least, flow[u] * weight[size[u]])
    return least


@part
def _leaving(sx, nodes, flow, size, weight):
    """The node above which the arc leaves, NOBODY if the tree is strongly feasible."""
    of_sources = _least_weighted(flow, size, weight, AFTER_ROOT, sx)
    of_targets = _least_weighted(flow, size, weight, sx, nodes)
    if of_sources >= 0.0 and of_targets > 0.0:
        return NOBODY
    of_target = of_targets <= of_sources or of_sources >= 0.0
    least = of_targets if of_target else of_sources
    for u in range(sx if of_target else 1, nodes if of_target else sx):
        if flow[u] * weight[size[u]] == least:
            return Node(u)
    return NOBODY


@part
def _cheapest(cost, turned, inside, n_inside, at, others, n_others, at_others, n, m, pot, lowest, mark, rest):
    """The cell with the lowest reduced cost from a node inside to one of the other side that is not inside.

    cost has n rows, for the side of `inside`, and m columns, for the side of `others`; `turned` is its transpose. The
    potentials of the two sides begin at `at` and `at_others`. Returns row and column.
    """
    best = HUGE_COST
    p = 0
    q = 0
    if n_inside <= m - n_others:
        lowest_by_column(cost, inside, n_inside, pot, at, lowest, m)
        for k in range(n_others):
            lowest[others[k]] = HUGE_COST
        for j in range(m):
            reduced = lowest[j] - pot[Index(at_others + j)]
            if reduced < best:
                best = reduced
                q = j
        for k in range(n_inside):
            if cost[inside[k], q] - pot[at + inside[k]] == lowest[q]:
                p = inside[k]
                break
        return p, q
    for j in range(m):
        mark[j] = 0
    for k in range(n_others):
        mark[others[k]] = 1
    n_rest = FIRST_ROW
    for j in range(m):
        if mark[j] == 0:
            rest[n_rest] = j
            n_rest += 1
    lowest_by_column(turned, rest, n_rest, pot, at_others, lowest, n)
    for k in range(n_inside):
        reduced = lowest[inside[k]] - pot[at + inside[k]]
        if reduced < best:
            best = reduced
            p = inside[k]
    for k in range(n_rest):
        if cost[p, rest[k]] - pot[at_others + rest[k]] == lowest[p]:
            q = rest[k]
            break
    return p, q


@part
def _push_around(sx, p, q, delta, tree, real, size):
    """Send delta from source p to target q on a new arc, and back along the tree; the smaller part is lower."""
    u = p
    w = q
    while u != w:
        if size[u] <= size[w]:
            real[FLOW, u] += -delta if u < sx else delta
            u = tree[u, UP]
        else:
            real[FLOW, w] += -delta if w >= sx else delta
            w = tree[w, UP]


@part
def _rehang_sized(inner, outer, out, delta, tree, real, size):
    """Replace the arc above `out` by the arc inner - outer with flow delta, and keep the sizes of all parts right."""
    moved = size[out]
    u = tree[out, UP]
    while u != NOBODY:
        size[u] -= moved
        u = tree[u, UP]
    u = outer
    while u != NOBODY:
        size[u] += moved
        u = tree[u, UP]
    below = 0
    u = inner
    while True:
        old_size = size[u]
        size[u] = moved - below
        below = old_size
        if u == out:
            break
        u = tree[u, UP]
    reverse_path(inner, outer, out, delta, tree, real)


@part
def _repair(sx, sy, cost, turned, tree, real, lowest, lists, mark, size, weight):
    """Make a tree that is optimal for other marginals strongly feasible for these; returns the number of pivots.

    The number is negative if the limit was hit. Reads only CHILD and PARENT of `tree`, and fills in its other fields
    except depths; the arcs end up in preorder.
    """
    plant(sx, sy, cost, tree, real)
    nodes = sx + sy
    for u in range(nodes):
        size[u] = 1
    for back in range(nodes - 1):
        k = nodes - 2 - back
        size[tree[k, PARENT]] += size[tree[k, CHILD]]
    flow = real[FLOW]
    pot = real[POT]
    sources = lists[0]
    targets = lists[1]
    rest = lists[2]
    pivots = 0
    while True:
        out = _leaving(sx, nodes, flow, size, weight)
        if out == NOBODY:
            break
        if pivots == REPAIRS_PER_NODE * nodes:
            return -pivots
        delta = -flow[out]
        n_sources = FIRST_ROW
        n_targets = FIRST_ROW
        u = out
        while u != NOBODY:
            if u < sx:
                sources[n_sources] = u
                n_sources += 1
            else:
                targets[n_targets] = u - sx
                n_targets += 1
            u = next_below(u, out, tree)
        surplus = out >= sx  # the part below has too much mass: from a source inside to a target outside
        if surplus:
            i, j = _cheapest(
                cost, turned, sources, n_sources, FIRST_ROW, targets, n_targets, sx, sx, sy, pot, lowest, mark, rest
            )
        else:
            j, i = _cheapest(
                turned, cost, targets, n_targets, sx, sources, n_sources, FIRST_ROW, sy, sx, pot, lowest, mark, rest
            )
        p = Node(i)
        q = Node(sx + j)
        reduced = cost[i, j] - pot[p] - pot[q]
        _push_around(sx, p, q, delta, tree, real, size)
        if surplus:
            _rehang_sized(p, q, out, delta, tree, real, size)
        else:
            _rehang_sized(q, p, out, delta, tree, real, size)
        change = reduced if surplus else -reduced
        for k in range(n_sources):
            pot[Index(sources[k])] += change
        for k in range(n_targets):
            pot[Index(sx + targets[k])] -= change
        pivots += 1
    list_arcs(tree)
    return pivots


@part
def _load_tree(codes, shift, at, arcs, tree):
    """Read the arcs of the tree that is stored at position `at`."""
    mask = (1 << shift) - 1
    for k in range(arcs):
        code = np.int64(codes[Index(at + k)])
        tree[k, CHILD] = code >> shift
        tree[k, PARENT] = code & mask


@part
def _potentials(codes, shift, at, n, arcs, value, pot):
    """The potentials of a stored tree."""
    shift = Index(shift)
    mask = (Index(1) << shift) - Index(1)
    first = Index(n)
    pot[0] = 0.0
    for k in range(Index(at), Index(at + arcs)):
        code = Index(codes[k])
        u = code >> shift
        w = code & mask
        pot[u] = value[min(u, w), max(u, w) - first] - pot[w]


@summing_part
def dot(a, b, size):
    """Σ a[k] b[k]."""
    total = 0.0
    for k in range(size):
        total += a[k] * b[k]
    return total


@part
def _best_tree(x, y, P, Q, hub_f, hub_g, own_f, own_g):
    """The earlier pair whose potentials bound the transport of (x, y) best from below.

    hub_f[z, y] and hub_g[z, y] are f and <g, Q[y]> of the hub z; own_g[z] and own_f[z] are g and <f, P[x]> of (x, z).
    """
    best = -HUGE_COST
    best_x = -1
    best_y = -1
    for z in range(len(hub_f) if x >= len(hub_f) else min(x, 1)):
        bound = dot(hub_f[z, y], P[x], len(P)) + hub_g[z, y]
        if bound > best:
            best = bound
            best_x = z
            best_y = y
    for z in range(max(0, y - NEAR), y):
        bound = dot(own_g[z], Q[y], len(Q)) + own_f[z]
        if bound > best:
            best = bound
            best_x = x
            best_y = z
    return best_x, best_y


@kernel
def improve(first, last, value, turned, cost, scale, discount, P, Q, trees, residual, tol, cold, hub_f, hub_g, weight):
    """Pivot the trees of the source rows first..last to optimality, and set residual = c + γ·OT_value - value.

    `turned` is the transpose of `value`; P and Q are dense. `cold` starts new trees; then the hubs (as many as hub_f
    has rows) come first, and of those the first one. Returns a lower bound on all residuals, an upper bound, and the
    number of pivots.
    """
    n, m = value.shape
    arcs = n + m - 1
    codes, shift, used, target, flows_of = trees.code, trees.shift, trees.used, trees.target, trees.weight
    tree, real = new_tree(n + m)
    links = np.empty((2, 2 * (n + m)), Node)
    lowest = np.empty(max(n, m))
    lists = np.empty((3, max(n, m)), np.int64)
    every_row = np.empty(n, np.int64)
    for i in range(n):
        every_row[i] = i
    mark = np.empty(max(n, m), np.uint8)
    size = np.empty(n + m, np.int64)
    own_g = np.empty((m, m))
    own_f = np.empty(m)
    pot = real[POT]
    smallest = HUGE_COST
    largest = -HUGE_COST
    n_pivots = 0
    for x in range(first, last):
        for y in range(m):
            pair = x * m + y
            at = pair * arcs
            slack = -tol
            changed = True
            if not cold:
                _potentials(codes, shift, at, n, arcs, value, pot)
                lowest_by_column(value, every_row, n, pot, FIRST_ROW, lowest, m)
                slack = 0.0
                for j in range(m):
                    slack = min(slack, lowest[j] - pot[Index(n + j)])
                changed = slack < -tol
            if changed:
                for i in range(n):
                    real[MASS, i] = P[x, i]
                for j in range(m):
                    real[MASS, n + j] = Q[y, j]
                pivots = -1
                if cold:
                    best_x, best_y = _best_tree(x, y, P, Q, hub_f, hub_g, own_f, own_g)
                    if best_x >= 0:
                        _load_tree(codes, shift, (best_x * m + best_y) * arcs, arcs, tree)
                        pivots = _repair(n, m, value, turned, tree, real, lowest, lists, mark, size, weight)
                        n_pivots += abs(pivots)
                    if pivots < 0:
                        for j in range(m):
                            real[ROOM, j] = 0.0
                        greedy(n, m, value, tree, real, links)
                else:
                    _load_tree(codes, shift, at, arcs, tree)
                if pivots < 0:
                    pivots = primal(n, m, value, tree, real, tol)
                    n_pivots += abs(pivots)
                slack = -tol if pivots >= 0 else -HUGE_COST
                positive = 0
                for k in range(arcs):
                    u = tree[k, CHILD]
                    w = tree[k, PARENT]
                    codes[Index(at + k)] = (Index(u) << Index(shift)) | Index(w)
                    if real[FLOW, u] > 0.0:
                        target[Index(at + positive)] = np.int64(min(u, w)) * m + np.int64(max(u, w)) - n
                        flows_of[Index(at + positive)] = real[FLOW, u]
                        positive += 1
                used[pair] = positive
            from_sources = dot(P[x], pot, n)
            from_targets = dot(Q[y], pot[n:], m)
            if cold:
                own_f[y] = from_sources
                for j in range(m):
                    own_g[y, j] = pot[Index(n + j)]
                if x < len(hub_f):
                    hub_g[x, y] = from_targets
                    for i in range(n):
                        hub_f[x, y, i] = pot[i]
            change = cost[x, y] * scale + discount * (from_sources + from_targets) - value[x, y]
            residual[pair] = change
            smallest = min(smallest, change + discount * slack)
            largest = max(largest, change)
    return smallest, largest, n_pivots

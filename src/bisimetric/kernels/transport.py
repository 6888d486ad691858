"""Exact transport between the rows of two chains, one small problem per pair, warm-started.

    OT_V(P[x], Q[y]) = min { Σ π(i, j) V(i, j) : π ≥ 0, π couples P[x] and Q[y] }

Transportation simplex on spanning trees. Potentials u, v of a tree solve u(i) + v(j) = V(i, j) on its arcs;
the tree is optimal when V(i, j) - u(i) - v(j) ≥ 0 everywhere. The marginals of a pair never change, so the
tree of the last sweep is still feasible
for the next V: most pairs need one look and no pivot.

Flows are sums of multiples of 2⁻⁵² and therefore exact. Trees are kept *strongly feasible*: rooted at source
node 0, every arc without flow has a source node as its child. The leaving arc is the last blocking one met on
the way from the root side, which keeps that property and rules out cycling (Cunningham 1976; Bonneel et al.
2011 use the same rule). Against rounding in the potentials there is a pivot tolerance and, last, a pivot
limit; both only weaken what the sweep claims, and a separate checker decides.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import finite_kernel, kernel
from bisimetric.kernels.layout import HINT_RUN, SMALL

PIVOTS_PER_NODE = 1000  # give up on a pair after this many, which only rounding can cause
HUGE = 1e300
CLOSED = 2**30  # marks a target that a greedy start has filled

# Columns of a sweep's report.
LOWEST, HIGHEST, PIVOTS = range(3)


@finite_kernel
def _lowest(costs, potential, size):
    """min over j of costs[j] - potential[j]."""
    best = HUGE
    for j in range(size):
        reduced = costs[j] - potential[j]
        if reduced < best:
            best = reduced
    return best


@kernel
def _staircase(sx, sy, a, b, child, parent):
    """North-west corner tree; ties open the next source node, which makes it strongly feasible."""
    i = 0
    j = 0
    left_a = a[0]
    left_b = b[0]
    child[0] = sx
    parent[0] = 0
    for k in range(1, sx + sy - 1):
        if (left_a <= left_b and i < sx - 1) or j == sy - 1:
            left_b -= left_a
            i += 1
            left_a = a[i]
            child[k] = i
            parent[k] = sx + j
        else:
            left_a -= left_b
            j += 1
            left_b = b[j]
            child[k] = sx + j
            parent[k] = i


@kernel
def _greedy(sx, sy, a, b, cost, hint, child, parent, left_b, extra_b, head, link, end, order):
    """Each source node in turn fills its cheapest open targets; then the arcs are rooted at source node 0.

    `hint` are guesses of the target potentials: cheapest means C - hint. Ties are broken as if every node but the
    root sent a tiny ε more towards the root (sources supply ε more,
    targets take ε less). Under that perturbation no partial sum vanishes, so the tree is a spanning tree and
    strongly feasible. ε is counted separately.
    """
    nodes = sx + sy
    for u in range(nodes):
        head[u] = -1
    for j in range(sy):
        left_b[j] = b[j]
        extra_b[j] = -1
    arcs = 0
    for i in range(sx):
        left_a = a[i]
        extra_a = 1 if i > 0 else 1 - nodes
        while True:
            best = HUGE
            at = -1
            for j in range(sy):
                if extra_b[j] != CLOSED and cost[i, j] - hint[j] < best:
                    best = cost[i, j] - hint[j]
                    at = j
            for side in range(2):  # arc i - at, seen from both ends
                u = i if side == 0 else sx + at
                slot = 2 * arcs + side
                end[slot] = sx + at if side == 0 else i
                link[slot] = head[u]
                head[u] = slot
            arcs += 1
            if arcs == nodes - 1:
                break
            if left_a < left_b[at] or (left_a == left_b[at] and extra_a < extra_b[at]):
                left_b[at] -= left_a
                extra_b[at] -= extra_a
                break
            left_a -= left_b[at]
            extra_a -= extra_b[at]
            extra_b[at] = CLOSED
        if arcs == nodes - 1:
            break
    for u in range(1, nodes):
        order[u] = -1
    order[0] = 0
    # Breadth first from the root; child[k] doubles as the queue.
    filled = 0
    looked = -1
    while filled < nodes - 1:
        u = 0 if looked < 0 else child[looked]
        slot = head[u]
        while slot >= 0:
            w = end[slot]
            if order[w] < 0:
                order[w] = 1
                child[filled] = w
                parent[filled] = u
                filled += 1
            slot = link[slot]
        looked += 1


@kernel
def _flows(sx, sy, a, b, child, parent, excess, flow):
    """flow[u] on the arc from node u to its parent, from the leaves up; exact for exact marginals."""
    for i in range(sx):
        excess[i] = a[i]
    for j in range(sy):
        excess[sx + j] = -b[j]
    for k in range(sx + sy - 2, -1, -1):
        u = child[k]
        flow[u] = excess[u] if u < sx else -excess[u]
        excess[parent[k]] += excess[u]


@finite_kernel
def _pivot(sx, sy, a, b, cost, child, parent, up, depth, flow, pot, down, right, left, excess, tol):
    """Pivot the tree (child, parent) to optimality for `cost`; returns the pivots made, negative if the limit was hit.

    `up`, `depth`, `flow` (on the arc to `up`) and `pot` are per node; `down`, `right`, `left` link first
    child and siblings. On return child, parent list the new tree in preorder.
    """
    nodes = sx + sy
    for u in range(nodes):
        down[u] = -1
        right[u] = -1
        left[u] = -1
    up[0] = -1
    depth[0] = 0
    pot[0] = 0.0
    for k in range(nodes - 1):
        u = child[k]
        w = parent[k]
        up[u] = w
        depth[u] = depth[w] + 1
        pot[u] = (cost[u, w - sx] if u < sx else cost[w, u - sx]) - pot[w]
        first = down[w]
        right[u] = first
        down[w] = u
        if first >= 0:
            left[first] = u
    _flows(sx, sy, a, b, child, parent, excess, flow)

    small = sx * sy <= SMALL
    targets = pot[sx:]
    next_row = 0
    pivots = 0
    limit = PIVOTS_PER_NODE * (nodes + 10)
    while True:
        # Entering arc: the most negative reduced cost, overall (small) or in the next source row that has
        # one.
        enter_i = -1
        enter_j = -1
        best = -tol
        if small:
            for i in range(sx):
                for j in range(sy):
                    reduced = cost[i, j] - pot[i] - targets[j]
                    if reduced < best:
                        best = reduced
                        enter_i = i
                        enter_j = j
        else:
            for _ in range(sx):
                i = next_row
                next_row = next_row + 1 if next_row + 1 < sx else 0
                if _lowest(cost[i], targets, sy) - pot[i] < best:
                    enter_i = i
                    break
            if enter_i >= 0:
                lowest = HUGE
                for j in range(sy):
                    reduced = cost[enter_i, j] - targets[j]
                    if reduced < lowest:
                        lowest = reduced
                        enter_j = j
        if enter_i < 0:
            break
        if pivots == limit:
            pivots = -pivots
            break
        p = enter_i
        q = sx + enter_j
        reduced = cost[enter_i, enter_j] - pot[p] - pot[q]

        # The cycle: from p and q up to their common ancestor.
        u = p
        w = q
        while u != w:
            if depth[u] > depth[w]:
                u = up[u]
            elif depth[w] > depth[u]:
                w = up[w]
            else:
                u = up[u]
                w = up[w]
        top = u
        # Leaving arc: smallest flow among those that shrink; '<' on p's side, '<=' on q's keeps the tree
        # strongly feasible.
        delta = HUGE
        out = -1
        out_on_p_side = True
        u = p
        while u != top:
            if u < sx and flow[u] < delta:
                delta = flow[u]
                out = u
            u = up[u]
        u = q
        while u != top:
            if u >= sx and flow[u] <= delta:
                delta = flow[u]
                out = u
                out_on_p_side = False
            u = up[u]
        if delta != 0.0:
            u = p
            while u != top:
                flow[u] += -delta if u < sx else delta
                u = up[u]
            u = q
            while u != top:
                flow[u] += -delta if u >= sx else delta
                u = up[u]

        # Hang the cut-off part below the entering arc, turning the path from there to the leaving arc around.
        if out_on_p_side:
            inner = p
            outer = q
            change = reduced  # of source potentials in that part; targets change by the opposite
        else:
            inner = q
            outer = p
            change = -reduced
        u = inner
        new_up = outer
        new_flow = delta
        while True:
            old_up = up[u]
            old_flow = flow[u]
            before = left[u]
            after = right[u]
            if before >= 0:
                right[before] = after
            else:
                down[old_up] = after
            if after >= 0:
                left[after] = before
            first = down[new_up]
            right[u] = first
            left[u] = -1
            down[new_up] = u
            if first >= 0:
                left[first] = u
            up[u] = new_up
            flow[u] = new_flow
            if u == out:
                break
            new_up = u
            new_flow = old_flow
            u = old_up
        # Depths and potentials of the moved part, in preorder.
        u = inner
        while True:
            depth[u] = depth[up[u]] + 1
            pot[u] += change if u < sx else -change
            if down[u] >= 0:
                u = down[u]
            else:
                while u != inner and right[u] < 0:
                    u = up[u]
                if u == inner:
                    break
                u = right[u]
        pivots += 1

    k = 0
    u = down[0]
    while True:
        child[k] = u
        parent[k] = up[u]
        k += 1
        if down[u] >= 0:
            u = down[u]
        else:
            while u != 0 and right[u] < 0:
                u = up[u]
            if u == 0:
                break
            u = right[u]
    return pivots


@kernel
def _load(trees, at, arcs, child, parent):
    """The tree that is stored at a position."""
    mask = (1 << trees.shift) - 1
    for k in range(arcs):
        code = np.int64(trees.code[at + k])
        child[k] = code >> trees.shift
        parent[k] = code & mask


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
        slack = min(slack, _lowest(cost[i], pot[sx:], sy) - pot[i])
        if slack < -tol:
            break
    return slack


@kernel
def _store(trees, at, pair, sx, arcs, child, parent, flow, source, target, width):
    """Keep the tree, and apart from it the cells that carry flow, in the form that evaluation reads."""
    used = 0
    for k in range(arcs):
        u = child[k]
        w = parent[k]
        trees.code[at + k] = (u << trees.shift) | w
        if flow[u] > 0.0:
            trees.target[at + used] = source[min(u, w)] * width + target[max(u, w) - sx]
            trees.weight[at + used] = flow[u]
            used += 1
    trees.used[pair] = used


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
    child = np.empty(size, np.int32)
    parent = np.empty(size, np.int32)
    up = np.empty(size, np.int32)
    depth = np.empty(size, np.int32)
    down = np.empty(size, np.int32)
    right = np.empty(size, np.int32)
    left = np.empty(size, np.int32)
    flow = np.empty(size)
    pot = np.empty(size)
    excess = np.empty(size)
    link = np.empty(2 * size, np.int32)
    end = np.empty(2 * size, np.int32)
    hinting = cold and largest_x * largest_y > SMALL
    hint = np.zeros(width)  # target potentials of the pair before, by state
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
                        for j in range(sy):
                            excess[j] = hint[target[j]]
                        _greedy(sx, sy, a, b, local, excess, child, parent, flow, depth, down, link, end, up)
                    elif seen == alike[y]:
                        _load(trees, seen_at, arcs, child, parent)
                    else:
                        _staircase(sx, sy, a, b, child, parent)
                    seen = alike[y]
                    seen_at = at
                    _flows(sx, sy, a, b, child, parent, excess, flow)
                    _store(trees, at, x * m + y, sx, arcs, child, parent, flow, source, target, width)
                ignored = tol[arcs + 1]
                slack = _duals(trees, at, sx, sy, local, pot, ignored)
                if slack < -ignored:
                    _load(trees, at, arcs, child, parent)
                    pivots = _pivot(
                        sx, sy, a, b, local, child, parent, up, depth, flow, pot, down, right, left, excess, ignored
                    )  # fmt: skip
                    slack = -ignored if pivots >= 0 else -HUGE
                    n_pivots += abs(pivots)
                    _store(trees, at, x * m + y, sx, arcs, child, parent, flow, source, target, width)
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
    child = np.empty(size + more, np.int32)
    parent = np.empty(size + more, np.int32)
    pot = np.empty(size + more)
    excess = np.empty(size + more)
    flow = np.empty(size + more)
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
        _load(trees, trees.offset[x] + y * (sx - 1) + y_at, sx + sy - 1, child, parent)
        _flows(sx, sy, P.data[x_at : x_at + sx], Q.data[y_at : y_at + sy], child, parent, excess, flow)
        pot[0] = 0.0
        out = cells.indptr[pair - first]
        for k in range(sx + sy - 1):
            u = child[k]
            w = parent[k]
            i = min(u, w)
            j = max(u, w) - sx
            pot[u] = value[P.indices[x_at + i], Q.indices[y_at + j]] - pot[w]
            if flow[u] > 0.0:
                cells.left[out] = i
                cells.right[out] = j
                cells.weight[out] = flow[u]
                out += 1
        for j in range(sy):
            cells.potential[g_at + j] = pot[sx + j]

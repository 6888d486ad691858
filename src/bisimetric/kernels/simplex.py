"""One transport problem on a spanning tree: starts, and pivots of the primal and of the dual simplex.

    min { Σ π(i, j) C(i, j) : π ≥ 0, π couples a and b }

The arcs of a tree join source nodes 0..S_x-1 with target nodes S_x..S_x+S_y-1; source node 0 is the root.
Potentials solve pot(i) + pot(j) = C(i, j) on the arcs; the tree is optimal when its flows are feasible and no
reduced cost C(i, j) - pot(i) - pot(j) is negative.

Flows are sums of multiples of 2⁻⁵² and therefore exact. Trees are kept *strongly feasible*: every arc without
flow has a source node as its child. That is feasibility after every node but the root has sent a tiny ε more
towards the root, under which no flow vanishes.

- The primal simplex starts from a strongly feasible tree, for costs that have changed. The leaving arc is the
  last blocking one met on the way from the root side, which keeps the property and rules out cycling
  (Cunningham 1976; Bonneel et al. 2011 use the same rule).
- The dual simplex starts from the optimal tree of other marginals and the same costs, which is still
  optimal but no longer feasible. An arc that violates strong feasibility leaves; the cheapest arc that brings
  flow the other way enters.

Both stop at a pivot limit, which only rounding in the potentials (primal) or ties in the costs (dual) can reach.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric.kernels._compile import finite_kernel, kernel
from bisimetric.kernels.layout import SMALL

PIVOTS_PER_NODE = 1000  # of the primal simplex: more come from rounding only
REPAIRS_PER_NODE = 4  # of the dual simplex: beyond, a new start is cheaper
HUGE = 1e300
CLOSED = 2**30  # marks a target that a greedy start has filled


class Tree(NamedTuple):
    """Room for a tree while it is worked on; per arc `child`, `parent`, all others per node."""

    child: npt.NDArray[np.int32]
    parent: npt.NDArray[np.int32]  # before its children, in the order of arcs
    up: npt.NDArray[np.int32]  # parent of a node, -1 for the root
    depth: npt.NDArray[np.int32]
    down: npt.NDArray[np.int32]  # first child
    right: npt.NDArray[np.int32]  # next and
    left: npt.NDArray[np.int32]  # previous sibling; -1 for none
    flow: npt.NDArray[np.float64]  # on the arc between a node and its parent
    pot: npt.NDArray[np.float64]
    excess: npt.NDArray[np.float64]


@kernel
def new_tree(nodes):
    """Room for a tree with this many nodes."""
    return Tree(
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes, np.int32),
        np.empty(nodes),
        np.empty(nodes),
        np.empty(nodes),
    )


@finite_kernel
def lowest_difference(costs, potential, size):
    """min over j of costs[j] - potential[j]."""
    best = HUGE
    for j in range(size):
        reduced = costs[j] - potential[j]
        if reduced < best:
            best = reduced
    return best


@kernel
def staircase(sx, sy, a, b, child, parent):
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
def greedy(sx, sy, a, b, cost, hint, tree, link, end):
    """Each source node in turn fills its cheapest open targets; then the arcs are rooted at source node 0.

    `hint` are guesses of the target potentials: cheapest means C - hint. Ties are broken as if every node but
    the root sent ε more towards the root (sources supply ε more, targets take ε less), with ε counted
    separately, so that the tree is a spanning tree and strongly feasible. `link`, `end`: room for two entries
    per arc, both of its ends.
    """
    child, parent, head, seen = tree.child, tree.parent, tree.down, tree.up
    left_b, extra_b = tree.flow, tree.depth
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
        seen[u] = -1
    seen[0] = 0
    # Breadth first from the root; child[k] doubles as the queue.
    filled = 0
    looked = -1
    while filled < nodes - 1:
        u = 0 if looked < 0 else child[looked]
        slot = head[u]
        while slot >= 0:
            w = end[slot]
            if seen[w] < 0:
                seen[w] = 1
                child[filled] = w
                parent[filled] = u
                filled += 1
            slot = link[slot]
        looked += 1


@kernel
def flows(sx, sy, a, b, tree):
    """flow[u] on the arc from node u to its parent, from the leaves up; exact for exact marginals."""
    excess = tree.excess
    for i in range(sx):
        excess[i] = a[i]
    for j in range(sy):
        excess[sx + j] = -b[j]
    for k in range(sx + sy - 2, -1, -1):
        u = tree.child[k]
        tree.flow[u] = excess[u] if u < sx else -excess[u]
        excess[tree.parent[k]] += excess[u]


@kernel
def primal(sx, sy, a, b, cost, tree, tol):
    """Pivot a strongly feasible tree until no reduced cost is below -tol; returns the pivots made.

    Negative if the limit was hit. Only child and parent of `tree` are read; on return it is whole, in preorder.
    """
    _plant(sx, sy, a, b, cost, tree)
    up, depth, flow, pot = tree.up, tree.depth, tree.flow, tree.pot
    next_row = 0
    pivots = 0
    limit = PIVOTS_PER_NODE * (sx + sy + 10)
    while True:
        enter_i, enter_j, next_row = _entering(sx, sy, cost, pot, next_row, tol)
        if enter_i < 0:
            break
        if pivots == limit:
            pivots = -pivots
            break
        p = enter_i
        q = sx + enter_j
        reduced = cost[enter_i, enter_j] - pot[p] - pot[q]
        top = _meeting(p, q, up, depth)
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
        _push(sx, p, q, top, delta, up, flow)
        if out_on_p_side:
            _rehang(sx, p, q, out, delta, reduced, tree)
        else:
            _rehang(sx, q, p, out, delta, -reduced, tree)
        pivots += 1
    _list_arcs(tree)
    return pivots


@kernel
def dual(sx, sy, a, b, cost, tree):
    """Make a tree that is optimal for other marginals strongly feasible for these; returns the pivots made.

    Negative if the limit was hit. Only child and parent of `tree` are read; on return it is whole, in preorder.
    """
    _plant(sx, sy, a, b, cost, tree)
    up, depth, flow, pot, masked = tree.up, tree.depth, tree.flow, tree.pot, tree.excess
    sources, targets = tree.child, tree.parent  # free until the tree is listed again
    pivots = 0
    limit = REPAIRS_PER_NODE * (sx + sy)
    while True:
        out = -1
        least = 0.0
        for u in range(1, sx):
            if flow[u] < least:
                least = flow[u]
                out = u
        for u in range(sx, sx + sy):
            if flow[u] < least or (flow[u] == least and out < 0):
                least = flow[u]
                out = u
        if out < 0:
            break
        if pivots == limit:
            return -pivots
        # The part below the leaving arc has too much to send (its top is a target) or too little.
        surplus = out >= sx
        n_sources = 0
        n_targets = 0
        u = out
        while u >= 0:
            if u < sx:
                sources[n_sources] = u
                n_sources += 1
            else:
                targets[n_targets] = u - sx
                n_targets += 1
            u = _next_below(u, out, tree)
        best = HUGE
        p = -1
        q = -1
        if surplus:  # from a source inside to a target outside
            for j in range(sy):
                masked[j] = pot[sx + j]
            for k in range(n_targets):
                masked[targets[k]] = -HUGE
            for k in range(n_sources):
                i = sources[k]
                reduced = lowest_difference(cost[i], masked, sy) - pot[i]
                if reduced < best:
                    best = reduced
                    p = i
            best = HUGE
            for j in range(sy):
                reduced = cost[p, j] - masked[j]
                if reduced < best:
                    best = reduced
                    q = sx + j
        else:  # from a source outside to a target inside
            for i in range(sx):
                masked[i] = pot[i]
            for k in range(n_sources):
                masked[sources[k]] = -HUGE
            for i in range(sx):
                for k in range(n_targets):
                    j = targets[k]
                    reduced = cost[i, j] - pot[sx + j] - masked[i]
                    if reduced < best:
                        best = reduced
                        p = i
                        q = sx + j
        reduced = cost[p, q - sx] - pot[p] - pot[q]
        _push(sx, p, q, _meeting(p, q, up, depth), -least, up, flow)
        if surplus:
            _rehang(sx, p, q, out, -least, reduced, tree)
        else:
            _rehang(sx, q, p, out, -least, -reduced, tree)
        pivots += 1
    _list_arcs(tree)
    return pivots


@kernel
def _plant(sx, sy, a, b, cost, tree):
    """Links, depths, potentials and flows of the tree that child and parent describe."""
    up, depth, down, right, left, pot = tree.up, tree.depth, tree.down, tree.right, tree.left, tree.pot
    nodes = sx + sy
    for u in range(nodes):
        down[u] = -1
        right[u] = -1
        left[u] = -1
    up[0] = -1
    depth[0] = 0
    pot[0] = 0.0
    for k in range(nodes - 1):
        u = tree.child[k]
        w = tree.parent[k]
        up[u] = w
        depth[u] = depth[w] + 1
        pot[u] = (cost[u, w - sx] if u < sx else cost[w, u - sx]) - pot[w]
        first = down[w]
        right[u] = first
        down[w] = u
        if first >= 0:
            left[first] = u
    flows(sx, sy, a, b, tree)


@finite_kernel
def _entering(sx, sy, cost, pot, next_row, tol):
    """The cell with the most negative reduced cost, overall (small) or in the next source row that has one.

    (-1, -1, …) if none is below -tol; the third number is the row after.
    """
    best = -tol
    enter_i = -1
    enter_j = -1
    targets = pot[sx:]
    if sx * sy <= SMALL:
        for i in range(sx):
            for j in range(sy):
                reduced = cost[i, j] - pot[i] - targets[j]
                if reduced < best:
                    best = reduced
                    enter_i = i
                    enter_j = j
        return enter_i, enter_j, next_row
    for _ in range(sx):
        i = next_row
        next_row = next_row + 1 if next_row + 1 < sx else 0
        if lowest_difference(cost[i], targets, sy) - pot[i] < best:
            enter_i = i
            break
    if enter_i >= 0:
        lowest = HUGE
        for j in range(sy):
            reduced = cost[enter_i, j] - targets[j]
            if reduced < lowest:
                lowest = reduced
                enter_j = j
    return enter_i, enter_j, next_row


@kernel
def _meeting(u, w, up, depth):
    """The lowest common ancestor."""
    while u != w:
        if depth[u] > depth[w]:
            u = up[u]
        elif depth[w] > depth[u]:
            w = up[w]
        else:
            u = up[u]
            w = up[w]
    return u


@kernel
def _push(sx, p, q, top, delta, up, flow):
    """Send delta from source p to target q on a new arc, and back along the tree."""
    if delta == 0.0:
        return
    u = p
    while u != top:
        flow[u] += -delta if u < sx else delta
        u = up[u]
    u = q
    while u != top:
        flow[u] += -delta if u >= sx else delta
        u = up[u]


@kernel
def _rehang(sx, inner, outer, out, delta, change, tree):
    """Replace the arc above `out` by inner - outer with flow delta, `inner` being below it.

    The path from inner to out is turned around. Source potentials of the part that moves grow by `change`,
    those of its targets fall by it.
    """
    up, depth, down, right, left, flow, pot = (
        tree.up,
        tree.depth,
        tree.down,
        tree.right,
        tree.left,
        tree.flow,
        tree.pot,
    )
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
    u = inner
    while u >= 0:
        depth[u] = depth[up[u]] + 1
        pot[u] += change if u < sx else -change
        u = _next_below(u, inner, tree)


@kernel
def _next_below(u, top, tree):
    """The node after u in preorder below `top`, -1 after the last."""
    if tree.down[u] >= 0:
        return tree.down[u]
    while u != top and tree.right[u] < 0:
        u = tree.up[u]
    return -1 if u == top else tree.right[u]


@kernel
def _list_arcs(tree):
    """child and parent from the links, in preorder."""
    k = 0
    u = _next_below(0, 0, tree)
    while u >= 0:
        tree.child[k] = u
        tree.parent[k] = tree.up[u]
        k += 1
        u = _next_below(u, 0, tree)

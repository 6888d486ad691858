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

from typing import Any

import numpy as np

from bisimetric.kernels._compile import finite_part, part
from bisimetric.kernels.layout import SMALL, Index

PIVOTS_PER_NODE = 1000  # of the primal simplex: more come from rounding only
REPAIRS_PER_NODE = 4  # of the dual simplex: beyond, a new start is cheaper
HUGE = 1e300
Node: Any = np.uint32  # unsigned, being an index
ROOT: Any = Node(0)  # typed, or functions would be compiled for these numbers apart
NOBODY: Any = Node(2**32 - 1)
CLOSED = -1.0  # room left in a target that a greedy start has filled


# A tree while it is worked on: whole numbers [nodes, 8], of which 7 are used, and reals [4, nodes]. Arrays in a tuple,
# or one array each, would be counted as references on every use, which takes longer than the pivots.
CHILD, PARENT, UP, DEPTH, DOWN, RIGHT, LEFT = range(7)
# CHILD and PARENT of arc k are listed at place k, parents before their children; the others are per node: its parent
# (NOBODY for the root), its depth, its first child, its next and its previous sibling (NOBODY if there is none).
MASS, FLOW, POT, ROOM = range(4)  # marginal of a node, flow between it and its parent, potential; free for use
NEXT, END = range(2)  # in the lists of a greedy start


@part
def new_tree(nodes):
    """Room for a tree with this many nodes: its whole numbers, and its reals."""
    return np.empty((nodes, 8), Node), np.empty((4, nodes))


@finite_part
def lowest_difference(cost, i, real, field, first, size):
    """min over j of cost[i, j] - real[field, first + j]."""
    best = HUGE
    for j in range(size):
        reduced = cost[i, j] - real[field, Index(first + j)]
        if reduced < best:
            best = reduced
    return best


@part
def staircase(sx, sy, tree, real):
    """North-west corner tree; ties open the next source node, which makes it strongly feasible."""
    i = 0
    j = 0
    left_a = real[MASS, 0]
    left_b = real[MASS, sx]
    tree[0, CHILD] = sx
    tree[0, PARENT] = 0
    for k in range(1, sx + sy - 1):
        if (left_a <= left_b and i < sx - 1) or j == sy - 1:
            left_b -= left_a
            i += 1
            left_a = real[MASS, i]
            tree[k, CHILD] = i
            tree[k, PARENT] = sx + j
        else:
            left_a -= left_b
            j += 1
            left_b = real[MASS, sx + j]
            tree[k, CHILD] = sx + j
            tree[k, PARENT] = i


@part
def greedy(sx, sy, cost, tree, real, links):
    """Each source node in turn fills its cheapest open targets; then the arcs are rooted at source node 0.

    The room holds guesses of the target potentials: cheapest means C less those. Ties are broken as if every node but
    the root sent ε more towards the root (sources supply ε more, targets take ε less), with ε counted
    separately, so that the tree is a spanning tree and strongly feasible. `links`: room for two
    entries per arc, both of its ends.
    """
    nodes = sx + sy
    for u in range(nodes):
        tree[u, DOWN] = NOBODY
    for j in range(sy):
        real[FLOW, j] = real[MASS, sx + j]
        real[POT, j] = -1.0  # times ε
    arcs = 0
    for i in range(sx):
        left_a = real[MASS, i]
        extra_a = 1.0 if i > 0 else 1.0 - nodes
        while True:
            best = HUGE
            at = -1
            for j in range(sy):
                if real[FLOW, j] != CLOSED and cost[i, j] - real[ROOM, j] < best:
                    best = cost[i, j] - real[ROOM, j]
                    at = j
            for side in range(2):  # arc i - at, seen from both ends
                u = i if side == 0 else sx + at
                slot = 2 * arcs + side
                links[END, slot] = sx + at if side == 0 else i
                links[NEXT, slot] = tree[u, DOWN]
                tree[u, DOWN] = slot
            arcs += 1
            if arcs == nodes - 1:
                break
            if left_a < real[FLOW, at] or (left_a == real[FLOW, at] and extra_a < real[POT, at]):
                real[FLOW, at] -= left_a
                real[POT, at] -= extra_a
                break
            left_a -= real[FLOW, at]
            extra_a -= real[POT, at]
            real[FLOW, at] = CLOSED
        if arcs == nodes - 1:
            break
    for u in range(1, nodes):
        tree[u, UP] = NOBODY
    tree[0, UP] = ROOT
    # Breadth first from the root; the list of children doubles as the queue.
    filled = 0
    looked = -1
    while filled < nodes - 1:
        u = ROOT if looked < 0 else tree[looked, CHILD]
        slot = tree[u, DOWN]
        while slot != NOBODY:
            w = links[END, slot]
            if tree[w, UP] == NOBODY:
                tree[w, UP] = ROOT  # it has been seen
                tree[filled, CHILD] = w
                tree[filled, PARENT] = u
                filled += 1
            slot = links[NEXT, slot]
        looked += 1


@part
def flows(sx, sy, tree, real):
    """real[FLOW, u] on the arc from node u to its parent, from the leaves up; exact for exact marginals."""
    for i in range(sx):
        real[ROOM, i] = real[MASS, i]
    for j in range(sy):
        real[ROOM, Index(sx + j)] = -real[MASS, Index(sx + j)]
    for back in range(sx + sy - 1):
        k = Index(sx + sy - 2 - back)
        u = tree[k, CHILD]
        real[FLOW, u] = real[ROOM, u] if u < sx else -real[ROOM, u]
        real[ROOM, tree[k, PARENT]] += real[ROOM, u]


@part
def primal(sx, sy, cost, tree, real, tol):
    """Pivot a strongly feasible tree until no reduced cost is below -tol; returns the pivots made.

    Negative if the limit was hit. Only child and parent of `tree` are read; on return it is whole.
    """
    _plant(sx, sy, cost, tree, real)
    next_row = 0
    pivots = 0
    limit = PIVOTS_PER_NODE * (sx + sy + 10)
    while True:
        enter_i, enter_j, next_row = _entering(sx, sy, cost, real, next_row, tol)
        if enter_i == NOBODY:
            break
        if pivots == limit:
            pivots = -pivots
            break
        p = enter_i
        q = Node(sx + enter_j)
        reduced = cost[enter_i, enter_j] - real[POT, p] - real[POT, q]
        top = _transport_at(p, q, tree)
        # Leaving arc: smallest flow among those that shrink; '<' on p's side, '<=' on q's keeps the tree
        # strongly feasible.
        delta = HUGE
        out = NOBODY
        out_on_p_side = True
        u = p
        while u != top:
            if u < sx and real[FLOW, u] < delta:
                delta = real[FLOW, u]
                out = u
            u = tree[u, UP]
        u = q
        while u != top:
            if u >= sx and real[FLOW, u] <= delta:
                delta = real[FLOW, u]
                out = u
                out_on_p_side = False
            u = tree[u, UP]
        _push(sx, p, q, top, delta, tree, real)
        if out_on_p_side:
            _rehang(sx, p, q, out, delta, reduced, tree, real)
        else:
            _rehang(sx, q, p, out, delta, -reduced, tree, real)
        pivots += 1
    if pivots != 0:
        _list_arcs(tree)
    return pivots


@part
def dual(sx, sy, cost, tree, real):
    """Make a tree that is optimal for other marginals strongly feasible for these; returns the pivots made.

    Negative if the limit was hit. Only child and parent of `tree` are read; on return it is whole, in preorder.
    """
    _plant(sx, sy, cost, tree, real)
    pivots = 0
    limit = REPAIRS_PER_NODE * (sx + sy)
    while True:
        out = NOBODY
        least = 0.0
        for node in range(1, sx):
            if real[FLOW, node] < least:
                least = real[FLOW, node]
                out = Node(node)
        for node in range(sx, sx + sy):
            if real[FLOW, node] < least or (real[FLOW, node] == least and out == NOBODY):
                least = real[FLOW, node]
                out = Node(node)
        if out == NOBODY:
            break
        if pivots == limit:
            return -pivots
        # The part below the leaving arc has too much to send (its top is a target) or too little.
        surplus = out >= sx
        n_sources = 0
        n_targets = 0
        u = out
        while u != NOBODY:
            if u < sx:
                tree[n_sources, CHILD] = u
                n_sources += 1
            else:
                tree[n_targets, PARENT] = u - sx
                n_targets += 1
            u = _next_below(u, out, tree)
        best = HUGE
        p = NOBODY
        q = NOBODY
        if surplus:  # from a source inside to a target outside
            for j in range(sy):
                real[ROOM, j] = real[POT, sx + j]
            for k in range(n_targets):
                real[ROOM, tree[k, PARENT]] = -HUGE
            for k in range(n_sources):
                i = tree[k, CHILD]
                reduced = lowest_difference(cost, i, real, ROOM, 0, sy) - real[POT, i]
                if reduced < best:
                    best = reduced
                    p = i
            best = HUGE
            for j in range(sy):
                reduced = cost[p, j] - real[ROOM, j]
                if reduced < best:
                    best = reduced
                    q = Node(sx + j)
        else:  # from a source outside to a target inside
            for i in range(sx):
                real[ROOM, i] = real[POT, i]
            for k in range(n_sources):
                real[ROOM, tree[k, CHILD]] = -HUGE
            for i in range(sx):
                for k in range(n_targets):
                    j = tree[k, PARENT]
                    reduced = cost[i, j] - real[POT, sx + j] - real[ROOM, i]
                    if reduced < best:
                        best = reduced
                        p = Node(i)
                        q = Node(sx + j)
        reduced = cost[p, q - sx] - real[POT, p] - real[POT, q]
        _push(sx, p, q, _transport_at(p, q, tree), -least, tree, real)
        if surplus:
            _rehang(sx, p, q, out, -least, reduced, tree, real)
        else:
            _rehang(sx, q, p, out, -least, -reduced, tree, real)
        pivots += 1
    _list_arcs(tree)
    return pivots


@part
def _plant(sx, sy, cost, tree, real):
    """Links, depths, potentials and flows of the tree that child and parent describe."""
    nodes = sx + sy
    for u in range(nodes):
        tree[u, DOWN] = NOBODY
        tree[u, RIGHT] = NOBODY
        tree[u, LEFT] = NOBODY
    tree[0, UP] = NOBODY
    tree[0, DEPTH] = 0
    real[POT, 0] = 0.0
    for k in range(nodes - 1):
        u = tree[k, CHILD]
        w = tree[k, PARENT]
        tree[u, UP] = w
        tree[u, DEPTH] = tree[w, DEPTH] + 1
        real[POT, u] = cost[min(u, w), Node(max(u, w) - sx)] - real[POT, w]
        first = tree[w, DOWN]
        tree[u, RIGHT] = first
        tree[w, DOWN] = u
        if first != NOBODY:
            tree[first, LEFT] = u
    flows(sx, sy, tree, real)


@finite_part
def _entering(sx, sy, cost, real, next_row, tol):
    """The cell with the most negative reduced cost, overall (small) or in the next source row that has one.

    (NOBODY, NOBODY, …) if none is below -tol; the third number is the row after.
    """
    best = -tol
    enter_i = NOBODY
    enter_j = NOBODY
    if sx * sy <= SMALL:
        for i in range(sx):
            for j in range(sy):
                reduced = cost[i, j] - real[POT, i] - real[POT, Index(sx + j)]
                if reduced < best:
                    best = reduced
                    enter_i = Node(i)
                    enter_j = Node(j)
        return enter_i, enter_j, next_row
    for _ in range(sx):
        i = next_row
        next_row = next_row + 1 if next_row + 1 < sx else 0
        if lowest_difference(cost, i, real, POT, sx, sy) - real[POT, i] < best:
            enter_i = Node(i)
            break
    if enter_i != NOBODY:
        lowest = HUGE
        for j in range(sy):
            reduced = cost[enter_i, j] - real[POT, Index(sx + j)]
            if reduced < lowest:
                lowest = reduced
                enter_j = Node(j)
    return enter_i, enter_j, next_row


@part
def _transport_at(u, w, tree):
    """The lowest common ancestor."""
    while u != w:
        if tree[u, DEPTH] > tree[w, DEPTH]:
            u = tree[u, UP]
        elif tree[w, DEPTH] > tree[u, DEPTH]:
            w = tree[w, UP]
        else:
            u = tree[u, UP]
            w = tree[w, UP]
    return u


@part
def _push(sx, p, q, top, delta, tree, real):
    """Send delta from source p to target q on a new arc, and back along the tree."""
    if delta == 0.0:
        return
    u = p
    while u != top:
        real[FLOW, u] += -delta if u < sx else delta
        u = tree[u, UP]
    u = q
    while u != top:
        real[FLOW, u] += -delta if u >= sx else delta
        u = tree[u, UP]


@part
def _rehang(sx, inner, outer, out, delta, change, tree, real):
    """Replace the arc above `out` by inner - outer with flow delta, `inner` being below it.

    The path from inner to out is turned around. Source potentials of the part that moves grow by `change`,
    those of its targets fall by it.
    """
    u = inner
    new_up = outer
    new_flow = delta
    while True:
        old_up = tree[u, UP]
        old_flow = real[FLOW, u]
        before = tree[u, LEFT]
        after = tree[u, RIGHT]
        if before != NOBODY:
            tree[before, RIGHT] = after
        else:
            tree[old_up, DOWN] = after
        if after != NOBODY:
            tree[after, LEFT] = before
        first = tree[new_up, DOWN]
        tree[u, RIGHT] = first
        tree[u, LEFT] = NOBODY
        tree[new_up, DOWN] = u
        if first != NOBODY:
            tree[first, LEFT] = u
        tree[u, UP] = new_up
        real[FLOW, u] = new_flow
        if u == out:
            break
        new_up = u
        new_flow = old_flow
        u = old_up
    u = inner
    while u != NOBODY:
        tree[u, DEPTH] = tree[tree[u, UP], DEPTH] + 1
        real[POT, u] += change if u < sx else -change
        u = _next_below(u, inner, tree)


@part
def _next_below(u, top, tree):
    """The node after u in preorder below `top`, NOBODY after the last."""
    if tree[u, DOWN] != NOBODY:
        return tree[u, DOWN]
    while u != top and tree[u, RIGHT] == NOBODY:
        u = tree[u, UP]
    return NOBODY if u == top else tree[u, RIGHT]


@part
def _list_arcs(tree):
    """child and parent from the links, in preorder."""
    k = 0
    u = _next_below(ROOT, ROOT, tree)
    while u != NOBODY:
        tree[k, CHILD] = u
        tree[k, PARENT] = tree[u, UP]
        k += 1
        u = _next_below(u, ROOT, tree)

"""One transport problem on a spanning tree: pivots of the primal and of the dual simplex.

    min { Σ π(i, j) C(i, j) : π ≥ 0, π couples a and b }

The arcs of a tree join source nodes 0..S_x-1 with target nodes S_x..S_x+S_y-1; source node 0 is the root. Potentials
solve pot(i) + pot(j) = C(i, j) on the arcs; the tree is optimal when its flows are feasible and no reduced cost
C(i, j) - pot(i) - pot(j) is negative.

Flows are sums of multiples of 2⁻⁵² and therefore exact. Trees are kept *strongly feasible*: every arc without flow has
a source node as its child. So the flows stay positive when every node but the root sends a tiny ε more to the root.

- The primal simplex starts from a strongly feasible tree after the costs have changed. If several arcs block, the last
  one on the way from the root side leaves, which keeps the tree strongly feasible and rules out cycling. It stops when
  no reduced cost is below the tolerance.
- The dual simplex starts from a tree that is optimal for the same costs and other marginals. For the new marginals its
  reduced costs are right but its flows need not be feasible. An arc that violates strong feasibility leaves; the
  cheapest arc that sends flow the other way enters. It stops when all flows are strongly feasible.

Both have a pivot limit, which only rounding in the potentials (primal) or ties in the costs (dual) can reach.
References: Cunningham 1976; Bonneel et al. 2011, who use the same rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric.kernels._compile import finite_part, part
from bisimetric.kernels.layout import FEW_CELLS, Index

PIVOTS_PER_NODE = 1000  # limit of the primal simplex; only rounding causes more pivots
PRICED_ROWS = 16  # source rows that one search for an entering cell looks at, on large supports
REPAIRS_PER_NODE = 4  # limit of the dual simplex, in pivots; beyond it a new start is cheaper
HUGE_COST = 1e300  # above every reduced cost
Node: Any = np.uint32  # unsigned because nodes are indices
FIRST_ROW: Any = np.int64(0)  # typed, as the next one
ROOT: Any = Node(0)  # typed: for a plain Python number numba compiles a second version of a function
NOBODY: Any = Node(2**32 - 1)  # stands for "no node"


# A tree in work: whole numbers [nodes, 8], of which 7 are used, and reals [4, nodes]. With a tuple of arrays, or one
# array per field, numba would count references on every use, which takes longer than the pivots.
CHILD, PARENT, UP, DEPTH, DOWN, RIGHT, LEFT = range(7)
# Row k holds CHILD and PARENT of arc k, parents before their children. The other fields belong to node k: its parent
# (NOBODY for the root), depth, first child, next sibling and previous sibling (NOBODY if there is none).
MASS, FLOW, POT, ROOM = range(4)  # marginal of a node, flow between it and its parent, potential; ROOM is work space


@part
def new_tree(nodes):
    """Allocate a tree with this many nodes: its whole numbers, and its reals."""
    return np.empty((nodes, 8), Node), np.empty((4, nodes))


@finite_part
def lowest_difference(cost, i, real, field, first, size):
    """min over j of cost[i, j] - real[field, first + j]."""
    best = HUGE_COST
    for j in range(size):
        reduced = cost[i, j] - real[field, Index(first + j)]
        if reduced < best:
            best = reduced
    return best


@part
def flows(sx, sy, tree, real):
    """Compute real[FLOW, u] on the arc from node u to its parent, from the leaves up; exact for exact marginals."""
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
def dual(sx, sy, cost, tree, real):
    """Make a tree that is optimal for other marginals strongly feasible for these; returns the number of pivots.

    The number is negative if the limit was hit. Reads only CHILD and PARENT of `tree`, and fills in its other fields;
    the arcs end up in preorder.
    """
    plant(sx, sy, cost, tree, real)
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
        # The part below the leaving arc has too much mass (if its top node is a target) or too little.
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
            u = next_below(u, out, tree)
        best = HUGE_COST
        p = NOBODY
        q = NOBODY
        if surplus:  # from a source inside to a target outside
            for j in range(sy):
                real[ROOM, j] = real[POT, sx + j]
            for k in range(n_targets):
                real[ROOM, tree[k, PARENT]] = -HUGE_COST
            for k in range(n_sources):
                i = tree[k, CHILD]
                reduced = lowest_difference(cost, i, real, ROOM, 0, sy) - real[POT, i]
                if reduced < best:
                    best = reduced
                    p = i
            best = HUGE_COST
            for j in range(sy):
                reduced = cost[p, j] - real[ROOM, j]
                if reduced < best:
                    best = reduced
                    q = Node(sx + j)
        else:  # from a source outside to a target inside
            for i in range(sx):
                real[ROOM, i] = real[POT, i]
            for k in range(n_sources):
                real[ROOM, tree[k, CHILD]] = -HUGE_COST
            for i in range(sx):
                for k in range(n_targets):
                    j = tree[k, PARENT]
                    reduced = cost[i, j] - real[POT, sx + j] - real[ROOM, i]
                    if reduced < best:
                        best = reduced
                        p = Node(i)
                        q = Node(sx + j)
        reduced = cost[p, q - sx] - real[POT, p] - real[POT, q]
        _push(sx, p, q, _common_ancestor(p, q, tree), -least, tree, real)
        if surplus:
            _rehang(sx, p, q, out, -least, reduced, tree, real)
        else:
            _rehang(sx, q, p, out, -least, -reduced, tree, real)
        pivots += 1
    list_arcs(tree)
    return pivots


@part
def plant(sx, sy, cost, tree, real):
    """Compute links, depths, potentials and flows of the tree that CHILD and PARENT describe."""
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
def _lowest_of_rows(cost, first, last, real, sy):
    """real[ROOM, j] = min over the rows i = first..last of cost[i, j] - real[POT, i]."""
    for j in range(sy):
        real[ROOM, j] = HUGE_COST
    i = Index(first)
    while i + Index(4) <= Index(last):
        f, f1, f2, f3 = real[POT, i], real[POT, i + Index(1)], real[POT, i + Index(2)], real[POT, i + Index(3)]
        for j in range(sy):
            of_two = min(cost[i, j] - f, cost[i + Index(1), j] - f1)
            of_others = min(cost[i + Index(2), j] - f2, cost[i + Index(3), j] - f3)
            real[ROOM, j] = min(real[ROOM, j], min(of_two, of_others))
        i += Index(4)
    while i < Index(last):
        f = real[POT, i]
        for j in range(sy):
            real[ROOM, j] = min(real[ROOM, j], cost[i, j] - f)
        i += Index(1)


@finite_part
def _entering_narrow(sx, sy, cost, real, next_row, tol):
    """Find the cell with the most negative reduced cost: its row and column, NOBODY if none is below -tol."""
    best = -tol
    enter_i = NOBODY
    enter_j = NOBODY
    for i in range(sx):
        for j in range(sy):
            reduced = cost[i, j] - real[POT, i] - real[POT, Index(sx + j)]
            if reduced < best:
                best = reduced
                enter_i = Node(i)
                enter_j = Node(j)
    return enter_i, enter_j, next_row


@finite_part
def _entering(sx, sy, cost, real, next_row, tol):
    """Find the cell that enters: returns its row and column, and the row at which the next search starts.

    It has the most negative reduced cost of all cells (small supports), or of the next source rows, so many at once,
    that have one below -tol (large supports). Row and column are NOBODY if no reduced cost is below -tol.
    """
    if sx * sy <= FEW_CELLS:
        return _entering_narrow(sx, sy, cost, real, next_row, tol)
    best = -tol
    enter_i = NOBODY
    enter_j = NOBODY
    looked = 0
    while looked < sx:
        last = min(next_row + PRICED_ROWS, sx)
        _lowest_of_rows(cost, next_row, last, real, sy)
        lowest = HUGE_COST
        at = NOBODY
        for j in range(sy):
            reduced = real[ROOM, j] - real[POT, Index(sx + j)]
            if reduced < best:
                best = reduced
                lowest = real[ROOM, j]
                at = Node(j)
        if at != NOBODY:
            enter_j = at
            for i in range(next_row, last):
                if cost[i, at] - real[POT, i] == lowest:
                    enter_i = Node(i)
                    break
        looked += last - next_row
        next_row = last if last < sx else FIRST_ROW
        if enter_i != NOBODY:
            break
    return enter_i, enter_j, next_row


@part
def _common_ancestor(u, w, tree):
    """The lowest common ancestor of two nodes."""
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
def reverse_path(inner, outer, out, delta, tree, real):
    """Replace the arc above `out` by the arc inner - outer with flow delta; `inner` is below `out`.

    The path from inner to out is reversed; depths and potentials stay as they are.
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


@part
def _rehang(sx, inner, outer, out, delta, change, tree, real):
    """The same with depths and potentials: source potentials in the part that moves grow by `change`, others fall."""
    reverse_path(inner, outer, out, delta, tree, real)
    u = inner
    while u != NOBODY:
        tree[u, DEPTH] = tree[tree[u, UP], DEPTH] + 1
        real[POT, u] += change if u < sx else -change
        u = next_below(u, inner, tree)


@part
def next_below(u, top, tree):
    """The node after u in preorder below `top`; NOBODY after the last."""
    if tree[u, DOWN] != NOBODY:
        return tree[u, DOWN]
    while u != top and tree[u, RIGHT] == NOBODY:
        u = tree[u, UP]
    return NOBODY if u == top else tree[u, RIGHT]


@part
def list_arcs(tree):
    """Fill in CHILD and PARENT from the links, in preorder."""
    k = 0
    u = next_below(ROOT, ROOT, tree)
    while u != NOBODY:
        tree[k, CHILD] = u
        tree[k, PARENT] = tree[u, UP]
        k += 1
        u = next_below(u, ROOT, tree)


def primal_over(entering):
    """Make the primal simplex over this search for an entering cell."""

    def primal(sx, sy, cost, tree, real, tol):
        """Pivot a strongly feasible tree until no reduced cost is below -tol; returns the number of pivots.

        The number is negative if the limit was hit. Reads only CHILD and PARENT of `tree`, and fills in the rest.
        """
        plant(sx, sy, cost, tree, real)
        next_row = FIRST_ROW
        pivots = 0
        limit = PIVOTS_PER_NODE * (sx + sy + 10)
        while True:
            enter_i, enter_j, next_row = entering(sx, sy, cost, real, next_row, tol)
            if enter_i == NOBODY:
                break
            if pivots == limit:
                pivots = -pivots
                break
            p = enter_i
            q = Node(sx + enter_j)
            reduced = cost[enter_i, enter_j] - real[POT, p] - real[POT, q]
            top = _common_ancestor(p, q, tree)
            # Leaving arc: smallest flow among those that shrink; '<' on p's side, '<=' on q's keeps the tree
            # strongly feasible.
            delta = HUGE_COST
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
            list_arcs(tree)
        return pivots

    return primal


primal = part(primal_over(_entering))
primal_narrow = part(primal_over(_entering_narrow))  # for small supports only; compiles faster

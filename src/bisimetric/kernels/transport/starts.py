"""First trees of a transport problem: both are spanning, and strongly feasible as `simplex` needs them.

    Σ_j π(i, j) = a(i),   Σ_i π(i, j) = b(j),   π ≥ 0 on n + m - 1 arcs that span all nodes

The north-west corner rule takes source and target nodes in order. The greedy start lets every source node fill its
cheapest targets. Both end when n + m - 1 arcs are made.

Where the cost is Monge in some orders of the states, as |r - r'| is in the orders of the rewards,

    C(i, j) + C(i', j') ≤ C(i, j') + C(i', j)   for i before i' and j before j',

the north-west corner rule in those orders makes an optimal transport, and no tree is needed for its cost.

References: as in kernels/transport/simplex.py; Hoffman 1963 (Monge costs).
"""

from __future__ import annotations

from bisimetric.kernels._compile import kernel, part
from bisimetric.kernels.layout import Index
from bisimetric.kernels.transport.simplex import CHILD, DOWN, FLOW, HUGE_COST, MASS, NOBODY, PARENT, POT, ROOM, ROOT, UP

CLOSED = -1.0  # marks a target that a greedy start has filled
NEXT, END = range(2)  # fields of the linked lists of a greedy start


@part
def staircase(sx, sy, tree, real):
    """Build the north-west corner tree; ties open the next source node, which makes it strongly feasible."""
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


@kernel
def monotone_costs(first, last, value, P, Q, source_order, target_order, out):
    """Compute what the north-west corner rule in these orders costs between full rows, for rows first..last."""
    n, m = value.shape
    for x in range(first, last):
        for y in range(m):
            total = 0.0
            i = 0
            j = 0
            left_a = P[x, Index(source_order[0])]
            left_b = Q[y, Index(target_order[0])]
            while i < n and j < m:
                cell = value[Index(source_order[Index(i)]), Index(target_order[Index(j)])]
                if left_a <= left_b:
                    total += left_a * cell
                    left_b -= left_a
                    i += 1
                    if i < n:
                        left_a = P[x, Index(source_order[Index(i)])]
                else:
                    total += left_b * cell
                    left_a -= left_b
                    j += 1
                    if j < m:
                        left_b = Q[y, Index(target_order[Index(j)])]
            out[x, y] = total


@part
def greedy(sx, sy, cost, tree, real, links):
    """Let each source node in turn fill its cheapest open targets; then root the arcs at source node 0.

    real[ROOM] holds guesses of the target potentials; the cheapest target has the lowest cost minus guess. Ties are
    broken as if every node but the root sent ε more towards the root (sources supply ε more, targets take ε less). The
    multiples of ε are counted separately. The result is therefore a strongly feasible spanning tree. `links` has space
    for two entries per arc, one for each end.
    """
    nodes = sx + sy
    for u in range(nodes):
        tree[u, DOWN] = NOBODY
    for j in range(sy):
        real[FLOW, j] = real[MASS, sx + j]
        real[POT, j] = -1.0  # multiple of ε
    arcs = 0
    for i in range(sx):
        left_a = real[MASS, i]
        extra_a = 1.0 if i > 0 else 1.0 - nodes
        while True:
            best = HUGE_COST
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
                tree[w, UP] = ROOT  # mark w as seen
                tree[filled, CHILD] = w
                tree[filled, PARENT] = u
                filled += 1
            slot = links[NEXT, slot]
        looked += 1

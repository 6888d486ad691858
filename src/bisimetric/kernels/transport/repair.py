"""Optimal transport trees of a neighbouring problem, made optimal for other probabilities on the same supports.

    tree of OT_V(P[x], Q[y])  →  OT_V(P'[x], Q'[y]) = min { Σ π(i, j) V(i, j) : π ≥ 0, π couples P'[x] and Q'[y] }

The potentials of a tree do not depend on the probabilities, so it keeps optimal reduced costs. Where its flows for the
new probabilities are not negative it is still optimal; the dual simplex repairs it where some are. A repair visits
every pair once; each pair ends at its optimal tree, or at the pivot limit of the simplex.

References: as in kernels/transport/simplex.py.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels._compile import inlined_part, kernel, part
from bisimetric.kernels.layout import Index
from bisimetric.kernels.transport.simplex import CHILD, FLOW, HUGE_COST, PARENT, POT, dual, flows, new_tree, primal
from bisimetric.kernels.transport.starts import staircase
from bisimetric.kernels.transport.sweep import dual_cost, load, longest, read_cost, read_mass, rows_up_to, store


@part
def _is_strongly_feasible(sx, sy, real):
    """Whether no flow is negative, and none from a target node to its parent is zero."""
    broken = 0
    for node in range(1, sx):
        broken += real[FLOW, node] < 0.0
    for node in range(sx, sx + sy):
        broken += real[FLOW, node] <= 0.0
    return broken == 0


@inlined_part
def _flow_cost(x_at, y_at, sx, sy, p_to, q_to, value, tree, real):
    """The cost of the flows on a tree."""
    total = 0.0
    for k in range(sx + sy - 1):
        u = tree[k, CHILD]
        w = tree[k, PARENT]
        state = Index(p_to[Index(x_at + min(u, w))])
        total += real[FLOW, u] * value[state, Index(q_to[Index(y_at + max(u, w) - sx)])]
    return total


@inlined_part
def _tree_potentials(x_at, y_at, sx, sy, p_to, q_to, value, tree, real):
    """Compute the potentials of a tree."""
    real[POT, 0] = 0.0
    for k in range(sx + sy - 1):
        u = tree[k, CHILD]
        w = tree[k, PARENT]
        state = Index(p_to[Index(x_at + min(u, w))])
        real[POT, u] = value[state, Index(q_to[Index(y_at + max(u, w) - sx)])] - real[POT, w]


@kernel
def repair(first, last, value, cost, scale, discount, P, Q, pairs, trees, residual, tol, rough):
    """Make trees that are optimal for `value` and other probabilities on the same supports optimal for these rows.

    As `improve`: sets residual = c + γ·OT_value - value for the pairs first..last by number, and returns the least and
    the largest residual, and the number of pivots. Nothing stops. A tree whose flows stay strongly feasible is still
    optimal, so only its flows are computed; the dual simplex repairs the others, or a staircase replaces them. Pairs in
    the mask `rough` are not repaired: they keep the flows that are stored, those for the other probabilities, and the
    residual is that of their potentials, which bound the transport from below.
    """
    p_at, p_to, p_mass = P.indptr, P.indices, P.data
    q_at, q_to, q_mass = Q.indptr, Q.indices, Q.data
    codes, offset, shift = trees.code, trees.offset, trees.shift
    target, weight, used = trees.target, trees.weight, trees.used
    row, number = pairs.row, pairs.number
    width = value.shape[1]
    any_rough = rough.size > 0
    x_first = rows_up_to(row, first) - 1
    x_last = rows_up_to(row, last - 1)
    largest_x, largest_y = longest(p_at, x_first, x_last), longest(q_at, 0, cost.shape[1])
    local = np.empty((largest_x, largest_y))
    tree, real = new_tree(largest_x + largest_y)
    lowest = HUGE_COST
    highest = -HUGE_COST
    n_pivots = 0
    for x in range(x_first, x_last):
        x_at = p_at[x]
        sx = p_at[x + 1] - x_at
        for pair in range(max(first, row[x]), min(last, row[x + 1])):
            y = pair - row[x]
            y_at = q_at[y]
            sy = q_at[y + 1] - y_at
            at = offset[x] + y * (sx - 1) + y_at
            read_mass(x_at, y_at, sx, sy, p_mass, q_mass, real)
            load(codes, shift, at, sx + sy - 1, tree)
            flows(sx, sy, tree, real)
            feasible = _is_strongly_feasible(sx, sy, real)
            if not feasible and any_rough and rough[x, y]:
                _tree_potentials(x_at, y_at, sx, sy, p_to, q_to, value, tree, real)
                transported = dual_cost(x_at, y_at, sx, sy, p_mass, q_mass, real)
            else:
                if not feasible:
                    read_cost(x_at, y_at, sx, sy, p_to, q_to, value, local)
                    repairs = dual(sx, sy, local, tree, real)
                    n_pivots += abs(repairs)
                    if repairs < 0:
                        staircase(sx, sy, tree, real)
                        n_pivots += abs(primal(sx, sy, local, tree, real, tol[sx + sy]))
                used[pair] = store(
                    x_at, y_at, at, sx, sy, p_to, q_to, False, number, width, tree, real, codes, shift, target, weight
                )
                transported = _flow_cost(x_at, y_at, sx, sy, p_to, q_to, value, tree, real)
            change = cost[x, y] * scale + discount * transported - value[x, y]
            residual[pair] = change
            lowest = min(lowest, change)
            highest = max(highest, change)
    return lowest, highest, n_pivots

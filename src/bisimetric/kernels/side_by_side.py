"""Policy iteration for many small problems, one after the other in a single call; the checker likewise.

    improve     π_k(x, y) ∈ argmin { <π, V_k> }                        (n·m transports, warm-started)
    evaluate    V_{k+1} = V_k + d,  (I - γπ_k) d = T V_k - V_k         (one linear system)

Around a problem of a few states the Python code of a solve takes much longer than its arithmetic; here a problem is a
few slices of arrays. Sweeps, linear solves and the checker are those of single problems. A problem ends when a sweep's
own bounds leave a gap within the goal, when FUTILE_STEPS in a row do not halve the gap, or after STEPS_OF_ONE. One that
misses the goal has to be solved alone, with all that `solvers.policy_iteration` does against slow convergence.

References: Howard 1960; O'Connor, McGoff & Nobel 2022; Calo et al. 2024.
"""

from __future__ import annotations

import numpy as np

from bisimetric.kernels import check as checker
from bisimetric.kernels import krylov
from bisimetric.kernels._compile import kernel, part
from bisimetric.kernels.layout import (
    ESTIMATE_ACCURACY,
    EVALUATION_FLOOR,
    FINAL_SPAN,
    FREE_PIVOT,
    IGNORED,
    IN_REACH,
    START_ACCURACY,
    STEP_ACCURACY,
    Cells,
    Pairs,
    Rows,
    Trees,
)
from bisimetric.kernels.transport import sweep

STEPS_OF_ONE = 40  # of one problem
FUTILE_STEPS = 3  # steps in a row that do not halve the gap
MOST_PRODUCTS = 100  # in one evaluation


@part
def _rows(chains, k):
    """The rows of chain number k."""
    states = slice(chains.state_at[k] + k, chains.state_at[k + 1] + k + 1)
    entries = slice(chains.entry_at[k], chains.entry_at[k + 1])
    return Rows(chains.indptr[states], chains.indices[entries], chains.data[entries])


@part
def _all_pairs(n, m):
    """The list of pairs that stands for all of them."""
    row = np.empty(n + 1, np.int64)
    for x in range(n + 1):
        row[x] = x * m
    nothing = np.empty(0, np.int32)
    return Pairs(row, nothing, nothing, nothing)


@part
def _trees(P, Q, codes, shift, used, target, weight):
    """The trees of one problem, all of whose pairs are solved."""
    n, m = len(P.indptr) - 1, len(Q.indptr) - 1
    offset = np.empty(n, np.int64)
    at = 0
    for x in range(n):
        offset[x] = at
        at += m * (P.indptr[x + 1] - P.indptr[x] - 1) + Q.indptr[m]
    return Trees(offset, codes, shift, used, target, weight)


@part
def _stops(problems, k, n, m):
    """Where problem number k stops, [n, m]; empty if no problem does."""
    if problems.stop.size == 0:
        return problems.stop.reshape((0, 0))
    return problems.stop[problems.pair_at[k] : problems.pair_at[k + 1]].reshape((n, m))


@part
def _system(discount, stop, P, Q, pairs, trees, offset, sums):
    """The `krylov.linear_system` of the trees' coupling, or of the independent one if `offset` is empty."""
    return (
        discount, stop, P.indptr, P.indices, P.data, Q.indptr, Q.indices, Q.data, pairs.row, pairs.begin, offset,
        trees.used, trees.target, trees.weight, sums,
    )  # fmt: skip


@part
def _start(system, cost, scale, flat):
    """Write the value of the independent coupling, roughly, or the cost where that fails."""
    scaled = np.empty(flat.size)
    for pair in range(flat.size):
        scaled[pair] = cost[pair] * scale
        flat[pair] = scaled[pair]
    left, _ = krylov.bicgstab(system, scaled, flat, START_ACCURACY, MOST_PRODUCTS)
    if not left <= 1.0:  # the largest cost is in [1, 2)
        for pair in range(flat.size):
            flat[pair] = scaled[pair]


@part
def _evaluate(system, residual, below, above, shift, target, change):
    """Write by how much the trees' coupling changes the value, or the step of value iteration where that fails."""
    for pair in range(change.size):
        change[pair] = residual[pair] + shift
    left, _ = krylov.bicgstab(system, residual, change, target, MOST_PRODUCTS)
    if not left <= max(-below, above):
        for pair in range(change.size):
            change[pair] = residual[pair] + shift


@part
def _evaluation_target(span, allowed, pivots, ended):
    """How large a residual the next evaluation may leave."""
    if ended:
        return ESTIMATE_ACCURACY * span
    final = FINAL_SPAN * allowed
    target = STEP_ACCURACY * span
    return final if pivots == 0 or target < IN_REACH * final else target


@part
def _largest(vector):
    """max |vector|."""
    largest = 0.0
    for k in range(vector.size):
        largest = max(largest, abs(vector[k]))
    return largest


@kernel
def solve(first, last, problems, discount, pivot_tol, goal, shift, code, used, value, estimate, gaps, steps):
    """Solve the problems first..last to relative gaps of `goal`, by the bounds of their sweeps.

    Writes the trees (`code`, `used`), the values that they are optimal for, the values of their couplings, the gap
    after every step [problems, STEPS_OF_ONE] and the number of steps. pivot_tol[K] is the pivot tolerance for K nodes,
    relative to the largest value.
    """
    onward = discount / (1.0 - discount)
    stopping = problems.stop.size > 0
    tol = np.empty(pivot_tol.size)
    for k in range(first, last):
        P, Q = _rows(problems.chains, problems.source[k]), _rows(problems.chains, problems.target[k])
        n, m = len(P.indptr) - 1, len(Q.indptr) - 1
        here = slice(problems.pair_at[k], problems.pair_at[k + 1])
        cells = problems.cell_at[k + 1] - problems.cell_at[k]
        codes = code[problems.cell_at[k] : problems.cell_at[k + 1]]
        flat, costs, stop, scale = value[here], problems.cost[here], _stops(problems, k, n, m), problems.scale[k]
        V, cost = flat.reshape((n, m)), costs.reshape((n, m))
        trees = _trees(P, Q, codes, shift, used[here], np.empty(cells, np.int32), np.empty(cells))
        pairs, residual, change, sums = _all_pairs(n, m), np.empty(n * m), np.empty(n * m), np.empty((n, 2))
        _start(_system(discount, stop, P, Q, pairs, trees, np.empty(0, np.int64), sums), costs, scale, flat)
        system = _system(discount, stop, P, Q, pairs, trees, trees.offset, sums)
        ignored, best, failures, step, ended = 0.0, np.inf, 0, 0, False
        while not ended:
            largest = _largest(flat)
            for nodes in range(tol.size):
                tol[nodes] = max(largest * pivot_tol[nodes], ignored)
            below, above, pivots = sweep.improve_narrow(
                krylov.FIRST, n * m, V, cost, scale, discount, stop, P, Q, pairs, trees, residual, tol, step == 0
            )
            if stopping:  # a stop does not move with the rest
                below, above = min(below, 0.0), max(above, 0.0)
            span, allowed = above - below, goal * largest * (1.0 - discount)
            gap = onward * span
            gaps[k, step] = gap
            step += 1
            failures = 0 if gap < 0.5 * best else failures + 1
            best = min(best, gap)
            ended = gap <= goal * largest or failures == FUTILE_STEPS or step == STEPS_OF_ONE
            target = max(_evaluation_target(span, allowed, pivots, ended), EVALUATION_FLOOR * largest)
            shifted = 0.0 if stopping else 0.5 * onward * (below + above)
            _evaluate(system, residual, below, above, shifted, target, change)
            ignored = max(IGNORED * span, FREE_PIVOT * allowed)
            into = estimate[here] if ended else flat
            for pair in range(n * m):
                into[pair] = flat[pair] + change[pair]
        steps[k] = step


@kernel
def read_trees(first, last, problems, value, code, shift, used, cells):
    """Read couplings and potentials of all pairs of the problems first..last into `cells`, for the checker."""
    for k in range(first, last):
        P, Q = _rows(problems.chains, problems.source[k]), _rows(problems.chains, problems.target[k])
        n, m = len(P.indptr) - 1, len(Q.indptr) - 1
        begin, end = problems.pair_at[k], problems.pair_at[k + 1]
        x_of, y_of, number = np.empty(n * m, np.int64), np.empty(n * m, np.int64), np.empty(n * m, np.int64)
        _states(x_of, y_of, m)
        for pair in range(n * m):
            number[pair] = pair if problems.stop.size == 0 or not problems.stop[begin + pair] else -1
        codes = code[problems.cell_at[k] : problems.cell_at[k + 1]]
        trees = _trees(P, Q, codes, shift, used[begin:end], np.empty(0, np.int32), np.empty(0))
        own = Cells(
            cells.indptr[begin : end + 1], cells.left, cells.right, cells.weight, cells.start[begin : end + 1],
            cells.potential,
        )  # fmt: skip
        sweep.read_trees(
            x_of, y_of, number, np.zeros(n * m, np.bool_), value[begin:end].reshape((n, m)), P, Q, _all_pairs(n, m),
            trees, own,
        )  # fmt: skip


@kernel
def check(first, last, problems, discount, value, cells, upper, lower, reports):
    """The checker on the problems first..last: U ≥ T V ≥ L at all pairs, and the fields of a `Report` for each."""
    for k in range(first, last):
        P, Q = _rows(problems.chains, problems.source[k]), _rows(problems.chains, problems.target[k])
        n, m = len(P.indptr) - 1, len(Q.indptr) - 1
        begin, end = problems.pair_at[k], problems.pair_at[k + 1]
        here = slice(begin, end)
        x_of, y_of = np.empty(n * m, np.int64), np.empty(n * m, np.int64)
        _states(x_of, y_of, m)
        own = Cells(
            cells.indptr[begin : end + 1], cells.left, cells.right, cells.weight, cells.start[begin : end + 1],
            cells.potential,
        )  # fmt: skip
        lowest, highest, marginal_error, potential, terms, invalid = checker.check(
            x_of, y_of, value[here].reshape((n, m)), problems.cost[here].reshape((n, m)), problems.scale[k], discount,
            _stops(problems, k, n, m), P, Q, own, upper[here], lower[here],
        )  # fmt: skip
        reports[k, 0], reports[k, 1], reports[k, 2] = lowest, highest, marginal_error
        reports[k, 3], reports[k, 4], reports[k, 5] = potential, terms, invalid


@part
def _states(x_of, y_of, m):
    """Write the states of all pairs in flat order."""
    for pair in range(x_of.size):
        x_of[pair] = pair // m
        y_of[pair] = pair % m

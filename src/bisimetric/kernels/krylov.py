"""BiCGSTAB for A x = b, A = I - γΠ: one algorithm, over operations that the caller passes in.

    p ← r + β(p - ωv),   v ← A p,   r ← r - αv,   t ← A r,   x ← x + αp + ωr,   r ← r - ωt

The operations are Python functions that share their work between threads, or compiled ones for a solve in a single
call: below about ten thousand pairs the Python calls would cost more than the arithmetic. It stops when the true
residual reaches its target, after `budget` products with A, or after MOST_STARTS restarts.

Reference: van der Vorst 1992.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bisimetric.kernels import evaluation, modes, splitting
from bisimetric.kernels._compile import kernel, part, part_of, summing_part
from bisimetric.kernels.layout import NEVER, NO_FLOWS, NO_ROWS, SLACK, Flows, Rows

MOST_STARTS = 5  # restarts in one solve, at most
SYSTEM_TARGET = 5  # position of the target rows' indptr in a `linear_system`
FIRST: Any = np.int64(0)  # typed: for a plain Python number numba compiles a second version of the steps

_trees = part_of(evaluation.apply_trees)
_independent = part_of(evaluation.apply_independent)
_split = part_of(splitting.apply_split)
_step_begin = part_of(evaluation.step_begin)
_step_direction = part_of(evaluation.step_direction)
_step_half = part_of(evaluation.step_half)
_step_full = part_of(evaluation.step_full)
_sums = part_of(modes.sums)
_means = part_of(modes.means)
_combine = part_of(modes.combine)
_times = part_of(modes.times)
_correct = part_of(modes.correct)


def linear_system(discount, stop, source, target, flows, sums):
    """I - γΠ for the trees' coupling, or the independent one if `flows` has no entries; or a split I - γΠᵀ.

    One type for all, so that one compiled solver serves them. What a system does not need has no entries. `flows` are
    the arrays of `Flows`, NO_FLOWS for the independent coupling. sums[n, 2] is room for partial sums. `split_system`
    makes the third kind, in which `target` has no rows.

    The tuple is flat and without names, since a call from Python takes half a microsecond for every named tuple.
    """
    return (discount, stop, *source, *target, *flows, sums)


def split_system(begin, middle, to, share):
    """The preconditioned system of kernels/splitting.py, as a `linear_system`."""
    flows = (middle, *NO_FLOWS[8][1:5], np.zeros(len(middle)))
    return linear_system(1.0, NEVER, (begin, to, share), NO_ROWS, flows, np.empty((1, 2)))


def bicgstab_over(apply, begin, direction, half, full, name="bicgstab"):
    """Make BiCGSTAB over these operations.

    apply(system, vector, out, other) → <other, out>, <out, out> for out = A·vector;
    begin(system, b, t, r, shadow) → <r, r>, max |r| for r = shadow = b - t;
    full(system, x, p, r, t, shadow, α, ω) → <shadow, r>, max |r|.

    Another norm than max |r| makes another stopping rule.
    """

    def bicgstab(system, b, x, target, budget):
        """Improve x in place until the true residual is at most SLACK·target; returns its largest entry, and products.

        The recursion for the residual drifts away from the true one. So the method computes the true one at the end,
        and restarts from there if it is too large or the method broke down. The residual is infinite if numbers leave
        their range.
        """
        r, shadow = np.empty(b.size), np.empty(b.size)
        p, v, t = np.zeros(b.size), np.zeros(b.size), np.zeros(b.size)
        goal = target
        products = 0
        for start in range(MOST_STARTS + 1):
            apply(system, x, t, b)
            products += 1
            rho, residual = begin(system, b, t, r, shadow)
            if not np.isfinite(rho):
                return np.inf, products
            if residual <= goal or products >= budget or start == MOST_STARTS:
                break
            goal = SLACK * target
            if start > 0:
                p[:] = 0.0
                v[:] = 0.0
            rho_old, alpha, omega = 1.0, 1.0, 1.0
            while products < budget:
                direction(p, r, v, rho / rho_old * (alpha / omega), omega)
                along, _ = apply(system, p, v, shadow)
                alpha = rho / along if along != 0.0 else np.nan
                half(r, v, alpha)
                product, square = apply(system, r, t, r)
                omega = product / square if square > 0.0 else 0.0
                products += 2
                if not np.isfinite(alpha) or not np.isfinite(omega):
                    break
                rho_old = rho
                rho, residual = full(system, x, p, r, t, shadow, alpha, omega)
                if not np.isfinite(rho):  # then an entry of the residual is not finite, which the maximum may not show
                    return np.inf, products
                if residual <= target or omega == 0.0 or rho == 0.0:
                    break
        return residual, products

    bicgstab.__qualname__ = name  # names the file of the compiled function
    return bicgstab


@part
def _apply(system, vector, out, other):
    """For any `linear_system`."""
    discount, stop, p_at, p_to, p_mass, q_at, q_to, q_mass, row, begin, offset, used, target, weight, sums = system
    P, Q = Rows(p_at, p_to, p_mass), Rows(q_at, q_to, q_mass)
    if offset.size > 0:
        flows = Flows(row, begin, offset, used, target, weight)
        _trees(FIRST, len(sums), vector, out, other, discount, P, Q, flows, flows, sums)
    elif q_at.size == 0:
        return _split(p_at, row, p_to, p_mass, vector, out, other, weight)
    else:
        _independent(FIRST, len(sums), vector, out, other, discount, stop, P, Q, sums)
    return _total(sums)


@part
def _apply_preconditioned(system, vector, out, other):
    """out = A M⁻¹ vector."""
    tree_system, scaled, inverse_x, inverse_y, coarse, quickness, layout, work, sums = system
    discount, P, Q, (row, begin, offset, used, target, weight) = tree_system
    flows = Flows(row, begin, offset, used, target, weight)
    by_row, by_cluster, mean_x, mean_y, block, added = work
    m = len(mean_y)
    _sums(FIRST, len(by_cluster), vector, layout, m, by_row, by_cluster)
    mean = _means(layout, by_row, by_cluster, mean_x, mean_y, block)
    added_x = _product(inverse_x, mean_x)
    added_x += mean * discount / (1.0 - discount)
    among_blocks = _product(coarse, block.reshape(block.size)).reshape(block.shape)
    _combine(layout, among_blocks, _product(inverse_y, mean_y), added)
    _correct(FIRST, len(by_row), vector, scaled, layout, m, mean, mean_x, mean_y, added_x, added, quickness)
    _trees(FIRST, len(sums), scaled, out, other, discount, P, Q, flows, flows, sums)
    return _total(sums)


@part
def _product(matrix, vector):
    """matrix·vector."""
    out = np.empty(len(matrix))
    _times(matrix, vector, out)
    return out


@part
def _total(sums):
    """Add up the sums of all rows, in their order."""
    product = 0.0
    square = 0.0
    for x in range(len(sums)):
        product += sums[x, 0]
        square += sums[x, 1]
    return product, square


@part
def _direction(p, r, v, beta, omega):
    _step_direction(FIRST, p.size, p, r, v, beta, omega)


@part
def _half(r, v, alpha):
    _step_half(FIRST, r.size, r, v, alpha)


@part
def _begin(system, b, t, r, shadow):
    sums = system[-1][:1]
    _step_begin(FIRST, len(sums), b, t, r, shadow, sums)
    return sums[0, 0], sums[0, 1]


@part
def _full(system, x, p, r, t, shadow, alpha, omega):
    sums = system[-1][:1]
    _step_full(FIRST, len(sums), x, p, r, t, shadow, alpha, omega, sums)
    return sums[0, 0], sums[0, 1]


@part
def _begin_of_system(system, b, t, r, shadow):
    """The same for a `linear_system`: with Σ |r|, not max |r|, for split ones, which are of occupancies."""
    product, residual = _begin(system, b, t, r, shadow)
    if system[SYSTEM_TARGET].size == 0:
        residual = _total_size(r)
    return product, residual


@part
def _full_of_system(system, x, p, r, t, shadow, alpha, omega):
    """The same at the end of a step."""
    product, residual = _full(system, x, p, r, t, shadow, alpha, omega)
    if system[SYSTEM_TARGET].size == 0:
        residual = _total_size(r)
    return product, residual


@summing_part
def _total_size(vector):
    """Σ |vector|."""
    total = 0.0
    for k in range(vector.size):
        total += abs(vector[k])
    return total


bicgstab = kernel(bicgstab_over(_apply, _begin_of_system, _direction, _half, _full_of_system, "bicgstab"))
preconditioned = kernel(bicgstab_over(_apply_preconditioned, _begin, _direction, _half, _full, "preconditioned"))

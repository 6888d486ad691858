"""Distances in rational numbers: policy iteration over listed vertices, without any rounding.

All vertices of every transport polytope are listed, policies are evaluated by fraction-free elimination, and the
iteration ends when no vertex is better.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import lcm
from types import SimpleNamespace

import numpy as np
from scipy import sparse

GRAINS = 2**52  # stored probabilities are multiples of 1 / GRAINS
Marginal = tuple[tuple[int, int], ...]  # (state, grains) with positive grains
Plan = dict[tuple[int, int], int]  # grains on a cell


def exact_distances(problem, cost=None):
    """V* as a nested list of Fractions, for the stored rows and cost, or that given, and the exact value of γ."""
    n, m = problem.shape
    P, Q = marginals(problem.source.transitions), marginals(problem.target.transitions)
    stop = np.zeros((n, m), bool) if problem.stop is None else problem.stop
    pairs = [(x, y) for x in range(n) for y in range(m)]
    choices = [[] if stop[x, y] else vertices(P[x], Q[y]) for x, y in pairs]
    cost = [Fraction(float(problem.cost[x, y])) if cost is None else cost[x][y] for x, y in pairs]
    gamma = Fraction(problem.discount)
    policy = [options[0] if options else {} for options in choices]
    while True:
        value = evaluate_exactly(policy, cost, gamma, m)
        whole = _on_one_denominator(value)
        after = [_first_best(now, options, whole, m) for now, options in zip(policy, choices, strict=True)]
        if after == policy:
            return [value[x * m : (x + 1) * m] for x in range(n)]
        policy = after


def exact_bisimilarity_distances(source, target, bisimilar):
    """1 where labels differ, 0 at the bisimilar pairs given, else OT of the successors; without a discount."""
    differ = np.array([[float(a != b) for b in target.labels] for a in source.labels])
    stop = (differ > 0) | bisimilar
    question = SimpleNamespace(
        shape=differ.shape, source=source, target=target, cost=differ, stop=stop, discount=Fraction(1)
    )
    return np.array(exact_distances(question))


def exact_gaps(problem):
    """|r - r'| for every pair, times 1 - γ if the problem is normalised, as Fractions."""
    factor = 1 - Fraction(problem.discount) if problem.normalised else Fraction(1)
    rewards = [[Fraction(float(r)) for r in chain.reward] for chain in (problem.source, problem.target)]
    return [[factor * abs(r - other) for other in rewards[1]] for r in rewards[0]]


def exact_rewards(rows, reward, discount):
    """v = r + γ P v as Fractions; rows are lists of (state, grains)."""
    plans = [{(0, state): grains for state, grains in row} for row in rows]
    return evaluate_exactly(plans, [Fraction(float(r)) for r in reward], Fraction(discount), len(rows))


def exact_transport(p, q, value):
    """min <π, value> over the couplings of two stored laws, as a Fraction."""
    (left,), (right,) = marginals(sparse.csr_array([p])), marginals(sparse.csr_array([q]))
    return min(
        sum((Fraction(grains, GRAINS) * value[i][j] for (i, j), grains in plan.items()), Fraction(0))
        for plan in vertices(left, right)
    )


def marginals(matrix) -> list[Marginal]:
    """The rows of a matrix of exact probabilities, in grains."""
    rows = []
    for x in range(matrix.shape[0]):
        inside = slice(matrix.indptr[x], matrix.indptr[x + 1])
        entries = zip(matrix.indices[inside], matrix.data[inside], strict=True)
        row = tuple((int(state), Fraction(float(p)) * GRAINS) for state, p in entries if p > 0)
        assert all(grains.denominator == 1 for _, grains in row)
        assert sum(grains for _, grains in row) == GRAINS
        rows.append(tuple((state, int(grains)) for state, grains in row))
    return rows


@lru_cache(maxsize=4096)
def vertices(p: Marginal, q: Marginal) -> list[Plan]:
    """All vertices of the transport polytope of two marginals.

    The support of a vertex is a forest. Taking off one leaf after the other shows that filling some sequence of cells
    as far as possible gives it, and every such sequence gives a vertex.
    """
    found: set[tuple[tuple[tuple[int, int], int], ...]] = set()
    seen = set()
    open_ends = [(p, q, frozenset())]
    while open_ends:
        left, right, cells = open_ends.pop()
        if cells in seen:
            continue
        seen.add(cells)
        if not left:
            found.add(tuple(sorted(cells)))
            continue
        for i, have in left:
            for j, want in right:
                moved = min(have, want)
                open_ends.append((_less(left, i, moved), _less(right, j, moved), cells | {((i, j), moved)}))
    return [dict(cells) for cells in sorted(found)]


def _less(marginal: Marginal, state: int, moved: int) -> Marginal:
    return tuple((k, grains - moved * (k == state)) for k, grains in marginal if k != state or grains > moved)


def _first_best(now: Plan, options: list[Plan], value: list[int], m: int) -> Plan:
    """The best option; the present one unless another is strictly better."""

    def price(plan: Plan) -> int:
        return sum(grains * value[i * m + j] for (i, j), grains in plan.items())

    best = min(options, key=price, default=now)
    return best if options and price(best) < price(now) else now


def evaluate_exactly(policy: list[Plan], cost: list[Fraction], gamma: Fraction, m: int) -> list[Fraction]:
    """(I - γΠ) V = c, in whole numbers."""
    size = len(cost)
    unit = gamma.denominator * GRAINS
    matrix = [[unit * (row == column) for column in range(size)] for row in range(size)]
    for row, plan in enumerate(policy):
        for (i, j), grains in plan.items():
            matrix[row][i * m + j] -= gamma.numerator * grains
    return [unit * v for v in solve_exactly(matrix, cost)]


def solve_exactly(matrix: list[list[int]], right: list[Fraction]) -> list[Fraction]:
    """Gaussian elimination without fractions (Bareiss 1968); pivots of a diagonally dominant matrix are not zero."""
    size = len(right)
    common = lcm(*(b.denominator for b in right))
    rows = [[*row, int(b * common)] for row, b in zip(matrix, right, strict=True)]
    before = 1
    for k in range(size):
        for i in range(k + 1, size):
            for j in range(k + 1, size + 1):
                rows[i][j] = (rows[i][j] * rows[k][k] - rows[i][k] * rows[k][j]) // before
        before = rows[k][k]
    found: list[Fraction] = [Fraction(0)] * size
    for k in reversed(range(size)):
        rest = rows[k][size] - sum(rows[k][j] * found[j] for j in range(k + 1, size))
        found[k] = Fraction(rest) / rows[k][k]
    return [v / common for v in found]


def _on_one_denominator(value: list[Fraction]) -> list[int]:
    common = lcm(*(v.denominator for v in value))
    return [v.numerator * (common // v.denominator) for v in value]

"""Naive oracles that share nothing with the library, for problems of a few states.

Two ways to the fixed point of

    V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] },        V = c where the game stops:

`distances` is policy iteration in floats with transports by scipy's linprog (HiGHS), on costs shifted and scaled to
[0, 1] because HiGHS' tolerances are absolute. `exact_distances` is policy iteration in rational numbers: all vertices
of every transport polytope are listed, policies are evaluated by fraction-free elimination, and the iteration ends when
no vertex is better. Its answer is the true distance, without any rounding.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import lcm

import numpy as np
from scipy import optimize, sparse

GRAINS = 2**52  # stored probabilities are multiples of 1 / GRAINS
Marginal = tuple[tuple[int, int], ...]  # (state, grains) with positive grains
Plan = dict[tuple[int, int], int]  # grains on a cell

# ------------------------------------------------------------------ floats, by linear programs


def distances(problem, *, rounds=1000):
    """V* by policy iteration; trustworthy to about 1e-10 when no probability is tiny and γ ≤ 0.99 or so."""
    P, Q, _, stop = _dense(problem)
    plans = np.einsum("xi,yj->xyij", P, Q)
    best = evaluate(problem, plans)
    for _ in range(rounds):
        candidates = transports(P, Q, best)
        gain = ((plans - candidates) * best).sum(axis=(2, 3))
        switch = (gain > 1e-13 * np.ptp(best)) & ~stop
        plans = np.where(switch[:, :, None, None], candidates, plans)
        value = evaluate(problem, plans)
        if not switch.any() or np.abs(value - best).max() <= 1e-14 * best.max():
            return value
        best = value
    raise AssertionError("policy iteration did not end")


def evaluate(problem, plans):
    """The value of the coupling plans[x, y, i, j]: V = c + γΠV, by one dense solve."""
    _, _, cost, stop = _dense(problem)
    size = cost.size
    moves = np.where(stop.ravel()[:, None], 0.0, plans.reshape(size, size))
    largest = cost.max() or 1.0
    value = np.linalg.solve(np.eye(size) - problem.discount * moves, cost.ravel() / largest)
    return value.reshape(cost.shape) * largest


def bellman(problem, value):
    """T V: one application of the operator, transports by linear programs."""
    P, Q, cost, stop = _dense(problem)
    transported = (transports(P, Q, value) * value).sum(axis=(2, 3))
    return np.where(stop, cost, cost + problem.discount * transported)


def transports(P, Q, value):
    """An optimal plan for every pair of rows, [n, m, n, m]: all the linear programs as one block-diagonal program."""
    n, m = value.shape
    span = np.ptp(value)
    if span == 0.0:
        return np.einsum("xi,yj->xyij", P, Q)
    cost = (value - value.min()) / span
    rows = sparse.kron(sparse.eye(n), np.ones((1, m)))
    columns = sparse.kron(np.ones((1, n)), sparse.eye(m))
    constraints = sparse.kron(sparse.eye(n * m), sparse.vstack([rows, columns]), format="csr")
    marginals = np.array([np.concatenate([P[x], Q[y]]) for x in range(n) for y in range(m)])
    result = optimize.linprog(
        np.tile(cost.ravel(), n * m),
        A_eq=constraints,
        b_eq=marginals.ravel(),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    plans = result.x.reshape(n, m, n, m)
    np.testing.assert_allclose(plans.sum(axis=3), np.broadcast_to(P[:, None], (n, m, n)), atol=1e-9)
    np.testing.assert_allclose(plans.sum(axis=2), np.broadcast_to(Q[None], (n, m, m)), atol=1e-9)
    return _repaired(plans, P[:, None], Q[None])


def _repaired(plans, rows, columns):
    """Plans with these marginals (Altschuler, Weed & Rigollet 2017): cut what is too much, spread what is missing."""
    plans = np.maximum(plans, 0.0)
    plans = plans * np.minimum(1.0, _ratio(rows, plans.sum(axis=3)))[..., :, None]
    plans = plans * np.minimum(1.0, _ratio(columns, plans.sum(axis=2)))[..., None, :]
    short, wide = rows - plans.sum(axis=3), columns - plans.sum(axis=2)
    return plans + short[..., :, None] * _ratio(wide, wide.sum(axis=-1, keepdims=True))[..., None, :]


def _ratio(above, below):
    below = np.broadcast_to(below, np.broadcast_shapes(np.shape(above), np.shape(below)))
    return np.divide(above, below, out=np.zeros(below.shape), where=below > 0)


def transport(p, q, value):
    """min <π, value> over the couplings of p and q."""
    p, q, value = np.asarray(p), np.asarray(q), np.asarray(value)
    low, span = value.min(), np.ptp(value)
    if span == 0.0:
        return float(low)
    n, m = value.shape
    rows = sparse.kron(sparse.eye(n), np.ones((1, m)))
    columns = sparse.kron(np.ones((1, n)), sparse.eye(m))
    result = optimize.linprog(
        ((value - low) / span).ravel(),
        A_eq=sparse.vstack([rows, columns], format="csr"),
        b_eq=np.concatenate([p, q]),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert result.status == 0, result.message
    assert abs(result.x.sum() - 1.0) < 1e-9
    return float(low + span * result.fun)


def _dense(problem):
    stop = np.zeros(problem.shape, bool) if problem.stop is None else problem.stop
    return problem.source.transitions.toarray(), problem.target.transitions.toarray(), problem.cost, stop


# ------------------------------------------------------------------ games between decision processes


def game_distances(source, target, discount, *, matched=False):
    """The metric of decision processes by plain value iteration; every transport is a minimum over listed vertices.

    d(s, t) = max_a D(s, a, t, a), or max(max_a min_b D, max_b min_a D) over the available actions if `matched`.
    """
    n, m = source.n_states, target.n_states
    mine, theirs = ([marginals(rows) for rows in mdp.transitions] for mdp in (source, target))
    moves = [
        (s, a, t, b)
        for s, a in np.argwhere(source.available).tolist()
        for t, b in np.argwhere(target.available).tolist()
        if matched or a == b
    ]
    plans, first = [], [0]
    for s, a, t, b in moves:
        for plan in vertices(mine[a][s], theirs[b][t]):
            dense = np.zeros((n, m))
            for pair, grains in plan.items():
                dense[pair] = grains / GRAINS
            plans.append(dense.ravel())
        first.append(len(plans))
    plans = np.array(plans)
    cost = np.array([(1 - discount) * abs(source.rewards[s, a] - target.rewards[t, b]) for s, a, t, b in moves])
    value = np.zeros(n * m)
    while True:
        moved = cost + discount * np.minimum.reduceat(plans @ value, first[:-1])
        after = _outcome(moves, moved, n, m, matched)
        change = np.abs(after - value).max()
        value = after
        if change <= 1e-14 * (1 - discount) * value.max() or change <= 1e-15 * value.max():
            return value.reshape(n, m)


def _outcome(moves, moved, n, m, matched):
    worst = np.zeros(n * m)
    if not matched:
        np.maximum.at(worst, [s * m + t for s, _, t, _ in moves], moved)
        return worst
    answers: dict[tuple[int, ...], float] = {}
    for (s, a, t, b), d in zip(moves, moved, strict=True):
        for leader in ((s, t, 0, a), (s, t, 1, b)):
            answers[leader] = min(answers.get(leader, np.inf), d)
    for (s, t, *_), d in answers.items():
        worst[s * m + t] = max(worst[s * m + t], d)
    return worst


def optimal_values(mdp, discount):
    """V* of a decision process by trying every deterministic policy: for a few states and actions."""
    best = np.full(mdp.n_states, -np.inf)
    options = [np.flatnonzero(row) for row in mdp.available]
    for policy in product(*options):
        rows = np.array([mdp.transitions[a].toarray()[s] for s, a in enumerate(policy)])
        reward = mdp.rewards[np.arange(mdp.n_states), policy]
        best = np.maximum(best, np.linalg.solve(np.eye(mdp.n_states) - discount * rows, reward))
    return best


# ------------------------------------------------------------------ rationals


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
        value = _evaluate_exactly(policy, cost, gamma, m)
        whole = _on_one_denominator(value)
        after = [_first_best(now, options, whole, m) for now, options in zip(policy, choices, strict=True)]
        if after == policy:
            return [value[x * m : (x + 1) * m] for x in range(n)]
        policy = after


def exact_gaps(problem):
    """|r - r'| for every pair, times 1 - γ if the problem is normalised, as Fractions."""
    factor = 1 - Fraction(problem.discount) if problem.normalised else Fraction(1)
    rewards = [[Fraction(float(r)) for r in chain.reward] for chain in (problem.source, problem.target)]
    return [[factor * abs(r - other) for other in rewards[1]] for r in rewards[0]]


def exact_rewards(rows, reward, discount):
    """v = r + γ P v as Fractions; rows are lists of (state, grains)."""
    plans = [{(0, state): grains for state, grains in row} for row in rows]
    return _evaluate_exactly(plans, [Fraction(float(r)) for r in reward], Fraction(discount), len(rows))


def exact_optimal_rewards(mdp, discount):
    """V* of a decision process as Fractions: every deterministic policy is tried."""
    rows = [marginals(matrix) for matrix in mdp.transitions]
    earned = [
        exact_rewards([rows[a][s] for s, a in enumerate(policy)], mdp.rewards[np.arange(len(policy)), policy], discount)
        for policy in product(*(np.flatnonzero(here) for here in mdp.available))
    ]
    return [max(column) for column in zip(*earned, strict=True)]


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


def _evaluate_exactly(policy: list[Plan], cost: list[Fraction], gamma: Fraction, m: int) -> list[Fraction]:
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


def exact_game_distances(source, target, discount, *, matched=False):
    """The metric of decision processes as Fractions: Hoffman-Karp iteration over listed vertices, without rounding.

    At every pair the maximising player has a list of moves, and the other one a list of replies (cost, plan) to each.
    """
    n, m = source.n_states, target.n_states
    gamma = Fraction(discount)
    games = [_replies(source, target, discount, s, t, matched) for s in range(n) for t in range(m)]
    reply = [[0] * len(moves) for moves in games]
    move = [0] * (n * m)
    value: list[Fraction] = []

    def price(option):
        cost, plan = option
        return cost + gamma * sum((Fraction(g, GRAINS) * value[i * m + j] for (i, j), g in plan.items()), Fraction(0))

    settled = False
    while not settled:
        better = True
        while better:  # the maximising player's best, against the replies that are held
            held = [moves[k][reply[p][k]] for p, (moves, k) in enumerate(zip(games, move, strict=True))]
            value = _evaluate_exactly([plan for _, plan in held], [cost for cost, _ in held], gamma, m)
            better = False
            for p, moves in enumerate(games):
                worth = [price(moves[k][reply[p][k]]) for k in range(len(moves))]
                if max(worth) > worth[move[p]]:
                    move[p], better = worth.index(max(worth)), True
        settled = True
        for p, moves in enumerate(games):
            for k, options in enumerate(moves):
                worth = [price(option) for option in options]
                if min(worth) < worth[reply[p][k]]:
                    reply[p][k], settled = worth.index(min(worth)), False
    return [value[s * m : (s + 1) * m] for s in range(n)]


def _replies(source, target, discount, s, t, matched):
    """For every move at a pair of states, all replies: what they cost at once, and a vertex of the transport."""

    def options(a, b):
        gap = abs(Fraction(float(source.rewards[s, a])) - Fraction(float(target.rewards[t, b])))
        cost = (1 - Fraction(discount)) * gap
        rows = marginals(source.transitions[a])[s], marginals(target.transitions[b])[t]
        return [(cost, plan) for plan in vertices(*rows)]

    mine, theirs = np.flatnonzero(source.available[s]), np.flatnonzero(target.available[t])
    if not matched:
        return [options(a, a) for a in mine]
    led_by_source = [[option for b in theirs for option in options(a, b)] for a in mine]
    led_by_target = [[option for a in mine for option in options(a, b)] for b in theirs]
    return led_by_source + led_by_target


# ------------------------------------------------------------------ bisimilarity


def bisimilarity(matrix, groups):
    """The coarsest stable partition that refines `groups`, numbered by first states: exact sums, until nothing changes.

    `matrix` is [n, n], or [n, actions, n] for several rows per state.
    """
    rows = np.asarray(matrix)
    rows = rows[:, None, :] if rows.ndim == 2 else rows
    classes = _by_first(list(groups))
    while True:
        signatures = [
            (classes[s], *(tuple(_sums(row, classes)) for row in rows[s]))  # hashable: Fractions
            for s in range(len(rows))
        ]
        after = _by_first(signatures)
        if after == classes:
            return classes
        classes = after


def _sums(row, classes):
    total = [Fraction(0)] * (max(classes) + 1)
    for state, p in enumerate(row):
        total[classes[state]] += Fraction(float(p))
    return total


def _by_first(keys):
    number: dict[object, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]


# ------------------------------------------------------------------ Sinkhorn value iteration, plainly


def sinkhorn_rounds(problem, steps, *, inner_steps=1):
    """Algorithm 1 of Calo et al. 2024 in the log domain, all of π_k stored, in extended precision.

    Yields (log π_{k+1}, E_k, the largest exponent so far) for each step size; log π is -inf off the supports, E_k is
    the expectation of the value V_k over the successors on the projected side. One code for both sides: the target's
    round is the source's round of the transposed problem.
    """
    P, Q, cost, _ = (np.asarray(part, np.longdouble) for part in _dense(problem))
    gamma = np.longdouble(problem.discount)
    n, m = cost.shape
    with np.errstate(divide="ignore"):
        log = np.log(P)[:, None, :, None] + np.log(Q)[None, :, None, :]
    values = [np.zeros((n, m, n), np.longdouble), np.zeros((m, n, m), np.longdouble)]
    largest = np.zeros((n, m), np.longdouble)
    for k, step in enumerate(steps):
        eta, side = np.longdouble(step), k % 2
        rows, here, there = (P, cost, log) if side == 0 else (Q, cost.T, log.transpose(1, 0, 3, 2))
        value = values[side]
        for _ in range(inner_steps):
            value = _bellman_sinkhorn(there, rows, here, gamma, eta, value)
        values[side] = value
        expected = np.einsum("xi,xyi->xy", rows, value)
        moved = there - eta * gamma * expected
        with np.errstate(divide="ignore", invalid="ignore"):
            there = moved - _log_sum(moved)[..., None] + np.log(rows)[:, None, :, None]
        there = np.where(np.isnan(there), -np.inf, there)
        log = there if side == 0 else there.transpose(1, 0, 3, 2)
        expected = expected if side == 0 else expected.T
        largest = largest + eta * gamma * np.abs(expected)
        yield log, expected, float(largest.max())


def _bellman_sinkhorn(log, rows, cost, gamma, eta, value):
    expected = np.einsum("xi,xyi->xy", rows, value)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = cost[:, :, None] - (_log_sum(log - eta * gamma * expected) - np.log(rows)[:, None, :]) / eta
    return np.where(rows[:, None, :] > 0, found, 0)


def _log_sum(log):
    """log Σ exp over the last axis."""
    top = log.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(log - top).sum(axis=-1)) + top[..., 0]

"""Decision processes: their metrics, which are games, and their optimal values, in floats and in rational numbers."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

from tests.reference.rationals import GRAINS, evaluate_exactly, exact_rewards, marginals, vertices


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


def exact_optimal_rewards(mdp, discount):
    """V* of a decision process as Fractions: every deterministic policy is tried."""
    rows = [marginals(matrix) for matrix in mdp.transitions]
    earned = [
        exact_rewards([rows[a][s] for s, a in enumerate(policy)], mdp.rewards[np.arange(len(policy)), policy], discount)
        for policy in product(*(np.flatnonzero(here) for here in mdp.available))
    ]
    return [max(column) for column in zip(*earned, strict=True)]


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
        while better:  # find the maximising player's best moves against fixed replies
            held = [moves[k][reply[p][k]] for p, (moves, k) in enumerate(zip(games, move, strict=True))]
            value = evaluate_exactly([plan for _, plan in held], [cost for cost, _ in held], gamma, m)
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
    """For every move at a pair of states, all replies: the immediate cost, and a vertex of the transport."""

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

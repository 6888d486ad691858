"""True metrics of decision processes, and their optimal rewards, in whole numbers; see `oracles`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tests.campaign.oracles import GRAINS, Costs, Moves, Ratio, Row, Transport, linear_values, rows_of, whole


class _Reply(NamedTuple):
    """An answer to a move: its immediate cost, and the successors of the pair."""

    cost: int
    moves: Moves


def rows_of_actions(mdp) -> list[list[Row]]:
    """[action][state]."""
    return [rows_of(matrix) for matrix in mdp.transitions]


def game_distances(source, target, gamma: float, *, matched: bool = False) -> list[Ratio]:
    """d(s, t), flat: the worst move against the best reply, by Hoffman-Karp iteration.

    At every pair one player has a list of moves and the other a list of replies to each, with a transport for every
    reply. Replies are held while the first player's best moves are found; then they are improved.
    """
    n, m = source.n_states, target.n_states
    costs = whole([*source.rewards.ravel(), *target.rewards.ravel()])
    mine = np.array(costs.above[: n * source.n_actions], object).reshape(n, -1)
    theirs = np.array(costs.above[n * source.n_actions :], object).reshape(m, -1)
    g, unit = gamma.as_integer_ratio()
    P, Q = rows_of_actions(source), rows_of_actions(target)
    games: list[list[list[tuple[int, Transport]]]] = []
    for s in range(n):
        for t in range(m):
            here, there = np.flatnonzero(source.available[s]).tolist(), np.flatnonzero(target.available[t]).tolist()
            option = {
                (a, b): ((unit - g) * abs(mine[s, a] - theirs[t, b]), Transport(P[a][s], Q[b][t]))
                for a in here
                for b in there
                if matched or a == b
            }
            if matched:
                led = [[option[a, b] for b in there] for a in here] + [[option[a, b] for a in here] for b in there]
            else:
                led = [[option[a, a]] for a in here]
            games.append(led)
    return _solve(games, Costs([], costs.below * unit), gamma, m)


def _solve(games: list[list[list[tuple[int, Transport]]]], scale: Costs, gamma: float, m: int) -> list[Ratio]:
    held = [[_Reply(options[0][0], options[0][1].moves(m)) for options in led] for led in games]
    choice = [0] * len(games)
    while True:
        found = _best_moves(held, choice, scale, gamma)
        value, below = _on_one(found)
        settled = True
        for led, replies in zip(games, held, strict=True):
            for k, options in enumerate(led):
                worth = _worth(replies[k], value, below, scale, gamma)
                for cost, transport in options:
                    transport.improve(value, m)
                    reply = _Reply(cost, transport.moves(m))
                    better = _worth(reply, value, below, scale, gamma)
                    if better < worth:
                        replies[k], worth, settled = reply, better, False
        if settled:
            return found


def _best_moves(held: list[list[_Reply]], choice: list[int], scale: Costs, gamma: float) -> list[Ratio]:
    """Policy iteration of the player who moves, while replies are held; `choice` is changed in place."""
    while True:
        now = [replies[k] for replies, k in zip(held, choice, strict=True)]
        found = linear_values([reply.moves for reply in now], Costs([reply.cost for reply in now], scale.below), gamma)
        value, below = _on_one(found)
        settled = True
        for p, replies in enumerate(held):
            worth = [_worth(reply, value, below, scale, gamma) for reply in replies]
            if max(worth) > worth[choice[p]]:
                choice[p], settled = worth.index(max(worth)), False
        if settled:
            return found


def _on_one(found: list[Ratio]) -> tuple[list[int], int]:
    below = 1
    for ratio in found:
        if below % ratio.below:
            below *= ratio.below
    return [ratio.above * (below // ratio.below) for ratio in found], below


def _worth(reply: _Reply, value: list[int], below: int, scale: Costs, gamma: float) -> int:
    """c + γ<π, V>, times a number that is the same for all replies."""
    g, unit = gamma.as_integer_ratio()
    future = sum(mass * value[to] for to, mass in reply.moves)
    return reply.cost * below * unit * GRAINS + g * future * scale.below


def chain_values(rows: list[Row], reward, gamma: float) -> list[Ratio]:
    """v = r + γPv."""
    return linear_values(rows, whole(reward), gamma)


def policy_values(mdp, policy, gamma: float) -> list[Ratio]:
    """The rewards of a deterministic policy."""
    rows = rows_of_actions(mdp)
    return chain_values([rows[a][s] for s, a in enumerate(policy)], mdp.rewards[np.arange(len(policy)), policy], gamma)


def optimal_values(mdp, gamma: float) -> list[Ratio]:
    """The optimal rewards: the moving player's part of a game without replies."""
    rows, rewards = rows_of_actions(mdp), whole(mdp.rewards.ravel())
    held = [
        [_Reply(rewards.above[s * mdp.n_actions + a], rows[a][s]) for a in np.flatnonzero(mdp.available[s])]
        for s in range(mdp.n_states)
    ]
    return _best_moves(held, [0] * mdp.n_states, Costs([], rewards.below), gamma)

"""Policy iteration for games, with its parts made to fail."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.linear import krylov, ladder
from bisimetric.operators.game import GameBellman
from bisimetric.problems.game import Game
from bisimetric.solvers import GameIteration
from tests import reference

MDP = bm.environments.four_rooms_mdp(side=4, slip=0.1)


@pytest.mark.parametrize("actions", ["same", "matched"])
def test_solves_without_its_linear_solver(monkeypatch, actions):
    """Where linear systems are not solved at all, value iteration on fixed couplings does it."""
    truth = bm.bisimulation_metric(MDP, discount=0.9, actions=actions)

    def useless(self, first, matrix, apply, b, discount, target):
        return krylov.Solved(b, np.inf, 1)

    monkeypatch.setattr(ladder.Ladder, "solve", useless)
    slow = bm.bisimulation_metric(MDP, discount=0.9, actions=actions)
    assert slow.status is bm.Status.SOLVED
    assert (slow.lower <= truth.upper).all()
    assert (truth.lower <= slow.upper).all()


@pytest.mark.parametrize("actions", ["same", "matched"])
def test_steps_settle(actions):
    """From any guess; values of the minimising player's policies are never below the distances."""
    bellman, solver = GameBellman.of(Game(MDP, MDP, discount=0.9, actions=actions)), GameIteration()
    truth = bm.bisimulation_metric(MDP, discount=0.9, actions=actions)
    iterate = solver.init(bellman, np.full(bellman.shape, bellman.largest_value()))
    for _ in range(60):
        after = solver.step(bellman, iterate)
        if after is iterate:
            break
        iterate = after
    assert solver.step(bellman, iterate) is iterate
    np.testing.assert_allclose(iterate.estimate() / bellman.scale, truth.value, atol=1e-12)


@pytest.mark.parametrize("actions", ["same", "matched"])
def test_decisions_on_cycles(actions):
    """Forwards or backwards: evaluations take many policies, and are not cut off in the middle."""
    processes = []
    for n in (13, 30):
        forwards = np.roll(np.eye(n), 1, axis=1)
        processes.append(bm.MDP([forwards, forwards.T], np.random.default_rng(n).random((n, 2))))
    solution = bm.bisimulation_metric(*processes, discount=0.999, actions=actions)
    assert solution.status is bm.Status.SOLVED
    assert len(solution.history) < 40


@pytest.mark.parametrize("discount", [0.999, 0.99999])
def test_periodic_processes(discount):
    """Two cycles in which nothing is to be decided: the metric of the chains, in a few steps."""
    cycles = [np.roll(np.eye(n), 1, axis=1) for n in (13, 30)]
    rewards = [np.arange(n) == 0 for n in (13, 30)]
    game = bm.bisimulation_metric(
        *(bm.MDP([rows], reward[:, None]) for rows, reward in zip(cycles, rewards, strict=True)), discount=discount
    )
    chains = bm.bisimulation_metric(
        *(bm.MarkovChain(rows, reward=reward) for rows, reward in zip(cycles, rewards, strict=True)), discount=discount
    )
    assert game.status is bm.Status.SOLVED
    assert len(game.history) < 20
    np.testing.assert_allclose(game.value, chains.value, rtol=1e-8)


# Two states, two deterministic actions: action 0 leads to state 1, action 1 stays.
GREEDY_CYCLE = bm.MDP([[[0, 1], [0, 1]], [[1, 0], [0, 1]]], [[3, 2], [1, 2]])


def greedy_rounds(mdp, discount, rounds):
    """Both players switch at once, for deterministic moves: what is chosen in every round."""
    n = mdp.n_states
    to = np.array([matrix.toarray().argmax(axis=1) for matrix in mdp.transitions]).T  # [n, A]
    value, seen = np.zeros((n, n)), []
    for _ in range(rounds):
        system, cost, chosen = np.eye(n * n), np.zeros(n * n), []
        for s, t in product(range(n), range(n)):
            gap = (1 - discount) * np.abs(np.subtract.outer(mdp.rewards[s], mdp.rewards[t]))
            D = gap + discount * value[np.ix_(to[s], to[t])]
            a, b = D.min(axis=1).argmax(), D.min(axis=0).argmax()
            pair = (a, D[a].argmin()) if D[a].min() >= D[:, b].min() else (D[:, b].argmin(), b)
            chosen.append(tuple(int(k) for k in pair))
            cost[s * n + t] = gap[pair]
            system[s * n + t, to[s, pair[0]] * n + to[t, pair[1]]] -= discount
        value = np.linalg.solve(system, cost).reshape(n, n)
        seen.append(tuple(chosen))
    return seen


def test_switching_both_players_at_once_can_cycle():
    """It does on this game, and the solver does not."""
    seen = greedy_rounds(GREEDY_CYCLE, 0.95, 100)
    assert seen[-1] != seen[-2]
    assert seen[-1] in seen[:-1]
    solution = bm.bisimulation_metric(GREEDY_CYCLE, discount=0.95, actions="matched")
    truth = reference.game_distances(GREEDY_CYCLE, GREEDY_CYCLE, 0.95, matched=True)
    assert solution.status is bm.Status.SOLVED
    np.testing.assert_allclose(solution.value, truth, rtol=0, atol=1e-9 * truth.max())
    assert len(solution.history) < 20


def test_evaluations_must_be_good_enough():
    """A game on which the players cycled while evaluations and failures were measured against the step before."""
    transitions = [[[0, 1], [3 / 4, 1 / 4]], [[1, 0], [0, 1]], [[2 / 3, 1 / 3], [1, 0]]]
    mdp = bm.MDP(transitions, [[0.24, 0.97, 0.62], [0.89, 0.46, 0.10]])
    solution = bm.bisimulation_metric(mdp, discount=0.999, actions="matched")
    assert solution.status is bm.Status.SOLVED
    assert len(solution.history) < 20


@pytest.mark.slow
def test_no_game_stalls():
    """A thousand random games, many with deterministic moves, at discounts up to 0.999."""
    random = np.random.default_rng(7)
    for _ in range(1000):
        n, n_actions = int(random.integers(2, 5)), int(random.integers(2, 4))
        if random.random() < 0.5:
            transitions = np.eye(n)[random.integers(n, size=(n_actions, n))]
        else:
            transitions = random.dirichlet(np.full(n, 0.5), size=(n_actions, n))
        mdp = bm.MDP(transitions, random.integers(0, 4, size=(n, n_actions)).astype(float))
        discount = float(random.choice([0.5, 0.9, 0.99, 0.999]))
        for actions in ("same", "matched"):
            solution = bm.bisimulation_metric(mdp, discount=discount, actions=actions)
            assert solution.status is bm.Status.SOLVED, (mdp, discount, actions)

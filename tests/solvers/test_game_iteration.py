"""Policy iteration for games, with its parts made to fail."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.linear import krylov, ladder
from bisimetric.operators.game import GameBellman
from bisimetric.problems.game import Game
from bisimetric.solvers import GameIteration

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

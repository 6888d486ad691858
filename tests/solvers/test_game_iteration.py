"""Policy iteration for games, with its parts made to fail."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric import _krylov
from bisimetric._game import Game
from bisimetric._game_bellman import GameBellman
from bisimetric.solvers import GameIteration

MDP = bm.environments.four_rooms_mdp(side=4, slip=0.1)


@pytest.mark.parametrize("actions", ["same", "matched"])
def test_solves_without_its_linear_solver(monkeypatch, actions):
    """Where BiCGSTAB only ever makes things worse, value iteration on fixed couplings does it."""
    truth = bm.bisimulation_metric(MDP, discount=0.9, actions=actions)
    usual = _krylov.bicgstab

    def useless(apply, b, guess, *, rows, target):
        return usual(apply, b, guess, rows=rows, target=target)._replace(residual=np.inf)

    monkeypatch.setattr(_krylov, "bicgstab", useless)
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

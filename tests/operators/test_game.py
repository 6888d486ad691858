"""The operator of a game, against linear programs for every pair of moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.errors import NotEnoughMemory
from bisimetric.operators.game import GameBellman
from bisimetric.problems.game import Game
from tests import reference, strategies


def swept(game, value):
    """T V by linear programs: the largest over actions, or lax matching of moves."""
    n, m = game.shape
    cost = np.empty((game.source.n_actions, game.target.n_actions, n, m))
    for a, P in enumerate(game.source.transitions):
        for b, Q in enumerate(game.target.transitions):
            gap = (1 - game.discount) * np.abs(np.subtract.outer(game.source.rewards[:, a], game.target.rewards[:, b]))
            means = [[reference.transport(p, q, value) for q in Q.toarray()] for p in P.toarray()]
            cost[a, b] = gap + game.discount * np.array(means)
    if game.actions == "same":
        return np.max([cost[a, b] for a, b in game.common], axis=0)
    return np.maximum(cost.min(axis=1).max(axis=0), cost.min(axis=0).max(axis=0))


@pytest.mark.parametrize("actions", ["same", "matched"])
@given(mdp=strategies.mdps(n_actions=2, max_states=3), discount=st.sampled_from((0.3, 0.9)))
def test_one_sweep_is_the_operator(actions, mdp, discount):
    """In the scale of the operator, from the cost."""
    game = Game(mdp, mdp, discount=discount, actions=actions)
    bellman = GameBellman.of(game)
    if bellman.is_immediate():
        return
    value = bellman.cost.copy()
    residual = bellman.improve(value * bellman.scale, bellman.new_trees(), cold=True).residual
    largest = bellman.largest_value() / bellman.scale
    np.testing.assert_allclose(residual / bellman.scale, swept(game, value) - value, atol=1e-9 * largest)


def test_fixed_answers_gain_what_the_sweep_says():
    """With the answers of a sweep kept, the best gain at V is T V - V."""
    bellman = GameBellman.of(Game(*[bm.environments.four_rooms_mdp(side=3, slip=0.2)] * 2, discount=0.9))
    trees = bellman.new_trees()
    sweep = bellman.improve(bellman.cost * bellman.scale, trees, cold=True)
    fixed = bellman.with_fixed_answers(trees, sweep)
    np.testing.assert_allclose(fixed.best(), sweep.residual.ravel(), atol=1e-14)
    np.testing.assert_allclose(fixed.moves.sum(axis=1), 1.0, atol=1e-14)
    assert np.array_equal(fixed.residual[fixed.first_best(fixed.best())], fixed.best())


def test_memory_is_asked_for_first(free_memory):
    """The error counts pairs of moves, and names a way out."""
    mdp = bm.environments.four_rooms_mdp(side=3)
    free_memory(1000)
    with pytest.raises(NotEnoughMemory, match="pairs of moves"):
        GameBellman.of(Game(mdp, mdp, discount=0.9))

"""The question about two decision processes."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.problems.game import Game
from bisimetric.solvers import GameIteration


def test_games_go_through_the_same_door():
    """solve takes every kind of problem that there is a question for."""
    mdp = bm.environments.four_rooms_mdp(side=3, slip=0.1)
    seen = []
    solution = bm.solve(Game(mdp, mdp, discount=0.9), on_step=seen.append)
    assert isinstance(solution, bm.MDPSolution)
    assert tuple(seen) == solution.history
    assert np.array_equal(solution.value, bm.bisimulation_metric(mdp, discount=0.9, solver=GameIteration()).value)
    with pytest.raises(InvalidOption, match="expected None"):
        bm.solve(Game(mdp, mdp, discount=0.9), initial=np.zeros((1, 1)))
    with pytest.raises(InvalidOption, match="solves no Game"):
        bm.bisimulation_metric(mdp, discount=0.9, solver="value-iteration")


def test_a_chain_is_a_game_with_one_move():
    """Both kinds of question give the same distances, with the rewards and factors of the metric."""
    chain = bm.environments.grid_3x3()
    game, plain = (
        bm.bisimulation_metric(bm.as_mdp(chain), discount=0.9),
        bm.distance(chain, chain, discount=0.9, normalised=True),
    )
    assert (game.lower <= plain.upper).all()
    assert (plain.lower <= game.upper).all()


def test_nothing_to_solve():
    """No future: the cost is the answer, and no step is taken."""
    mdp = bm.environments.four_rooms_mdp(side=3, slip=0.1)
    solution = bm.solve(Game(mdp, mdp, discount=0.0))
    assert (solution.history, solution.status) == ((), bm.Status.SOLVED)

"""Bounds of a game from any value and any couplings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bisimetric as bm
from bisimetric.certificates.game import GameWitness, a_priori, check_game, immediate
from bisimetric.operators.game import GameBellman
from bisimetric.problems.game import Game
from tests import strategies


@pytest.mark.parametrize("actions", ["same", "matched"])
@given(mdp=strategies.mdps(n_actions=2, max_states=3), discount=st.sampled_from((0.3, 0.9)), seed=st.integers(0, 99))
def test_any_value_gives_a_true_interval(actions, mdp, discount, seed):
    """The trees of one value and the numbers of another: the checker's interval meets that of a solve."""
    bellman = GameBellman.of(Game(mdp, mdp, discount=discount, actions=actions))
    if bellman.is_immediate():
        return
    random = np.random.default_rng(seed)
    trees = bellman.new_trees()
    bellman.improve(random.random(bellman.shape), trees, cold=True)
    found = check_game(GameWitness(bellman, random.random(bellman.shape), trees))
    truth = bm.bisimulation_metric(mdp, discount=discount, actions=actions)
    assert (found.lower <= truth.upper).all()
    assert (truth.lower <= found.upper).all()
    before = a_priori(bellman)
    assert (before.lower <= truth.upper).all()
    assert (truth.lower <= before.upper).all()


def test_without_a_future_the_cost_is_the_answer():
    """Up to the rounding of the rewards' differences."""
    mdp = bm.environments.four_rooms_mdp(side=3)
    bellman = GameBellman.of(Game(mdp, mdp, discount=0.0))
    found = immediate(bellman)
    assert np.array_equal(found.value, bellman.cost)
    assert found.relative_gap <= 1e-14


def test_equal_states_are_proved_equal():
    """From the true value, the diagonal is zero for sure; with merged states nothing is."""
    mdp = bm.environments.four_rooms_mdp(side=3)
    solved = bm.bisimulation_metric(mdp, discount=0.9)
    assert not np.diag(solved.upper).any()

"""Bounds on what a process can earn, from any value and any policy."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bisimetric.certificates.control import a_priori, check_control
from bisimetric.models.mdp import MDP
from bisimetric.operators.control import ControlBellman
from bisimetric.problems.control import Control
from tests import reference, strategies

DISCOUNTS = st.sampled_from((0.0, 0.3, 0.9, 0.99))


@given(strategies.mdps(n_actions=2), DISCOUNTS, st.integers(0, 2**32 - 1))
def test_bounds_hold_for_any_value_and_any_policy(mdp, discount, seed):
    """The policy earns at least `lower`, and no policy more than `upper`."""
    bellman = ControlBellman.of(Control(mdp, discount=discount))
    random = np.random.default_rng(seed)
    value, policy = random.normal(size=mdp.n_states), random.integers(0, 2, mdp.n_states)
    found = check_control(bellman, value, policy)
    best = reference.optimal_values(mdp, discount)
    chain = mdp.under(policy)
    own = np.linalg.solve(np.eye(mdp.n_states) - discount * chain.transitions.toarray(), chain.reward)
    slip = 1e-12 / (1 - discount) * max(np.abs(mdp.rewards).max(), 1.0)  # of the reference
    assert (found.lower <= own + slip).all()
    assert (best <= found.upper + slip).all()
    assert (found.lower <= found.value).all()
    assert (found.value <= found.upper).all()


@given(strategies.mdps(n_actions=2), DISCOUNTS)
def test_bounds_before_the_first_step(mdp, discount):
    """The largest reward forever."""
    found = a_priori(ControlBellman.of(Control(mdp, discount=discount)))
    best = reference.optimal_values(mdp, discount)
    assert (found.lower <= best).all()
    assert (best <= found.upper).all()


def test_the_gap_is_relative_to_the_size_of_the_values():
    """Rewards below zero leave every upper bound below zero, and a gap is not."""
    found = check_control(
        ControlBellman.of(Control(MDP([np.eye(1)], [[-1.0]]), discount=0.5)), np.zeros(1), np.zeros(1, np.int64)
    )
    assert found.upper[0] < 0.0
    assert found.relative_gap == found.gap / -found.lower[0]
    assert "1 states" in repr(found)

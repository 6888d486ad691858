"""The question about one decision process is checked when it is made."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidProblem
from bisimetric.problems.control import Control


def test_it_holds_the_process_and_the_discount():
    """As given."""
    mdp = bm.environments.four_rooms_mdp(side=3)
    problem = Control(mdp, discount=0.9)
    assert problem.mdp is mdp
    assert repr(problem) == f"Control({mdp.n_states} states, discount 0.9)"


def test_only_a_process_has_a_best_policy():
    """The error names the way to make one of a chain."""
    with pytest.raises(InvalidProblem, match="as_mdp"):
        Control(bm.environments.grid_3x3(), discount=0.9)


@pytest.mark.parametrize(("reward", "discount"), [(1e308, 0.5), (1e300, 1 - 1e-9)])
def test_values_that_overflow_are_refused(reward, discount):
    """The largest reward forever is a number."""
    with pytest.raises(InvalidProblem, match="divide the rewards"):
        Control(bm.MDP([np.eye(1)], [[-reward]]), discount=discount)

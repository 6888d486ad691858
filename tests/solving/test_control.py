"""The best policy of a decision process as a question that the one loop answers."""

from __future__ import annotations

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption, SolveInterrupted, ToleranceNotReached
from bisimetric.problems.control import Control

MDP = bm.environments.four_rooms_mdp(side=4, slip=0.2)
PROBLEM = Control(MDP, discount=0.9)


def test_the_loop_reports_steps_and_stops_by_its_own_rule():
    """The status says how it ended, and the history what was believed on the way."""
    seen = []
    found = bm.solve(PROBLEM, on_step=seen.append)
    assert found.status is bm.Status.SOLVED
    assert found.reached_tol
    assert found.history == tuple(seen)
    assert found.solver == "control-iteration"


def test_a_limit_is_told_from_convergence():
    """One step is not enough; the bounds hold all the same."""
    found = bm.solve(PROBLEM, max_steps=1, throw=False)
    assert found.status is bm.Status.STEP_LIMIT
    assert not found.reached_tol
    best = MDP.optimal_policy(0.9)
    assert (found.certificate.lower <= best.upper).all()
    assert (best.lower <= found.certificate.upper).all()
    with pytest.raises(ToleranceNotReached, match="raise max_steps"):
        bm.solve(PROBLEM, max_steps=1, tol=1e-12)


def test_an_interrupt_leaves_a_certified_policy():
    """As for every question, from the first step on and before it."""

    def stop(step):
        raise KeyboardInterrupt

    with pytest.raises(SolveInterrupted) as caught:
        bm.solve(PROBLEM, on_step=stop)
    found = caught.value.solution
    assert found.status is bm.Status.INTERRUPTED
    assert MDP.available[np.arange(MDP.n_states), found.policy].all()
    assert (found.certificate.lower <= found.certificate.upper).all()


def test_there_is_no_guess():
    """And no other solver."""
    with pytest.raises(InvalidOption, match="initial"):
        bm.solve(PROBLEM, initial=np.zeros(MDP.n_states))
    with pytest.raises(InvalidOption, match="solves no Control"):
        bm.solve(PROBLEM, "policy-iteration")

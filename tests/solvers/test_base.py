"""What all solvers share: iterates, sweeps and the defaults of a solver."""

from __future__ import annotations

import math
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.base import STALLED_AFTER, Diagnostics, Iterate, Options, Solver, sweep

PROBLEM = bm.Problem(bm.environments.grid_3x3(), bm.environments.four_rooms("p1"), discount=0.9)
BELLMAN = Bellman.of(PROBLEM)


@dataclass(frozen=True, slots=True)
class Idle(Solver):
    """Does nothing."""

    name = "idle"
    default_tol = 1e-3
    default_max_steps = 5

    def init(self, bellman, value, tol=0.0):
        return sweep(bellman, bellman.scaled_cost())

    def step(self, bellman, iterate):
        return iterate


def test_an_iterate_that_says_nothing_more():
    """Defaults: not due, not finished, no diagnostics, no better estimate."""
    iterate = Iterate(np.array([[1.0, -3.0]]), None, 0.5)
    assert iterate.largest == 3.0
    assert not iterate.due
    assert not iterate.finished
    assert iterate.diagnostics() == Diagnostics()
    assert iterate.estimate() is None
    assert iterate.at_rest() is iterate


def test_a_solver_that_does_nothing_more_has_stalled():
    """The same object again says that there is nothing to do; the answer is certified all the same."""
    found = bm.solve(PROBLEM, Idle(), tol=1e-3, throw=False)
    assert found.status is bm.Status.STALLED
    assert Idle().patience(BELLMAN) == STALLED_AFTER
    assert found.solver == "idle"
    assert (found.lower <= bm.solve(PROBLEM).upper).all()


def test_options_are_frozen():
    """A solver is a set of options, not a place for state."""
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        bm.ValueIteration().name = "other"


def test_a_sweep_makes_an_iterate_of_any_value():
    """Warm starts reuse the trees, and find the same residual."""
    first = sweep(BELLMAN, BELLMAN.scaled_cost())
    again = sweep(BELLMAN, first.value, first)
    assert again.trees is first.trees
    np.testing.assert_allclose(again.sweep.residual, first.sweep.residual, atol=1e-14)
    assert again.sweep.pivots == 0
    below, above = BELLMAN.bounds(again.sweep)
    assert again.gap == above - below
    assert again.at_rest().value is again.value


@pytest.mark.parametrize(
    ("value", "message"),
    [(np.zeros((2, 2)), r"shape \(2, 2\), expected"), (np.full(PROBLEM.shape, np.nan), "not finite")],
)
def test_values_that_cannot_be_swept(value, message):
    """For solvers of one's own: the error names the step that made it."""
    with pytest.raises(InvalidOption, match=message):
        sweep(BELLMAN, value)


NOTHING = {"tol": None, "max_steps": None, "time_limit": None, "throw": True, "on_step": None, "look_every": None}


def test_none_stands_for_the_defaults_of_the_solver():
    """No limit of time, and a tolerance that is no promise."""
    solver = bm.PolicyIteration()
    options = Options.checked(solver, **NOTHING)
    assert (options.tol, options.max_steps) == (solver.default_tol, solver.default_max_steps)
    assert options.seconds == math.inf
    assert not options.is_promised
    given = Options.checked(solver, **NOTHING | {"tol": 1e-3, "time_limit": 2})
    assert given.is_promised
    assert (given.tol, given.seconds) == (1e-3, 2.0)

"""Options of a solve; `test_solve` has those that are refused."""

from __future__ import annotations

import math

import bisimetric as bm
from bisimetric.solving.options import checked_options

NOTHING = {"tol": None, "max_steps": None, "time_limit": None, "throw": True, "on_step": None, "look_every": None}


def test_none_stands_for_the_defaults_of_the_solver():
    """No limit of time, and a tolerance that is no promise."""
    solver = bm.PolicyIteration()
    options = checked_options(solver, **NOTHING)
    assert (options.tol, options.max_steps) == (solver.default_tol, solver.default_max_steps)
    assert options.seconds == math.inf
    assert not options.is_promised
    given = checked_options(solver, **NOTHING | {"tol": 1e-3, "time_limit": 2})
    assert given.is_promised
    assert (given.tol, given.seconds) == (1e-3, 2.0)

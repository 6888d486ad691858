"""The options of `solve` besides problem and solver, checked."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from bisimetric._support.options import as_float, flag, function_or_none, is_positive, shown, whole
from bisimetric.errors import InvalidOption
from bisimetric.solvers.base import AnySolver
from bisimetric.solving.solution import Step


class Options(NamedTuple):
    """How far a solve goes and what it tells on the way."""

    tol: float
    is_promised: bool  # the tolerance is the caller's: missing it raises
    max_steps: int
    seconds: float  # time limit; inf for none
    throw: bool
    on_step: Callable[[Step], None] | None
    look_every: int | None  # steps from one look of the checker to the next; None: where the solver asks for it


def checked_options(
    solver: AnySolver,
    *,
    tol: object,
    max_steps: object,
    time_limit: object,
    throw: bool,
    on_step: Callable[[Step], None] | None,
    look_every: object,
) -> Options:
    """What users give, None standing for the solver's own defaults and for no time limit."""
    for name in ("name", "default_tol", "default_max_steps"):
        if not hasattr(solver, name):
            raise InvalidOption(f"the solver {type(solver).__name__} has no {name}; it is a class variable")
    if throw is not True:
        flag(throw, "throw")
    if on_step is not None:
        function_or_none(on_step, "on_step")
    goal = checked_tol(tol, solver)
    steps = solver.default_max_steps if max_steps is None else whole(max_steps, "max_steps", at_least=1)
    seconds = math.inf
    if time_limit is not None:
        if not is_positive(time_limit):
            raise InvalidOption(f"time_limit is {shown(time_limit)}, expected a positive number of seconds")
        seconds = as_float(time_limit)
    every = None if look_every is None else whole(look_every, "look_every", at_least=1)
    return Options(goal, tol is not None, steps, seconds, throw, on_step, every)


def checked_tol(tol: object, solver: AnySolver) -> float:
    """The relative gap to reach: the solver's own unless one is given."""
    if tol is None:
        return solver.default_tol
    if not is_positive(tol):
        raise InvalidOption(f"tol is {shown(tol)}, expected a positive number such as 1e-6: it bounds the relative gap")
    return as_float(tol)

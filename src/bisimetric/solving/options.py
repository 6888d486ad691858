"""The options of a solve: how far it goes and what it tells on the way."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from bisimetric._support.options import flag, function_or_none, seconds_of, whole
from bisimetric.solvers.base import AnySolver, checked_tol
from bisimetric.solving.history import Step


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
    if throw is not True:
        flag(throw, "throw")
    if on_step is not None:
        function_or_none(on_step, "on_step")
    goal = solver.default_tol if tol is None else checked_tol(tol, solver)
    steps = solver.default_max_steps if max_steps is None else whole(max_steps, "max_steps", at_least=1)
    seconds = math.inf if time_limit is None else seconds_of(time_limit)
    every = None if look_every is None else whole(look_every, "look_every", at_least=1)
    return Options(goal, tol is not None, steps, seconds, throw, on_step, every)

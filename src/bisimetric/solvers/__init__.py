"""The solvers, by name. Adding one is a file here and a line below. `GameIteration` solves games, not problems."""

from typing import Any

from bisimetric.solvers.base import Iterate, Solver
from bisimetric.solvers.game_iteration import GameIteration
from bisimetric.solvers.linear_program import LinearProgram
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solvers.value_iteration import ValueIteration

ALL: dict[str, type[Solver[Any]]] = {solver.name: solver for solver in (PolicyIteration, ValueIteration, LinearProgram)}

__all__ = ["ALL", "GameIteration", "Iterate", "LinearProgram", "PolicyIteration", "Solver", "ValueIteration"]

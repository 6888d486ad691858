"""The solvers, by name. Adding one is a file here and a line below."""

from bisimetric.solvers.base import Iterate, Solver
from bisimetric.solvers.policy_iteration import PolicyIteration

ALL: dict[str, type[Solver]] = {solver.name: solver for solver in (PolicyIteration,)}  # type: ignore[type-arg]

__all__ = ["ALL", "Iterate", "PolicyIteration", "Solver"]

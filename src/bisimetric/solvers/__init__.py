"""The solvers, by name. Adding one is a file here and a line below. `GameIteration` solves games, not problems."""

from typing import Any

from bisimetric.solvers.base import Iterate, Solver
from bisimetric.solvers.game_iteration import GameIteration
from bisimetric.solvers.linear_program import LinearProgram
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solvers.sinkhorn.bellman import SinkhornBellman
from bisimetric.solvers.sinkhorn.entropic_policy_iteration import EntropicPolicyIteration
from bisimetric.solvers.sinkhorn.policy_iteration import SinkhornPolicyIteration
from bisimetric.solvers.sinkhorn.value_iteration import SinkhornValueIteration
from bisimetric.solvers.value_iteration import ValueIteration

SOLVERS: tuple[type[Solver[Any]], ...] = (
    PolicyIteration,
    ValueIteration,
    LinearProgram,
    SinkhornValueIteration,
    SinkhornPolicyIteration,
    EntropicPolicyIteration,
    SinkhornBellman,
)
ALL: dict[str, type[Solver[Any]]] = {solver.name: solver for solver in SOLVERS}

__all__ = [
    "ALL",
    "EntropicPolicyIteration",
    "GameIteration",
    "Iterate",
    "LinearProgram",
    "PolicyIteration",
    "SinkhornBellman",
    "SinkhornPolicyIteration",
    "SinkhornValueIteration",
    "Solver",
    "ValueIteration",
]

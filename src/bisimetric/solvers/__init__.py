"""The solvers: they propose iterates, the loop and the checker decide. Adding one is a file here and a line below.

`base` says what a solver is; `sinkhorn/` holds the entropic ones. Imports `sharding`, `operators`, `couplings` and
below; solvers do not import one another, but for `sharded_policy_iteration`, which is policy iteration with its
couplings elsewhere. `GameIteration` solves games between decision processes, `ControlIteration` finds the best policy
of one, `BackwardInduction` is for finite horizons, `AverageIteration` for average costs, and the others solve
discounted problems between chains. `solve_many` alone uses `side_by_side`, for many small problems at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from bisimetric._support.lazy import lazy_names
from bisimetric._support.options import hint
from bisimetric.errors import InvalidOption
from bisimetric.solvers.base import AnySolver, Iterate, Solver, TreeIterate, sweep

if TYPE_CHECKING:
    from bisimetric.solvers.average_iteration import AverageIteration as AverageIteration
    from bisimetric.solvers.backward_induction import BackwardInduction as BackwardInduction
    from bisimetric.solvers.control_iteration import ControlIteration as ControlIteration
    from bisimetric.solvers.game_iteration import GameIteration as GameIteration
    from bisimetric.solvers.linear_program import LinearProgram as LinearProgram
    from bisimetric.solvers.policy_iteration import PolicyIteration as PolicyIteration
    from bisimetric.solvers.sharded_policy_iteration import ShardedPolicyIteration as ShardedPolicyIteration
    from bisimetric.solvers.sinkhorn.bellman import SinkhornBellman as SinkhornBellman
    from bisimetric.solvers.sinkhorn.entropic_policy_iteration import EntropicPolicyIteration as EntropicPolicyIteration
    from bisimetric.solvers.sinkhorn.policy_iteration import SinkhornPolicyIteration as SinkhornPolicyIteration
    from bisimetric.solvers.sinkhorn.value_iteration import SinkhornValueIteration as SinkhornValueIteration
    from bisimetric.solvers.value_iteration import ValueIteration as ValueIteration

SOLVERS = {  # name: (class, module)
    "policy-iteration": ("PolicyIteration", "policy_iteration"),
    "value-iteration": ("ValueIteration", "value_iteration"),
    "linear-program": ("LinearProgram", "linear_program"),
    "sinkhorn-value-iteration": ("SinkhornValueIteration", "sinkhorn.value_iteration"),
    "sinkhorn-policy-iteration": ("SinkhornPolicyIteration", "sinkhorn.policy_iteration"),
    "entropic-policy-iteration": ("EntropicPolicyIteration", "sinkhorn.entropic_policy_iteration"),
    "sinkhorn-bellman": ("SinkhornBellman", "sinkhorn.bellman"),
}
FOR_PROCESSES = {  # the same for decision processes
    "game-iteration": ("GameIteration", "game_iteration"),
    "control-iteration": ("ControlIteration", "control_iteration"),
}
FOR_OBJECTIVES = {  # the same for finite horizons and average costs
    "backward-induction": ("BackwardInduction", "backward_induction"),
    "average-iteration": ("AverageIteration", "average_iteration"),
}
FOR_CLUSTERS = {  # the same for problems between chains, on several machines
    "sharded-policy-iteration": ("ShardedPolicyIteration", "sharded_policy_iteration"),
}
OTHERS = FOR_PROCESSES | FOR_OBJECTIVES | FOR_CLUSTERS
SOLVER_HOMES = dict([*SOLVERS.values(), *OTHERS.values()])

__all__ = ["Iterate", "Solver", "TreeIterate", "all_solvers", "by_name", "sweep", *SOLVER_HOMES]
__getattr__, __dir__ = lazy_names(__name__, SOLVER_HOMES)


def all_solvers() -> dict[str, type[AnySolver]]:
    """The solvers of problems between chains.

    Returns
    -------
    dict of str to type
        Classes by name.

    Examples
    --------
    >>> import bisimetric as bm
    >>> sorted(bm.solvers.all_solvers())[:2]
    ['entropic-policy-iteration', 'linear-program']
    """
    return {name: __getattr__(SOLVERS[name][0]) for name in SOLVERS}


def by_name(solver: AnySolver | str) -> AnySolver:
    """The solver of that name with its default options; a solver object is returned as it is.

    Parameters
    ----------
    solver : Solver or str
        A solver, or one of the names that `bisimetric solvers` lists.

    Returns
    -------
    Solver

    Raises
    ------
    InvalidOption
        If it is neither, or a solver without a class variable that every solver has.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.solvers.by_name("value-iteration")
    ValueIteration()
    """
    if isinstance(solver, Solver):
        for name in ("name", "default_tol", "default_max_steps"):
            if not hasattr(solver, name):
                raise InvalidOption(f"the solver {type(solver).__name__} has no {name}; it is a class variable")
        return solver
    names = {name: home[0] for name, home in (SOLVERS | OTHERS).items()}
    if isinstance(solver, str) and solver in names:
        made: AnySolver = __getattr__(names[solver])()
        return made
    known = [*SOLVERS, *FOR_CLUSTERS]
    expected = f"expected a solver such as PolicyIteration(), or a name: {', '.join(known)}"
    raise InvalidOption(f"solver is {solver!r}, {expected}{hint(solver, known)}")

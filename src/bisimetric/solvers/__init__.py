"""The solvers: they propose iterates, the loop and the checker decide. Adding one is a file here and a line below.

`base` says what a solver is; `sinkhorn/` holds the entropic ones. Imports `operators`, `couplings` and below; solvers
do not import one another. `GameIteration` solves games between decision processes, the others problems between chains.
"""

from bisimetric.errors import InvalidOption
from bisimetric.solvers.base import AnySolver, Iterate, Solver, TreeIterate, sweep
from bisimetric.solvers.game_iteration import GameIteration
from bisimetric.solvers.linear_program import LinearProgram
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solvers.sinkhorn.bellman import SinkhornBellman
from bisimetric.solvers.sinkhorn.entropic_policy_iteration import EntropicPolicyIteration
from bisimetric.solvers.sinkhorn.policy_iteration import SinkhornPolicyIteration
from bisimetric.solvers.sinkhorn.value_iteration import SinkhornValueIteration
from bisimetric.solvers.value_iteration import ValueIteration

SOLVERS: tuple[type[AnySolver], ...] = (
    PolicyIteration,
    ValueIteration,
    LinearProgram,
    SinkhornValueIteration,
    SinkhornPolicyIteration,
    EntropicPolicyIteration,
    SinkhornBellman,
)
ALL: dict[str, type[AnySolver]] = {solver.name: solver for solver in SOLVERS}

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
    "TreeIterate",
    "ValueIteration",
    "by_name",
    "sweep",
]


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
        If it is neither.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.solvers.by_name("value-iteration")
    ValueIteration()
    """
    if isinstance(solver, Solver):
        return solver
    if isinstance(solver, str) and solver in ALL:
        return ALL[solver]()
    raise InvalidOption(
        f"solver is {solver!r}, expected a solver such as PolicyIteration(), or a name: {', '.join(ALL)}"
    )

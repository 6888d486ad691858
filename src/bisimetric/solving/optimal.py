"""The best policy of a decision process, certified: `MDP.optimal_policy`."""

from __future__ import annotations

from bisimetric._support.frozen import frozen
from bisimetric._support.threads import OutOfTime
from bisimetric.errors import SolverFailed
from bisimetric.models.mdp import MDP
from bisimetric.models.policies import OptimalPolicy
from bisimetric.problems.control import Control
from bisimetric.solving.history import Status
from bisimetric.solving.solve import solve


def optimal_policy(mdp: MDP, discount: float) -> OptimalPolicy:
    """A best action for every state, with bounds on what it earns, as close as rounding lets them be."""
    found = solve(Control(mdp, discount=discount))
    if found.status is Status.TIME_LIMIT:  # of the work that asked for this policy
        raise OutOfTime
    if found.status not in (Status.SOLVED, Status.STALLED):
        raise SolverFailed(
            f"{len(found.history)} policies were not enough: the optimal values are known to "
            f"{found.relative_gap:.1g} of the largest; choose a smaller discount"
        )
    bounds = found.certificate
    return OptimalPolicy(frozen(found.policy), bounds.value, bounds.lower, bounds.upper)

"""Certified optimal-transport distances and bisimulation metrics between Markov chains.

    V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] }

>>> import bisimetric as bm
>>> bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).status
<Status.SOLVED: 'the certified relative gap is within the tolerance'>
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bisimetric import cost, environments, errors, plot
    from bisimetric._certificate import Certificate, certify
    from bisimetric._chain import MarkovChain
    from bisimetric._convert import as_chain, as_mdp, distance
    from bisimetric._coupling import Coupling, Potentials
    from bisimetric._distances import Distances
    from bisimetric._exact import ExactCertificate, certify_exactly
    from bisimetric._game_solution import MDPSolution
    from bisimetric._mdp import MDP
    from bisimetric._optimal import OptimalPolicy
    from bisimetric._pairwise import PairDone, pairwise
    from bisimetric._problem import Problem
    from bisimetric._solution import Solution, Status, Step
    from bisimetric._solve import solve
    from bisimetric._step_size import Decaying, FromTheorem
    from bisimetric._version import __version__
    from bisimetric.bisimulation.aggregation import Aggregation, MDPAggregation, aggregate
    from bisimetric.bisimulation.classes import bisimilar_classes
    from bisimetric.bisimulation.metric import bisimilarity_distance, bisimulation_metric
    from bisimetric.bisimulation.mico import mico
    from bisimetric.bisimulation.quotient import quotient
    from bisimetric.io import load, save
    from bisimetric.solvers import (
        EntropicPolicyIteration,
        LinearProgram,
        PolicyIteration,
        SinkhornBellman,
        SinkhornPolicyIteration,
        SinkhornValueIteration,
        ValueIteration,
    )

# Modules load when something of theirs is first used: then `import bisimetric` takes no time and cannot fail, and the
# command can say in its own words what is missing.
HOMES = {
    "_certificate": "Certificate certify",
    "_chain": "MarkovChain",
    "_convert": "as_chain as_mdp distance",
    "_coupling": "Coupling Potentials",
    "_distances": "Distances",
    "_exact": "ExactCertificate certify_exactly",
    "_game_solution": "MDPSolution",
    "_mdp": "MDP",
    "_optimal": "OptimalPolicy",
    "_pairwise": "PairDone pairwise",
    "_problem": "Problem",
    "_solution": "Solution Status Step",
    "_solve": "solve",
    "_step_size": "Decaying FromTheorem",
    "_version": "__version__",
    "bisimulation.aggregation": "Aggregation MDPAggregation aggregate",
    "bisimulation.classes": "bisimilar_classes",
    "bisimulation.metric": "bisimilarity_distance bisimulation_metric",
    "bisimulation.mico": "mico",
    "bisimulation.quotient": "quotient",
    "io": "load save",
    "solvers": "EntropicPolicyIteration LinearProgram PolicyIteration SinkhornBellman "
    "SinkhornPolicyIteration SinkhornValueIteration ValueIteration",
}
HOME_OF = {name: f"bisimetric.{module}" for module, names in HOMES.items() for name in names.split()}
MODULES = ("bisimulation", "cost", "environments", "errors", "io", "plot", "solvers")


def __getattr__(name: str) -> Any:
    if name in MODULES:
        return import_module(f"bisimetric.{name}")
    if name not in HOME_OF:
        raise AttributeError(f"module 'bisimetric' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(HOME_OF[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


__all__ = [
    "MDP",
    "Aggregation",
    "Certificate",
    "Coupling",
    "Decaying",
    "Distances",
    "EntropicPolicyIteration",
    "ExactCertificate",
    "FromTheorem",
    "LinearProgram",
    "MDPAggregation",
    "MDPSolution",
    "MarkovChain",
    "OptimalPolicy",
    "PairDone",
    "PolicyIteration",
    "Potentials",
    "Problem",
    "SinkhornBellman",
    "SinkhornPolicyIteration",
    "SinkhornValueIteration",
    "Solution",
    "Status",
    "Step",
    "ValueIteration",
    "__version__",
    "aggregate",
    "as_chain",
    "as_mdp",
    "bisimilar_classes",
    "bisimilarity_distance",
    "bisimulation_metric",
    "certify",
    "certify_exactly",
    "cost",
    "distance",
    "environments",
    "errors",
    "load",
    "mico",
    "pairwise",
    "plot",
    "quotient",
    "save",
    "solve",
]

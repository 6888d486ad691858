"""Every public name, where it lives."""

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

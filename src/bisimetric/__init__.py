"""Certified optimal-transport distances and bisimulation metrics between Markov chains.

    V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] }

>>> import bisimetric as bm
>>> bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).status
<Status.SOLVED: 'the certified relative gap is within the tolerance'>
"""

from bisimetric import cost, environments, errors
from bisimetric._certificate import Certificate, certify
from bisimetric._chain import MarkovChain
from bisimetric._convert import as_chain, distance
from bisimetric._coupling import Coupling, Potentials
from bisimetric._exact import ExactCertificate, certify_exactly
from bisimetric._problem import Problem
from bisimetric._solution import Solution, Status, Step
from bisimetric._solve import solve
from bisimetric._step_size import Decaying, FromTheorem
from bisimetric._version import __version__
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
    "Certificate",
    "Coupling",
    "Decaying",
    "EntropicPolicyIteration",
    "ExactCertificate",
    "FromTheorem",
    "LinearProgram",
    "MarkovChain",
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
    "as_chain",
    "certify",
    "certify_exactly",
    "cost",
    "distance",
    "environments",
    "errors",
    "load",
    "save",
    "solve",
]

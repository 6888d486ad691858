"""Certified optimal-transport distances and bisimulation metrics between Markov chains.

    V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] }

>>> import bisimetric as bm
>>> bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.95).status
Status.SOLVED
"""

from bisimetric._support.lazy import lazy_names

TYPE_CHECKING = False  # for type checkers it is true

if TYPE_CHECKING:
    from bisimetric import cost as cost
    from bisimetric import environments as environments
    from bisimetric import errors as errors
    from bisimetric import jax as jax
    from bisimetric import plot as plot
    from bisimetric import solvers as solvers
    from bisimetric import torch as torch
    from bisimetric._distance import distance as distance
    from bisimetric.bisimulation.aggregation import Aggregation as Aggregation
    from bisimetric.bisimulation.aggregation import MDPAggregation as MDPAggregation
    from bisimetric.bisimulation.aggregation import aggregate as aggregate
    from bisimetric.bisimulation.classes import bisimilar_classes as bisimilar_classes
    from bisimetric.bisimulation.label_changes import label_changes as label_changes
    from bisimetric.bisimulation.metric import bisimilarity_distance as bisimilarity_distance
    from bisimetric.bisimulation.metric import bisimulation_metric as bisimulation_metric
    from bisimetric.bisimulation.mico import mico as mico
    from bisimetric.bisimulation.quotient import quotient as quotient
    from bisimetric.certificates.certify import certify as certify
    from bisimetric.certificates.interval import Certificate as Certificate
    from bisimetric.couplings.coupling import Coupling as Coupling
    from bisimetric.couplings.coupling import Potentials as Potentials
    from bisimetric.couplings.explanation import Explanation as Explanation
    from bisimetric.couplings.gradient import Gradient as Gradient
    from bisimetric.couplings.horizon_gradient import HorizonGradient as HorizonGradient
    from bisimetric.couplings.long_run import LongRunCoupling as LongRunCoupling
    from bisimetric.couplings.long_run import LongRunPotentials as LongRunPotentials
    from bisimetric.couplings.parting import JointPath as JointPath
    from bisimetric.couplings.timed import HorizonCoupling as HorizonCoupling
    from bisimetric.couplings.timed import HorizonPotentials as HorizonPotentials
    from bisimetric.estimation.changed import Changes as Changes
    from bisimetric.estimation.compare import compare as compare
    from bisimetric.estimation.comparison import Comparison as Comparison
    from bisimetric.estimation.rounds import ResampleDone as ResampleDone
    from bisimetric.io.save_load import load as load
    from bisimetric.io.save_load import save as save
    from bisimetric.learning.reduction import Reduction as Reduction
    from bisimetric.learning.reduction import ReductionStep as ReductionStep
    from bisimetric.learning.reduction import reduce as reduce
    from bisimetric.many.compaction import Compaction as Compaction
    from bisimetric.many.compaction import compact_store as compact_store
    from bisimetric.many.estimator import MarkovDistance as MarkovDistance
    from bisimetric.many.pairwise import pairwise as pairwise
    from bisimetric.many.solve_many import solve_many as solve_many
    from bisimetric.many.table import Distances as Distances
    from bisimetric.many.table_run import PairDone as PairDone
    from bisimetric.many.warm_up import warm_up as warm_up
    from bisimetric.models.chain import MarkovChain as MarkovChain
    from bisimetric.models.estimated import EstimatedChain as EstimatedChain
    from bisimetric.models.estimated_mdp import EstimatedMDP as EstimatedMDP
    from bisimetric.models.mdp import MDP as MDP
    from bisimetric.models.policies import OptimalPolicy as OptimalPolicy
    from bisimetric.objectives.average import average_distance as average_distance
    from bisimetric.objectives.weisfeiler_lehman import weisfeiler_lehman_distance as weisfeiler_lehman_distance
    from bisimetric.problems.average import AverageProblem as AverageProblem
    from bisimetric.problems.discounted import Problem as Problem
    from bisimetric.problems.horizon import HorizonProblem as HorizonProblem
    from bisimetric.readers.convert import as_chain as as_chain
    from bisimetric.readers.convert import as_mdp as as_mdp
    from bisimetric.readers.explicit.model import from_explicit as from_explicit
    from bisimetric.readers.gym import from_gymnasium as from_gymnasium
    from bisimetric.readers.hmm import from_hmm as from_hmm
    from bisimetric.readers.networkx import from_networkx as from_networkx
    from bisimetric.readers.networkx_models import to_networkx as to_networkx
    from bisimetric.readers.observations import from_observations as from_observations
    from bisimetric.readers.storm import from_drn as from_drn
    from bisimetric.readers.storm import from_jani as from_jani
    from bisimetric.readers.storm import from_prism as from_prism
    from bisimetric.readers.trajectories import from_trajectories as from_trajectories
    from bisimetric.solvers import EntropicPolicyIteration as EntropicPolicyIteration
    from bisimetric.solvers import LinearProgram as LinearProgram
    from bisimetric.solvers import PolicyIteration as PolicyIteration
    from bisimetric.solvers import ShardedPolicyIteration as ShardedPolicyIteration
    from bisimetric.solvers import SinkhornBellman as SinkhornBellman
    from bisimetric.solvers import SinkhornPolicyIteration as SinkhornPolicyIteration
    from bisimetric.solvers import SinkhornValueIteration as SinkhornValueIteration
    from bisimetric.solvers import ValueIteration as ValueIteration
    from bisimetric.solvers.base import Iterate as Iterate
    from bisimetric.solvers.base import Solver as Solver
    from bisimetric.solvers.sinkhorn.step_size import Decaying as Decaying
    from bisimetric.solvers.sinkhorn.step_size import FromTheorem as FromTheorem
    from bisimetric.solving.average_solution import AverageSolution as AverageSolution
    from bisimetric.solving.exact import ExactCertificate as ExactCertificate
    from bisimetric.solving.exact import certify_exactly as certify_exactly
    from bisimetric.solving.game_gradient import MDPGradient as MDPGradient
    from bisimetric.solving.game_solution import MDPSolution as MDPSolution
    from bisimetric.solving.guarantee import Guarantee as Guarantee
    from bisimetric.solving.guarantee import guarantee as guarantee
    from bisimetric.solving.history import Status as Status
    from bisimetric.solving.history import Step as Step
    from bisimetric.solving.horizon_solution import HorizonSolution as HorizonSolution
    from bisimetric.solving.solution import Solution as Solution
    from bisimetric.solving.solve import solve as solve

__version__ = "0.1.0"

MODULES = ("cost", "environments", "errors", "jax", "plot", "solvers", "torch")  # public ones
NAMES = {  # by the module that each lives in; the block above says the same to type checkers
    "_distance": ("distance",),
    "bisimulation.aggregation": (
        "Aggregation",
        "MDPAggregation",
        "aggregate",
    ),
    "bisimulation.classes": ("bisimilar_classes",),
    "bisimulation.label_changes": ("label_changes",),
    "bisimulation.metric": (
        "bisimilarity_distance",
        "bisimulation_metric",
    ),
    "bisimulation.mico": ("mico",),
    "bisimulation.quotient": ("quotient",),
    "certificates.certify": ("certify",),
    "certificates.interval": ("Certificate",),
    "couplings.coupling": (
        "Coupling",
        "Potentials",
    ),
    "couplings.explanation": ("Explanation",),
    "couplings.parting": ("JointPath",),
    "couplings.long_run": ("LongRunCoupling", "LongRunPotentials"),
    "couplings.timed": ("HorizonCoupling", "HorizonPotentials"),
    "couplings.horizon_gradient": ("HorizonGradient",),
    "couplings.gradient": ("Gradient",),
    "estimation.changed": ("Changes",),
    "estimation.compare": ("compare",),
    "estimation.comparison": ("Comparison",),
    "estimation.rounds": ("ResampleDone",),
    "io.save_load": (
        "load",
        "save",
    ),
    "learning.reduction": (
        "Reduction",
        "ReductionStep",
        "reduce",
    ),
    "many.table": ("Distances",),
    "many.pairwise": ("pairwise",),
    "many.table_run": ("PairDone",),
    "many.compaction": (
        "Compaction",
        "compact_store",
    ),
    "many.estimator": ("MarkovDistance",),
    "many.solve_many": ("solve_many",),
    "many.warm_up": ("warm_up",),
    "models.chain": ("MarkovChain",),
    "models.estimated": ("EstimatedChain",),
    "models.estimated_mdp": ("EstimatedMDP",),
    "models.mdp": ("MDP",),
    "models.policies": ("OptimalPolicy",),
    "objectives.average": ("average_distance",),
    "objectives.weisfeiler_lehman": ("weisfeiler_lehman_distance",),
    "problems.average": ("AverageProblem",),
    "problems.discounted": ("Problem",),
    "problems.horizon": ("HorizonProblem",),
    "readers.convert": (
        "as_chain",
        "as_mdp",
    ),
    "readers.gym": ("from_gymnasium",),
    "readers.hmm": ("from_hmm",),
    "readers.networkx": ("from_networkx",),
    "readers.networkx_models": ("to_networkx",),
    "readers.observations": ("from_observations",),
    "readers.explicit.model": ("from_explicit",),
    "readers.storm": (
        "from_drn",
        "from_jani",
        "from_prism",
    ),
    "readers.trajectories": ("from_trajectories",),
    "solvers": (
        "EntropicPolicyIteration",
        "LinearProgram",
        "PolicyIteration",
        "ShardedPolicyIteration",
        "SinkhornBellman",
        "SinkhornPolicyIteration",
        "SinkhornValueIteration",
        "ValueIteration",
    ),
    "solvers.base": ("Iterate", "Solver"),
    "solvers.sinkhorn.step_size": (
        "Decaying",
        "FromTheorem",
    ),
    "solving.average_solution": ("AverageSolution",),
    "solving.exact": (
        "ExactCertificate",
        "certify_exactly",
    ),
    "solving.game_gradient": ("MDPGradient",),
    "solving.game_solution": ("MDPSolution",),
    "solving.solve": ("solve",),
    "solving.guarantee": ("Guarantee", "guarantee"),
    "solving.history": ("Status", "Step"),
    "solving.horizon_solution": ("HorizonSolution",),
    "solving.solution": ("Solution",),
}
METHODS_ABOVE = {  # methods that work in a room above their class, and where; `_support.lazy.method_above` loads it
    "Aggregation.report": "views.report.page.report",
    "Comparison.plot": "views.comparison.comparison",
    "Comparison.report": "views.report.page.report",
    "Distances.report": "views.report.page.report",
    "InNotebooks._repr_html_": "views.notebook.notebook_html",
    "MDP.optimal_policy": "solving.optimal.optimal_policy",
    "Stored.from_dict": "io.dicts.from_dict",
    "Stored.save": "io.save_load.save",
    "Stored.to_dict": "io.dicts.to_dict",
    "PlottedAggregation.plot": "views.aggregation.aggregation",
    "PlottedExplanation.plot": "views.explanation.explanation",
    "PlottedPath.plot": "views.path.path",
    "PlottedTable.plot": "views.distances.table",
    "Viewed.plot": "views.distances.distances",
    "Viewed.report": "views.report.page.report",
}
HOMES = {name: module for module, names in NAMES.items() for name in names}

__all__ = ["__version__", *MODULES, *HOMES]


# A name is loaded when it is first asked for. So `import bisimetric` takes no time and cannot fail, and the command can
# say in its own words what is missing.
__getattr__, __dir__ = lazy_names(__name__, HOMES, MODULES)

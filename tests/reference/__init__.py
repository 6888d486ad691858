"""Naive oracles that share no code with the library, for problems of a few states.

They solve the fixed-point equation

    V(x, y) = c(x, y) + γ · min { <π, V> : π couples P[x] and Q[y] },        V = c where the game stops,

in floats (`distances`) and in rational numbers (`exact_distances`), and what belongs to it: metrics of decision
processes (`games`), bisimilarity (`partitions`), Sinkhorn value iteration (`sinkhorn`), occupancy couplings and
Theorem 1 (`occupancies`), and the same over a finite horizon (`horizons`) and in the
long run (`averages`).
"""

from tests.reference.averages import BIAS_ERROR, exact_averages
from tests.reference.floats import bellman, distances, evaluate, transport, transports
from tests.reference.games import exact_game_distances, exact_optimal_rewards, game_distances, optimal_values
from tests.reference.horizons import exact_horizon_distances, horizon_distances
from tests.reference.occupancies import (
    conditional_entropy,
    coupling_of,
    occupancy_of,
    paid,
    relative_entropy,
    rounded_plans,
    theorem_1,
    violations,
)
from tests.reference.partitions import bisimilarity, joint_bisimilarity, matched_bisimilarity
from tests.reference.rationals import (
    GRAINS,
    exact_bisimilarity_distances,
    exact_distances,
    exact_gaps,
    exact_rewards,
    exact_transport,
    marginals,
    solve_exactly,
    vertices,
)
from tests.reference.sinkhorn import sinkhorn_rounds

__all__ = [
    "BIAS_ERROR",
    "GRAINS",
    "bellman",
    "bisimilarity",
    "conditional_entropy",
    "coupling_of",
    "distances",
    "evaluate",
    "exact_averages",
    "exact_bisimilarity_distances",
    "exact_distances",
    "exact_game_distances",
    "exact_gaps",
    "exact_horizon_distances",
    "exact_optimal_rewards",
    "exact_rewards",
    "exact_transport",
    "game_distances",
    "horizon_distances",
    "joint_bisimilarity",
    "marginals",
    "matched_bisimilarity",
    "occupancy_of",
    "optimal_values",
    "paid",
    "relative_entropy",
    "rounded_plans",
    "sinkhorn_rounds",
    "solve_exactly",
    "theorem_1",
    "transport",
    "transports",
    "vertices",
    "violations",
]

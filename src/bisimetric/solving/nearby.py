"""The distance of a problem whose neighbour is solved: few steps of policy iteration, without a certificate.

Chains that differ in their probabilities only, not in which transitions they have, have the same transport trees up
to a few pivots. From the neighbour's trees and distances V₀,

    repair      π_1(x, y) ∈ argmin { <π, V_0> }  for the new rows          (dual simplex on the neighbour's trees)
    evaluate    V_1 = c + γ π_1 V_1,    improve,    evaluate,    …          (steps of policy iteration)

the error of V_k is quadratic in that of V_{k-1}, so two steps are enough for neighbours a few per cent away. Steps end
when the distance between the starts changes by less than `NEARBY_SETTLED`; the error left is then far smaller. The
first step keeps the couplings of pairs that the neighbour hardly visits, which costs a few 1e-4 and saves half a sweep.
For the statistics of resamples that is plenty; what is reported as certified is solved by `solve`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bisimetric.certificates.starts import start_distance
from bisimetric.errors import MissingStart, ToleranceNotReached
from bisimetric.kernels.layout import Trees
from bisimetric.models.rows import Mask
from bisimetric.operators.bellman import Bellman, is_immediate
from bisimetric.operators.trees import TreeWitness
from bisimetric.problems.discounted import Problem
from bisimetric.solvers.policy_iteration import PolicyIteration
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

NEARBY_SETTLED = 1e-2  # relative change of the distance in the last step
NEARBY_TOL = 1e-4  # relative gap where no neighbour helps
MOST_NEARBY_STEPS = 8
RARELY_VISITED = 0.03  # of the time that the optimal coupling spends, at pairs whose coupling the first step keeps
FEWEST_FOCUSED = 2_000  # pairs of states, below which all are improved


@dataclass(slots=True, eq=False)
class Neighbour:
    """The trees of a solved problem, and room for those of problems near it; for one thread at a time."""

    witness: TreeWitness
    rare: Mask | None  # pairs that the optimal coupling hardly visits, so that the first step may leave them
    room: Trees | None = None


def trees_of(solution: Solution) -> Neighbour | None:
    """The trees that solve a problem, from which problems near it start; None where another method was used."""
    witness = solution._proof.witness
    if not isinstance(witness, TreeWitness):
        return None
    if solution.value.size < FEWEST_FOCUSED:
        return Neighbour(witness, None)
    occupancy = solution.coupling.occupancy()
    order = np.argsort(occupancy, axis=None)
    rare = np.zeros(occupancy.size, np.bool_)
    rare[order[np.cumsum(occupancy.ravel()[order]) <= RARELY_VISITED]] = True
    return Neighbour(witness, rare.reshape(occupancy.shape))


def nearby_distance(problem: Problem, neighbour: Neighbour | None) -> float:
    """The distance between the starts, not certified; from a neighbour with the same transitions if there is one."""
    source, target = problem.source.start, problem.target.start
    if source is None or target is None:
        raise MissingStart("a chain has no start, between which distances are; chain.with_start(state) gives it one")
    if is_immediate(problem):
        return start_distance(problem.cost, source, target)
    solver, bellman = PolicyIteration(), Bellman.of(problem)
    iterate = None
    if neighbour is not None:
        iterate = solver.resume(bellman, neighbour.witness, NEARBY_TOL, neighbour.room)
    if neighbour is None or iterate is None:
        try:
            return solve(problem, tol=NEARBY_TOL, quotient=False).distance
        except ToleranceNotReached as error:
            return float(error.solution.distance)
    neighbour.room = iterate.trees
    skip = neighbour.rare
    for _ in range(MOST_NEARBY_STEPS):
        iterate, skip = solver.step_outside(skip, bellman, iterate), None
        before = start_distance(iterate.value, source, target)
        after = start_distance(iterate.estimate(), source, target)
        if abs(after - before) <= NEARBY_SETTLED * after:
            break
    return max(after, 0.0) / bellman.scale

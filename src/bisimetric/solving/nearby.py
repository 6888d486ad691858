"""The distance of a problem whose neighbour is solved: one step of policy iteration, without a certificate.

Chains that differ in their probabilities only, not in which transitions they have, have the same transport trees up
to a few pivots. From the neighbour's trees, distances V₀ and expected visits ν of its optimal coupling,

    repair      π_1(x, y) ∈ argmin { <π, V_0> }  for the new rows          (dual simplex on the neighbour's trees)
    evaluate    V_1 = c + γ π_1 V_1,   roughly
    improve     r = T V_1 - V_1
    estimate    W = W(V_1) + <ν, r>

With the new coupling's own visits the last line would be the value of the improved coupling, whatever V_1 is. So errors
of the evaluation hardly count, and there is no second one. ν is off by about as much as the rows are, and r is small.
Where that is not so (`NEARBY_SETTLED`), evaluations and sweeps go on until the distance settles. Whether one step does
for most problems near a neighbour is tried out (`one_step_error`); if not, none is made in one.

Half of all pairs make up a few per cent of the visits. Those with `RARELY_VISITED` of them are not improved; those with
`HARDLY_VISITED` are not even repaired where that would take pivots: they keep the neighbour's coupling, and their
transport counts to first order, which is a lower bound. Together that costs a few 1e-4 of the distance and saves half
of both sweeps.

For the statistics of resamples this is plenty; what is reported as certified is solved by `solve`.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace

import numpy as np

from bisimetric._support.blocks import one_thread
from bisimetric.certificates.starts import start_distance
from bisimetric.errors import MissingStart, ToleranceNotReached
from bisimetric.kernels.layout import NEVER, Trees
from bisimetric.models.rows import Floats, Mask
from bisimetric.operators.bellman import Bellman, Sweep, is_immediate
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.trees import TreeWitness, is_compact, new_trees
from bisimetric.problems.discounted import Problem
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

NEARBY_TOL = 1e-4  # relative gap where no neighbour helps
NEARBY_SETTLED = 2e-2  # what ν and the last sweep may change, relative to the distance, if one step is to do
NEARBY_CHANGE = 1e-3  # of the distance in the last of several steps
NEARBY_ACCURACY = 0.01  # of evaluations, relative to the residual's span
NEARBY_IGNORED = 2e-3  # reduced costs below this fraction of that span do not cause pivots
MOST_NEARBY_STEPS = 8
RARELY_VISITED, HARDLY_VISITED = 0.05, 0.01  # of all visits, at pairs that are not improved; not repaired
THREADS_FROM = 30_000  # pairs of states, below which threads wait for each other longer than they work
FEWEST_FOCUSED = 2_000  # pairs of states, below which all are repaired and improved


@dataclass(slots=True, eq=False)
class Neighbour:
    """A solved problem from which others start; for one thread at a time."""

    bellman: Bellman
    value: Floats  # [n, m], distances in the operator's scale
    trees: Trees  # with their flows
    visits: Floats  # [pairs], expected and discounted, of the optimal coupling
    rare: Mask  # [n, m], pairs that are not improved; [0, 0] for none
    rough: Mask  # [n, m], pairs that are not repaired
    room: Trees  # for the trees of other problems
    one_step: bool = True  # whether one step is tried at all


def trees_of(solution: Solution) -> Neighbour | None:
    """The trees that solve a problem, from which problems near it start; None where they serve no others."""
    witness = solution._proof.witness
    if not isinstance(witness, TreeWitness):
        return None
    bellman = witness.bellman
    if not bellman.pairs.is_complete or bellman.stop.size or bellman.is_full or bellman.discount == 0.0:
        return None
    visits = solution.coupling.occupancy() / (1.0 - bellman.discount)
    rare = rough = NEVER
    if visits.size >= FEWEST_FOCUSED:
        rare, rough = (_least_visited(visits, share) for share in (RARELY_VISITED, HARDLY_VISITED))
    value = solution.value * bellman.scale
    trees, room = (new_trees(bellman, may_round=is_compact(witness.trees)) for _ in range(2))
    np.copyto(trees.code, witness.trees.code)
    bellman.repair(value, trees)  # for the flows, which solutions do not keep
    return Neighbour(bellman, value, trees, visits.ravel(), rare, rough, room)


def _least_visited(visits: Floats, share: float) -> Mask:
    """The pairs with the fewest visits, which have together this share of all."""
    order = np.argsort(visits, axis=None)
    few = np.zeros(visits.size, np.bool_)
    few[order[np.cumsum(visits.ravel()[order]) <= share * visits.sum()]] = True
    return few.reshape(visits.shape)


def nearby_distance(problem: Problem, neighbour: Neighbour | None) -> float:
    """The distance between the starts, not certified; from a neighbour with the same transitions if there is one."""
    source, target = problem.source.start, problem.target.start
    if source is None or target is None:
        raise MissingStart("a chain has no start, between which distances are; chain.with_start(state) gives it one")
    if is_immediate(problem):
        return start_distance(problem.cost, source, target)
    if neighbour is not None:
        bellman = Bellman.of(problem)
        if is_near(bellman, neighbour.bellman):
            return near_distance(bellman, neighbour)
    try:
        return solve(problem, tol=NEARBY_TOL, quotient=False).distance
    except ToleranceNotReached as error:
        return float(error.solution.distance)


def is_near(bellman: Bellman, other: Bellman) -> bool:
    """Whether the trees of one operator serve the other: all states have the same successors, and nothing stops."""
    sides = ((bellman.source, other.source), (bellman.target, other.target))
    same = all(np.array_equal(a.indptr, b.indptr) and np.array_equal(a.indices, b.indices) for a, b in sides)
    return same and not bellman.stop.size


def near_distance(bellman: Bellman, neighbour: Neighbour) -> float:
    """The distance between the starts of an operator that `is_near` the neighbour's."""
    here = _in_scale(bellman, neighbour)
    with _threads(here):
        found, error = _one_step(here, neighbour) if neighbour.one_step else (0.0, np.inf)
        if error > NEARBY_SETTLED * abs(found):
            found = _settled(here, neighbour)
    return max(found, 0.0) / here.scale


def one_step_error(bellman: Bellman, neighbour: Neighbour) -> float:
    """How far one step is off, relative to the distance after several."""
    here = _in_scale(bellman, neighbour)
    with _threads(here):
        quick, settled = _one_step(here, neighbour)[0], _settled(here, neighbour)
    return abs(quick - settled) / abs(settled) if settled else 0.0


def _in_scale(bellman: Bellman, neighbour: Neighbour) -> Bellman:
    scale = neighbour.bellman.scale
    return bellman if bellman.scale == scale else replace(bellman, scale=scale)


def _threads(bellman: Bellman) -> AbstractContextManager[None]:
    return one_thread() if bellman.pairs.size < THREADS_FROM else nullcontext()


def _one_step(bellman: Bellman, neighbour: Neighbour) -> tuple[float, float]:
    """The distance between the starts, scaled, and how far that may be off, roughly."""
    rare = neighbour.rare
    trees, swept = _repaired(bellman, neighbour, neighbour.rough)
    evaluation = Evaluation(bellman)
    moved = _evaluated(evaluation, bellman, trees, swept)
    value = bellman.plus(neighbour.value, moved)
    ignore = NEARBY_IGNORED * (swept.highest - swept.lowest)
    after = bellman.improve(value, trees, cold=False, ignore=ignore, skip=rare if rare.size else None).residual
    if rare.size:
        spent = np.empty(moved.size)
        evaluation._product(trees)(moved, spent, moved)
        after = np.where(rare.ravel(), swept.residual - spent, after)
    last = float(neighbour.visits @ after)
    found, before = _between_starts(value, bellman), _between_starts(neighbour.value, bellman)
    predicted = float(neighbour.visits @ swept.residual)
    return found + last, max(abs(last), abs(found - before - predicted))


def _settled(bellman: Bellman, neighbour: Neighbour) -> float:
    """The same after as many steps as it takes, at all pairs."""
    trees, swept = _repaired(bellman, neighbour, NEVER)
    value, evaluation, before = neighbour.value, Evaluation(bellman), np.inf
    for _ in range(MOST_NEARBY_STEPS):
        value = bellman.plus(value, _evaluated(evaluation, bellman, trees, swept))
        ignore = NEARBY_IGNORED * (swept.highest - swept.lowest)
        swept = bellman.improve(value, trees, cold=False, ignore=ignore)
        found = _between_starts(value, bellman) + float(neighbour.visits @ swept.residual)
        if abs(found - before) <= NEARBY_CHANGE * abs(found):
            break
        before = found
    return found


def _repaired(bellman: Bellman, neighbour: Neighbour, rough: Mask) -> tuple[Trees, Sweep]:
    """The neighbour's trees for the rows of this operator, and what they leave of the neighbour's distances."""
    trees = neighbour.room
    for name in ("code", "used", "target", "weight"):
        np.copyto(getattr(trees, name), getattr(neighbour.trees, name))
    return trees, bellman.repair(neighbour.value, trees, rough)


def _evaluated(evaluation: Evaluation, bellman: Bellman, trees: Trees, swept: Sweep) -> Floats:
    """How far the value of the trees' coupling is from the value that was swept, roughly."""
    target = NEARBY_ACCURACY * (swept.highest - swept.lowest)
    return evaluation.solve(trees, swept.residual, target, shift=0.5 * sum(bellman.bounds(swept))).x


def _between_starts(value: Floats, bellman: Bellman) -> float:
    source, target = bellman.starts
    assert source is not None
    assert target is not None
    return start_distance(value, source, target)

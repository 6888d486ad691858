"""Derivatives of the average cost of two chains, from a coupling and potentials that are optimal.

Let μ be the long-run shares of time from the starts, ν the expected visits to pairs before the chains reach a closed
class, (f, g) potentials of h on the closed classes and (F, G) potentials of the averages outside. By the envelope
theorem

    ∂W/∂c(x, y)   = μ(x, y)
    ∂W/∂P(x'|x)   = Σ_y μ(x, y) f_xy(x') + Σ_y ν(x, y) F_xy(x')      along changes that keep the sums of rows

and the same for the target with g and G, on the supports: a new transition may join classes, and the average jumps.

References: Danskin 1967 (envelope theorem); O'Connor, McGoff & Nobel 2022.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from bisimetric._support.frozen import frozen
from bisimetric.couplings.coupling import Coupling
from bisimetric.couplings.gradient import (
    NO_DIFFERENCE,
    Gradient,
    StartPotentials,
    by_rewards,
    on_support,
    refuse_infinite,
)
from bisimetric.couplings.occupancy import visits
from bisimetric.couplings.transport_sums import TransportSums, transport_sums
from bisimetric.couplings.witness import Potentiated
from bisimetric.models.rows import Floats, Ints, Mask
from bisimetric.operators.bellman import as_rows


def average_gradient(
    coupling: Coupling,
    closed: Potentiated,
    way: Potentiated | None,
    is_closed: Mask,
    law: Floats,
    starts: StartPotentials | None,
    lower: float,
) -> Gradient:
    """The gradient of the average from a joint law of the starts, whose lower bound is `lower`."""
    problem = coupling.problem
    moves = coupling.moves()
    share = coupling.occupancy_of(moves, law)
    rows = as_rows(problem.source.transitions), as_rows(problem.target.transitions)

    def summed(part: Potentiated, weights: Floats) -> TransportSums:
        found = transport_sums(part.witness, part.value, rows, weights, NO_DIFFERENCE * float(np.abs(part.value).max()))
        return found._replace(source=found.source / part.scale, target=found.target / part.scale)

    sums = summed(closed, np.where(is_closed, share, 0.0))
    source, target, tied = sums.source, sums.target, sums.tied
    before = _visits_outside(moves, law, is_closed)
    if way is not None and before.any():
        more = summed(way, before)
        source, target, tied = source + more.source, target + more.target, tied | more.tied
    total = float((share * problem.cost).sum())
    reward = by_rewards(problem, share)
    if reward is not None:
        tied = tied | (reward.tied & (share > 0.0))
    by_source, by_target = on_support(problem.source, source), on_support(problem.target, target)
    refuse_infinite(0.0, by_source.data, by_target.data)
    return Gradient(
        frozen(share),
        None if starts is None else starts.source,
        None if starts is None else starts.target,
        None if reward is None else reward.source,
        None if reward is None else reward.target,
        math.nan,
        max(total - lower, 0.0),
        frozen(tied),
        starts is not None and starts.tie,
        by_source,
        by_target,
    )


def free_start_potentials(
    value: Floats, classes: Ints, source: Floats | None, target: Floats | None
) -> StartPotentials:
    """The derivatives by the starts where at least one is free, so that the best one is taken.

    Averages are equal on a closed class, so only another class that is as good makes a tie.
    """
    near = NO_DIFFERENCE * float(np.abs(value).max())
    if source is None and target is None:
        recurrent = classes >= 0
        best = recurrent & (value <= value[recurrent].min() + near)
        return StartPotentials(None, None, len(np.unique(classes[best])) > 1)
    law = source if source is not None else target
    assert law is not None
    states = np.flatnonzero(law)
    averages, kinds = (value, classes) if source is not None else (value.T, classes.T)
    nearest = averages.min(axis=1)
    slope = frozen(nearest - nearest[states].mean())
    best, kinds = averages[states] <= nearest[states, None] + near, kinds[states]
    first = kinds[np.arange(len(states)), best.argmax(axis=1)]
    others = best & (kinds != first[:, None])
    several = (first < 0) & (best.sum(axis=1) > 1)  # pairs that are not recurrent have averages of their own
    tie = bool(others.any() or several.any())
    return StartPotentials(slope, None, tie) if source is not None else StartPotentials(None, slope, tie)


def _visits_outside(moves: sparse.csr_array, law: Floats, is_closed: Mask) -> Floats:
    """[n, m], how often pairs outside the closed classes are visited."""
    outside = ~is_closed
    if not law[outside].any():
        return np.zeros(law.shape)
    before = sparse.csr_array(sparse.diags_array(outside.ravel().astype(np.float64)) @ moves)
    before.eliminate_zeros()
    found = visits(before, law.ravel(), 1.0, closed=False)
    return np.where(outside, found.reshape(law.shape), 0.0)

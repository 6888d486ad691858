"""The most likely way on which two coupled chains part over a finite horizon.

As in `couplings/parting`, but moves, costs and distances are those of their time. A way to a pair that costs something
at its time, and before which nothing is paid, has the weight

    w = γᵏ · b(p0) · Π_0(p0, p1) ··· Π_{k-1}(p(k-1), p(k)),        W = Σ w · V_k(p(k)).

The heaviest one is found forwards, time by time: for every pair the largest weight of a way to it, and where that came
from. It ends at the horizon, or when no pair is left that has cost nothing.

Reference: Viterbi 1967.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bisimetric.couplings.joint_walk import JointWalk
from bisimetric.couplings.parting import (
    EQUALLY_LONG,
    MOVES_AFTERWARDS,
    NEXT_TO_NOTHING,
    JointPath,
    Moment,
    difference_at,
)
from bisimetric.couplings.timed import HorizonCoupling
from bisimetric.models.rows import Floats, Ints, Mask


class _End(NamedTuple):
    """Where the heaviest way so far ends."""

    weight: float  # logarithm
    time: int
    pair: int  # flat


class _Reached(NamedTuple):
    """The pairs at one time, before anything was paid."""

    before: Ints  # [n·m], the pair that the heaviest way came from
    chance: Floats  # [n·m], of that move


def timed_parting(coupling: HorizonCoupling, walk: JointWalk, distance: float) -> JointPath:
    """The way with the largest weight to a pair that costs something, and how the two go on."""
    problem = coupling.problem
    paid = [*problem.costs, problem.terminal]
    nothing = NEXT_TO_NOTHING * max(float(cost.max()) for cost in paid)
    law, m = walk.law.ravel(), problem.shape[1]
    with np.errstate(divide="ignore"):
        weight = np.log(law)
    reached: list[_Reached] = []
    best: _End | None = None
    for time, cost in enumerate(paid):
        costly = (cost.ravel() > nothing) & (weight > -np.inf)
        if costly.any():
            here = np.where(costly, weight, -np.inf)
            if best is None or here.max() > best.weight + EQUALLY_LONG:
                pair = int(np.argmax(here >= here.max() - EQUALLY_LONG))
                best = _End(float(here[pair]), time, pair)
        going = (weight > -np.inf) & ~costly
        if time == problem.horizon or not going.any() or problem.discount == 0.0:
            break
        if best is not None and float(weight[going].max()) <= best.weight + EQUALLY_LONG:
            break  # weights only fall
        weight, step = _moved(coupling, time, weight, going)
        reached.append(step)
    start = int(np.argmax(law >= law.max())) if best is None else best.pair
    way, chances = _backwards(reached[: 0 if best is None else best.time], start)
    chances = [float(law[way[0]]), *chances]
    probability = math.prod(chances)
    value = _values(coupling)
    amount = 0.0
    if best is not None:
        amount = problem.discount**best.time * probability * float(value(best.time).ravel()[best.pair])
    _go_on(coupling, way, chances)
    moments = tuple(
        Moment(divmod(pair, m), *walk.names(*divmod(pair, m)), chance, float(paid[time].ravel()[pair]), distance_then)
        for time, (pair, chance) in enumerate(zip(way, chances, strict=True))
        for distance_then in [float(value(time).ravel()[pair])]
    )
    parting = None if best is None else best.time
    said = "" if parting is None else difference_at(walk, moments[parting])
    share = min(amount / distance, 1.0) if distance else 0.0
    return JointPath(moments, parting, probability, amount, share, said, walk.models)


def _values(coupling: HorizonCoupling) -> Callable[[int], Floats]:
    return lambda time: coupling.value_at(time) / coupling.scale


def _moved(coupling: HorizonCoupling, time: int, weight: Floats, going: Mask) -> tuple[Floats, _Reached]:
    """The largest weights one step later, and where they came from; of equal ones the first pair."""
    size = len(weight)
    moves = coupling.moves(time, going.reshape(coupling.problem.shape))
    held = moves.weight > 0.0
    origin, successor, chance = moves.origin[held], moves.successor[held], moves.weight[held]
    after = weight[origin] + np.log(chance) + math.log(coupling.problem.discount)
    order = np.lexsort((origin, -after, successor))
    heads, first = np.unique(successor[order], return_index=True)
    chosen = order[first]
    later, before, probability = np.full(size, -np.inf), np.full(size, -1), np.zeros(size)
    later[heads], before[heads], probability[heads] = after[chosen], origin[chosen], chance[chosen]
    return later, _Reached(before, probability)


def _backwards(reached: list[_Reached], pair: int) -> tuple[list[int], list[float]]:
    """The way to a pair, from the start on, and the probabilities of its moves."""
    way, chances = [pair], []
    for step in reversed(reached):
        chances.append(float(step.chance[way[-1]]))
        way.append(int(step.before[way[-1]]))
    return way[::-1], chances[::-1]


def _go_on(coupling: HorizonCoupling, way: list[int], chances: list[float]) -> None:
    """Append the most likely moves after the way, a few of them, up to the horizon."""
    for _ in range(MOVES_AFTERWARDS):
        time = len(way) - 1
        if time == coupling.problem.horizon:
            break
        pairs = np.zeros(coupling.problem.shape, np.bool_)
        pairs.ravel()[way[-1]] = True
        moves = coupling.moves(time, pairs)
        k = int(np.argmax(moves.weight))
        if int(moves.successor[k]) == way[-1]:
            break  # they stay there, most likely
        way.append(int(moves.successor[k]))
        chances.append(float(moves.weight[k]))

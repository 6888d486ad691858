"""Two ways down from a clustering: states change clusters one at a time, then all numbers of the small chain move.

Moves of states between clusters go first. The derivatives at the small chain of a clustering predict how its distance
changes when a state moves, and the moves that promise most are tried until one helps:

    W(Q', r', ν') - W(Q, r̂, ν̂)  ≈  <∂W/∂Q, Q' - Q> + <∂W/∂ν̂, ν' - ν̂>          (rewards change rarely: medians)

It ends when none of the most promising moves helps. Then Adam descends over logits of all laws and over the rewards: W
has kinks where optimal couplings change, so steps have about the same size in all coordinates, shrink to nothing and
need no line search. Each stage starts from the best chain of the one before, with smaller steps.

Reference: Kingma & Ba 2015.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from bisimetric.learning.small import Objective, SmallChain
from bisimetric.learning.starts import Clusters, weighted_medians
from bisimetric.models.partition import Classes
from bisimetric.models.rows import Floats

KEEP, KEEP_SQUARE = 0.9, 0.99  # Adam's memory of derivatives and of their squares
NOT_ZERO = 1e-12  # added to Adam's divisors
REWARD_STEP = 0.1  # steps of rewards, in ranges of the rewards, for a step of 1 in logits
BARELY = 1e-7  # share of a law spread evenly, so that derivatives are known where a clustering has zeros
MOST_TRIED = 25  # of the moves that promise most; if none helps the search ends
HELPS = 1e-6  # relative gain of a move that counts
SPECK = 1e-3  # probabilities below this are tried without

Tell = Callable[[float], None]  # called with the distance of every chain that is tried


class Stage(NamedTuple):
    """How a part of a descent goes."""

    length: float  # of its first steps, in logits
    spread: float  # share of each law that is spread evenly before it, so that no logit is infinite


STAGES = (Stage(0.1, 1e-3), Stage(0.03, 1e-4), Stage(0.01, 1e-6))


class Reached(NamedTuple):
    """Where a search has got to."""

    distance: float
    small: SmallChain


def better_clusters(objective: Objective, clusters: Clusters, first: Classes, solves: int, tell: Tell) -> Classes:
    """A clustering that no single move improves much, or the best one after so many solves."""
    current, left = first, solves
    while left > 0:
        slopes = objective.slopes(clusters.small_chain(current).spread(BARELY))
        tell(slopes.distance)
        left -= 1
        for state, cluster in clusters.moves(current, slopes.laws)[:MOST_TRIED]:
            if left <= 0:
                return current
            other = current.copy()
            other[state] = cluster
            distance = objective.distance(clusters.small_chain(other))
            tell(distance)
            left -= 1
            if distance < slopes.distance * (1.0 - HELPS):
                current = other
                break
        else:
            return current
    return current


def descend(objective: Objective, begin: Reached, stage: Stage, steps: int, tell: Tell) -> Reached:
    """Adam with steps that shrink linearly; the closest chain that it met, that at which it began included."""
    best, small = begin, begin.small
    k, unit = len(small.reward), objective.unit
    cut = k * (k + 1)
    sizes = np.full(cut + k, stage.length)
    sizes[cut:] *= REWARD_STEP
    point = np.concatenate([np.log(small.spread(stage.spread).laws).ravel(), small.reward / unit])
    mean, square = np.zeros(point.size), np.zeros(point.size)
    for step in range(1, steps + 1):
        here = SmallChain(_softmax(point[:cut].reshape(k + 1, k)), point[cut:] * unit)
        slopes = objective.slopes(here)
        tell(slopes.distance)
        if slopes.distance < best.distance:
            best = Reached(slopes.distance, here)
        by_logits = here.laws * (slopes.laws - (here.laws * slopes.laws).sum(axis=1, keepdims=True)) / unit
        slope = np.concatenate([by_logits.ravel(), slopes.reward])
        mean = KEEP * mean + (1.0 - KEEP) * slope
        square = KEEP_SQUARE * square + (1.0 - KEEP_SQUARE) * slope * slope
        size = np.sqrt(square / (1.0 - KEEP_SQUARE**step)) + NOT_ZERO
        point = point - sizes * (1.0 - step / (steps + 1)) * mean / (1.0 - KEEP**step) / size
    return best


def polish(objective: Objective, reward: Floats, small: SmallChain, tell: Tell) -> None:
    """Try a chain without tiny probabilities, and with medians of the rewards [n] met under its coupling."""
    specks = small.laws < SPECK
    specks[np.arange(len(specks)), small.laws.argmax(axis=1)] = False
    for one in (small, small.without(specks)):
        slopes = objective.slopes(one)
        tell(slopes.distance)
        tell(objective.distance(one._replace(reward=weighted_medians(reward, slopes.visits))))


def _softmax(logits: Floats) -> Floats:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))

"""A smaller chain that behaves nearly like a given one, with a guarantee.

Let d be the bisimulation metric of the chain: the distance with the cost (1-γ)|r - r'|. States are merged by
complete linkage, which keeps the largest d inside a cluster as small as it greedily can, until the next merger would
exceed `epsilon` or until `n_states` clusters are left. The small chain has the mean row and the mean reward of each
cluster, whose certified distance to the original is then computed: d(s, t) between a state s of one chain and t of the
other. With v = r + γ P v the discounted sum of rewards,

    (1-γ)·|v(s) - v̂(t)|  ≤  d(s, t),

because v(s) - v̂(t) = E Σ γᵏ (r - r̂) under any coupling of the two chains, so its size is at most the coupling's cost.
Hence both bounds below, which hold whatever the clusters are.

References: Ferns, Panangaden & Precup 2004; Müllner 2011 (the linkage).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._chain import Label, MarkovChain
from bisimetric._errors import InvalidChain, InvalidOption
from bisimetric._partition import Classes, first_states, numbered
from bisimetric._problem import Problem
from bisimetric._solve import solve
from bisimetric._stochastic import Floats, frozen

ROUNDINGS = 1.0 + 2.0**-50  # four of them, outwards


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation:
    """A small model, the small state of every state, and how far the two models are apart at most."""

    model: MarkovChain
    map: Classes = field(repr=False)  # [n]
    distance_bound: float  # d(s, map[s]) is at most this for every s; d with the factor 1-γ
    value_bound: float  # |v(s) - v̂(map[s])| is at most this for every s

    def __repr__(self) -> str:
        return (
            f"Aggregation({len(self.map)} -> {self.model.n_states} states, "
            f"distance at most {self.distance_bound:.3g}, values within {self.value_bound:.3g})"
        )


def aggregate(
    model: MarkovChain, *, epsilon: float | None = None, n_states: int | None = None, discount: float
) -> Aggregation:
    """Merge states that are within `epsilon` of one another in the bisimulation metric, or down to `n_states` states.

    A cluster has the name of its first state; labels are kept if no cluster mixes them.

    >>> import bisimetric as bm
    >>> rooms = bm.environments.four_rooms(side=8)
    >>> bm.aggregate(rooms, epsilon=0.01, discount=0.9).model.n_states < rooms.n_states
    True
    """
    if not isinstance(model, MarkovChain):
        raise InvalidChain(f"model is a {type(model).__name__}, expected a MarkovChain; as_chain(...) makes one")
    if model.reward is None:
        raise InvalidChain("the chain has no reward, by which states are compared; give it one: reward=...")
    if (epsilon is None) == (n_states is None):
        given = "neither" if epsilon is None else "both"
        raise InvalidOption(f"{given} of epsilon and n_states given, expected one: how close, or how many")
    if epsilon is not None:
        _check_epsilon(epsilon)
    if n_states is not None:
        _check_n_states(n_states, model.n_states)
    itself = solve(Problem(model, model, discount=discount, normalised=True))
    clusters = _clusters(np.minimum(itself.upper, itself.upper.T), epsilon, n_states)
    small = _mean_chain(model, clusters)
    between = solve(Problem(model, small, discount=discount, normalised=True))
    distance = _outwards(float(between.upper[np.arange(model.n_states), clusters].max()))
    return Aggregation(small, clusters, distance, _outwards(distance / (1.0 - between.problem.discount)))


def _outwards(bound: float) -> float:
    """A little more, for the roundings of the cost, of 1-γ and of a division; a zero is exact."""
    return math.nextafter(bound * ROUNDINGS, math.inf) if bound > 0.0 else 0.0


def _check_epsilon(epsilon: object) -> None:
    number = isinstance(epsilon, (int, float, np.floating, np.integer)) and not isinstance(epsilon, bool)
    if not number or not 0.0 <= float(epsilon) < math.inf:  # type: ignore[arg-type]
        raise InvalidOption(f"epsilon is {epsilon!r}, expected a number ≥ 0: the largest distance inside a cluster")


def _check_n_states(n_states: object, most: int) -> None:
    whole = isinstance(n_states, (int, np.integer)) and not isinstance(n_states, bool)
    if not whole or not 1 <= int(n_states) <= most:  # type: ignore[call-overload]
        raise InvalidOption(f"n_states is {n_states!r}, expected a whole number from 1 to {most}, as the chain has")


def _clusters(distances: Floats, epsilon: float | None, n_states: int | None) -> Classes:
    """Clusters by complete linkage: no distance inside one is above `epsilon`, or there are `n_states` of them."""
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    n = len(distances)
    if n == 1:
        return np.zeros(1, np.int64)
    np.fill_diagonal(distances, 0.0)
    mergers = linkage(squareform(distances, checks=False), method="complete")
    count = n - n_states if n_states is not None else int(np.count_nonzero(mergers[:, 2] <= epsilon))
    return numbered(_merged(mergers[:count, :2].astype(np.int64), n))


def _merged(mergers: npt.NDArray[np.int64], n: int) -> npt.NDArray[Any]:
    """The cluster of every state after these mergers; number k joins two clusters into number n + k."""
    parent = np.arange(n + len(mergers))
    for k, joined in enumerate(mergers):
        parent[joined] = n + k
    for cluster in range(len(parent) - 1, -1, -1):  # a parent has the larger number, so it is final already
        parent[cluster] = parent[parent[cluster]]
    return np.unique(parent[:n], return_inverse=True)[1]


def _mean_chain(chain: MarkovChain, clusters: Classes) -> MarkovChain:
    assert chain.reward is not None
    first = first_states(clusters)
    size = len(first)
    share = (1.0 / np.bincount(clusters))[clusters]
    states = np.arange(chain.n_states)
    weights = sparse.csr_array((share, (clusters, states)), shape=(size, chain.n_states))
    members = sparse.csr_array((np.ones(chain.n_states), (states, clusters)), shape=(chain.n_states, size))
    reward = _mean_reward(chain.reward, clusters, share)
    small = MarkovChain.normalised(
        weights @ chain.transitions @ members,
        reward=reward,
        start=None if chain.start is None else np.bincount(clusters, weights=chain.start, minlength=size),
        names=None if chain.names is None else [chain.names[state] for state in first],
        labels=_pure_labels(chain.labels, clusters, first),
    )
    # The mean is this chain's own; that it was rounded is no error of anything.
    object.__setattr__(small, "row_error", frozen(np.zeros(size)))
    return small


def _mean_reward(reward: Floats, clusters: Classes, share: Floats) -> Floats:
    mean = np.bincount(clusters, weights=reward * share)
    lowest, highest = np.full(len(mean), np.inf), np.full(len(mean), -np.inf)
    np.minimum.at(lowest, clusters, reward)
    np.maximum.at(highest, clusters, reward)
    return np.clip(mean, lowest, highest)  # exact where all rewards are equal


def _pure_labels(
    labels: tuple[Label, ...] | None, clusters: Classes, first: npt.NDArray[np.int64]
) -> list[Label] | None:
    if labels is None or any(labels[first[k]] != label for k, label in zip(clusters, labels, strict=True)):
        return None
    return [labels[state] for state in first]

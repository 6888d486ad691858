"""Small chains that a descent of `reduce` begins with: means over clusters of states, for several clusterings.

`aggregate` keeps the farthest states of a cluster close, whether the chain gets there or not. Here states count by the
time that the chain spends in them: clusters around weighted medoids, spread by k-means++ and improved by turns.

References: Arthur & Vassilvitskii 2007; Park & Jun 2009.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bisimetric.bisimulation.aggregation import aggregate
from bisimetric.bisimulation.metric import bisimulation_metric
from bisimetric.models.chain import MarkovChain
from bisimetric.models.partition import Classes, renumber
from bisimetric.models.rows import Floats

HARDLY_EVER = 1e-12  # added to the share of time in each state, so that none counts for nothing
MEDOID_TURNS = 20  # of the improvement of medoids, at most


def small_chains(
    chain: MarkovChain, n_states: int, gamma: float, random: np.random.Generator
) -> Iterator[tuple[MarkovChain, bool]]:
    """Chains to begin with, without end, and whether that one came before: `aggregate`'s, with plain means, first."""
    merged = aggregate(chain, n_states=n_states, discount=gamma)
    yield started(merged.model, merged.map, chain), False
    weight = time_spent(chain, gamma)
    yield weighted_means(chain, merged.map, n_states, weight), False
    seen = {renumber(merged.map).tobytes()}
    distances = bisimulation_metric(chain, discount=gamma).value
    while True:
        clusters = medoid_clusters(distances, weight, n_states, random)
        yield weighted_means(chain, clusters, n_states, weight), clusters.tobytes() in seen
        seen.add(clusters.tobytes())


def time_spent(chain: MarkovChain, gamma: float) -> Floats:
    """The discounted share of time in every state, from the start; a little more than nothing everywhere."""
    rows = chain.transitions.toarray()
    share = np.linalg.solve(np.eye(len(rows)) - gamma * rows.T, (1.0 - gamma) * np.asarray(chain.start))
    return np.asarray(np.maximum(share, 0.0) + HARDLY_EVER)


def medoid_clusters(distances: Floats, weight: Floats, count: int, random: np.random.Generator) -> Classes:
    """Clusters of the states nearest to each of `count` medoids; random ones, of which there are many."""
    medoids: list[int] = []
    near = np.ones(len(weight))
    for _ in range(count):
        chance = weight * near
        chance[medoids] = 0.0
        if not chance.sum() > 0.0:  # what is left is at distance 0 of a medoid
            chance = weight.copy()
            chance[medoids] = 0.0
        medoids.append(int(random.choice(len(weight), p=chance / chance.sum())))
        near = distances[:, medoids].min(axis=1) / (distances.max() or 1.0)
    for _ in range(MEDOID_TURNS):
        clusters = _nearest(distances, medoids)
        members = [np.flatnonzero(clusters == k) for k in range(count)]
        improved = [int(states[(weight[states] @ distances[np.ix_(states, states)]).argmin()]) for states in members]
        if improved == medoids:
            break
        medoids = improved
    return renumber(_nearest(distances, medoids))


def _nearest(distances: Floats, medoids: list[int]) -> Classes:
    """The cluster of every state; a medoid is in its own."""
    clusters: Classes = distances[:, medoids].argmin(axis=1)
    clusters[medoids] = np.arange(len(medoids))
    return clusters


def started(small: MarkovChain, clusters: Classes, chain: MarkovChain) -> MarkovChain:
    """A chain of clusters with the start of the original."""
    assert chain.start is not None
    return small.with_start(np.bincount(clusters, chain.start, small.n_states))


def weighted_means(chain: MarkovChain, clusters: Classes, size: int, weight: Floats) -> MarkovChain:
    """Like the small chain of `aggregate`, with weighted means over the states of each cluster."""
    assert chain.reward is not None
    joined = np.zeros((chain.n_states, size))
    joined[np.arange(chain.n_states), clusters] = 1.0
    share = joined * weight[:, None]
    share /= share.sum(axis=0)
    means = MarkovChain.normalised(share.T @ (chain.transitions @ joined), reward=share.T @ chain.reward)
    return started(means, clusters, chain)

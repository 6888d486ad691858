"""Clusters of states, and the small model that has the means of each.

Complete linkage merges, again and again, the two clusters whose farthest members are closest, so the heights of the
mergers never fall. It stops at the caller's limit.

    P̂(C, D) = mean over s ∈ C of Σ_{t ∈ D} P(s, t),        r̂(C) = mean over s ∈ C of r(s)

Reference: Müllner 2011.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import changed
from bisimetric.models.chain import Label, MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.partition import Classes, first_states, renumber
from bisimetric.models.rows import Floats


def cluster_states(distances: Floats, kinds: Classes, epsilon: float | None, n_states: int | None) -> Classes:
    """The cluster of every state: no distance inside one is above `epsilon`, or there are `n_states` clusters.

    States of different kinds are never in one cluster. `distances` is overwritten; it is finite when doubled.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    n = len(distances)
    if n == 1:
        return np.zeros(1, np.int64)
    far = 2.0 * float(distances.max()) or 1.0  # different kinds are joined last
    distances[kinds[:, None] != kinds] = far
    np.fill_diagonal(distances, 0.0)
    mergers = linkage(squareform(distances, checks=False), method="complete")
    if n_states is not None:
        count = n - n_states
    else:
        count = int(np.count_nonzero((mergers[:, 2] <= epsilon) & (mergers[:, 2] < far)))
    return renumber(_clusters_after(mergers[:count, :2].astype(np.int64), n))


def _clusters_after(mergers: npt.NDArray[np.int64], n: int) -> npt.NDArray[Any]:
    """The cluster of every state after these mergers; number k joins two clusters into number n + k."""
    parent = np.arange(n + len(mergers))
    for k, joined in enumerate(mergers):
        parent[joined] = n + k
    for cluster in range(len(parent) - 1, -1, -1):  # a parent has a larger number, so its entry is final
        parent[cluster] = parent[parent[cluster]]
    return np.unique(parent[:n], return_inverse=True)[1]


def mean_chain(chain: MarkovChain, clusters: Classes) -> MarkovChain:
    """The chain with the mean row and reward of every cluster, named by its first state; labels if none are mixed."""
    assert chain.reward is not None
    first = first_states(clusters)
    small = MarkovChain.normalised(
        _mean_rows(chain.transitions, clusters),
        reward=_mean_reward(chain.reward, clusters),
        start=_sum_start(chain.start, clusters),
        names=None if chain.names is None else [chain.names[state] for state in first],
        labels=_pure_labels(chain.labels, clusters, first),
    )
    # The rounded mean defines this chain, so its rows have no error.
    return changed(small, row_error=np.zeros(small.n_states))


def mean_mdp(mdp: MDP, clusters: Classes) -> MDP:
    """The same for a decision process, action by action; all states of a cluster have the same actions."""
    first = first_states(clusters)
    small = MDP(
        [_mean_rows(matrix, clusters) for matrix in mdp.transitions],
        np.stack([_mean_reward(reward, clusters) for reward in mdp.rewards.T], axis=1),
        start=_sum_start(mdp.start, clusters),
        names=None if mdp.names is None else [mdp.names[state] for state in first],
        actions=mdp.actions,
        available=mdp.available[first],
        labels=_pure_labels(mdp.labels, clusters, first),
    )
    return changed(small, row_error=np.zeros(small.rewards.shape))


def _mean_rows(rows: sparse.csr_array, clusters: Classes) -> sparse.csr_array:
    n, size = len(clusters), int(clusters.max()) + 1
    states = np.arange(n)
    weights = sparse.csr_array((_share(clusters), (clusters, states)), shape=(size, n))
    return weights @ rows @ sparse.csr_array((np.ones(n), (states, clusters)), shape=(n, size))


def _mean_reward(reward: Floats, clusters: Classes) -> Floats:
    mean = np.bincount(clusters, weights=reward * _share(clusters))
    lowest, highest = np.full(len(mean), np.inf), np.full(len(mean), -np.inf)
    np.minimum.at(lowest, clusters, reward)
    np.maximum.at(highest, clusters, reward)
    return np.clip(mean, lowest, highest)  # exact where all rewards are equal


def _share(clusters: Classes) -> Floats:
    """[n], one over the size of the cluster."""
    share: Floats = (1.0 / np.bincount(clusters))[clusters]
    return share


def _sum_start(start: Floats | None, clusters: Classes) -> Floats | None:
    return None if start is None else np.asarray(np.bincount(clusters, weights=start), np.float64)


def _pure_labels(
    labels: tuple[Label, ...] | None, clusters: Classes, first: npt.NDArray[np.int64]
) -> list[Label] | None:
    if labels is None or any(labels[first[k]] != label for k, label in zip(clusters, labels, strict=True)):
        return None
    return [labels[state] for state in first]

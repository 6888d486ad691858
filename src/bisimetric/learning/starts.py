"""Small chains that a descent of `reduce` begins with: means over clusters of states, for several clusterings.

`aggregate` keeps the farthest states of a cluster close, whether the chain gets there or not. Here states count by the
time that the chain spends in them: clusters around weighted medoids, spread by k-means++ and improved by turns. Rows
are weighted means over the clusters, rewards weighted medians, which cost less than means.

References: Arthur & Vassilvitskii 2007; Park & Jun 2009.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from bisimetric.learning.small import SmallChain
from bisimetric.models.chain import MarkovChain
from bisimetric.models.partition import Classes, renumber
from bisimetric.models.rows import Floats

HARDLY_EVER = 1e-12  # added to the share of time in each state, so that none counts for nothing
MEDOID_TURNS = 20  # of the improvement of medoids, at most
POWERS = (1.0, 0.5)  # of the time spent, by which states count, in turn: the smaller one also sees rare states


class Clusters:
    """The small chains of clusterings of a chain's states into `size` clusters."""

    def __init__(self, chain: MarkovChain, size: int, discount: float) -> None:
        assert chain.reward is not None
        assert chain.start is not None
        self.size, self.weight = size, time_spent(chain, discount)
        self._rows, self._reward, self._start = chain.transitions, chain.reward, chain.start

    def small_chain(self, clusters: Classes) -> SmallChain:
        """The weighted mean of the rows and the weighted median of the rewards of every cluster."""
        n = len(self.weight)
        joined = np.zeros((n, self.size))
        joined[np.arange(n), clusters] = 1.0
        share = joined * self.weight[:, None]
        share /= share.sum(axis=0)
        laws = np.vstack([share.T @ (self._rows @ joined), self._start @ joined])
        return SmallChain(laws / laws.sum(axis=1, keepdims=True), weighted_medians(self._reward, share))

    def moves(self, clusters: Classes, slopes: Floats) -> list[tuple[int, int]]:
        """All states and clusters that they may move to, by what the derivatives [k + 1, k] of the laws predict."""
        n, k = len(self.weight), self.size
        gain = self._predicted(clusters, slopes)
        gain[np.arange(n), clusters] = np.inf
        gain[np.bincount(clusters, minlength=k)[clusters] == 1] = np.inf  # no cluster may become empty
        order = np.argsort(gain, axis=None, kind="stable")[: int(np.isfinite(gain).sum())]
        return [divmod(int(flat), k) for flat in order]

    def _predicted(self, clusters: Classes, slopes: Floats) -> Floats:
        """[n, k], the change of <slopes, laws> when a state moves to another cluster, with the rewards left alone.

        The row of a cluster is its flow over its mass, so its share is <slopes, flow> / mass. The state takes its mass
        and flow along; what flows into it is redirected from the cluster that it leaves to the one that it joins.
        """
        n, k = len(self.weight), self.size
        states, weight = np.arange(n), self.weight[:, None]
        joined = np.zeros((n, k))
        joined[states, clusters] = 1.0
        flow = sparse.csr_array(self._rows.multiply(weight))
        out, into = flow @ joined, flow.T @ joined  # [n, k], of every state to and from every cluster
        stay, mass = flow.diagonal()[:, None], self.weight @ joined
        by_rows, by_start = slopes[:-1], slopes[-1]
        share, sent = (by_rows * (joined.T @ out)).sum(axis=1), out @ by_rows.T
        rise = by_rows[:, None, :] - by_rows[:, :, None]  # [row, from, to], for flow that is redirected
        left, joins = rise[clusters, clusters], rise[np.arange(k), clusters[:, None], np.arange(k)]  # [n, to]
        toward = (into / mass) @ by_rows
        change = toward - toward[states, clusters][:, None]  # as if no cluster changed its members
        mine = (states, clusters)
        before = (share[clusters] + into[mine] * left.T).T / mass[clusters][:, None]
        after = (share[clusters] - sent[mine])[:, None] + (into[mine][:, None] - stay) * left
        change += after / np.maximum(mass[clusters][:, None] - weight, HARDLY_EVER) - before
        change += (share + sent + (into + stay) * joins) / (mass + weight) - (share + into * joins) / mass
        return np.asarray(change + self._start[:, None] * (by_start - by_start[clusters][:, None]))

    def random(self, distances: Floats, random: np.random.Generator) -> Iterator[Classes]:
        """Clusters around random medoids, without end; `distances` [n, n] between the states."""
        while True:
            for power in POWERS:
                yield medoid_clusters(distances, self.weight**power, self.size, random)


def time_spent(chain: MarkovChain, gamma: float) -> Floats:
    """The discounted share of time in every state, from the start; a little more than nothing everywhere."""
    rows = chain.transitions.toarray()
    share = np.linalg.solve(np.eye(len(rows)) - gamma * rows.T, (1.0 - gamma) * np.asarray(chain.start))
    return np.asarray(np.maximum(share, 0.0) + HARDLY_EVER)


def weighted_medians(values: Floats, weight: Floats) -> Floats:
    """[k], a median of the values [n] under each column of the weights [n, k]."""
    order = np.argsort(values, kind="stable")
    mass = np.cumsum(weight[order], axis=0)
    return np.asarray(values[order][(mass >= 0.5 * mass[-1]).argmax(axis=0)])


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

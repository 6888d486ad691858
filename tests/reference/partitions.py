"""Bisimilarity: the coarsest stable partition, in rational numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def bisimilarity(matrix, groups):
    """The coarsest stable partition that refines `groups`, numbered by first states: exact sums, until nothing changes.

    `matrix` is [n, n], or [n, actions, n] for several rows per state.
    """
    rows = np.asarray(matrix)
    rows = rows[:, None, :] if rows.ndim == 2 else rows
    classes = _by_first(list(groups))
    while True:
        signatures = [
            (classes[s], *(tuple(_sums(row, classes)) for row in rows[s]))  # hashable: Fractions
            for s in range(len(rows))
        ]
        after = _by_first(signatures)
        if after == classes:
            return classes
        classes = after


def matched_bisimilarity(mdp, groups):
    """The same for a decision process whose actions match whatever they are called: sets of rewards and sums."""
    rows = [matrix.toarray() for matrix in mdp.transitions]
    classes = _by_first(list(groups))
    while True:
        signatures = [
            (
                classes[s],
                frozenset(
                    (float(mdp.rewards[s, a]), tuple(_sums(rows[a][s], classes)))
                    for a in range(mdp.n_actions)
                    if mdp.available[s, a]
                ),
            )
            for s in range(mdp.n_states)
        ]
        after = _by_first(signatures)
        if after == classes:
            return classes
        classes = after


def joint_bisimilarity(source, target):
    """[n, m], which states of two chains are bisimilar, by their labels alone."""
    P, Q = source.transitions.toarray(), target.transitions.toarray()
    union = np.block([[P, np.zeros((len(P), len(Q)))], [np.zeros((len(Q), len(P))), Q]])
    classes = np.array(bisimilarity(union, [*source.labels, *target.labels]))
    return np.equal.outer(classes[: len(P)], classes[len(P) :])


def _sums(row, classes):
    total = [Fraction(0)] * (max(classes) + 1)
    for state, p in enumerate(row):
        total[classes[state]] += Fraction(float(p))
    return total


def _by_first(keys):
    number: dict[object, int] = {}
    return [number.setdefault(key, len(number)) for key in keys]

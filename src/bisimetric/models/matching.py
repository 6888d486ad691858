"""Partitions of the states of a decision process whose choices match, whatever they are called.

    s ~ t   ⇒   same group, and for every choice of s there is one of t, and the other way round, with the same reward
                and the same probability of every class

This is the strong bisimulation of Segala and Lynch (1995), without combined choices, and the one that model checkers
compute. Sets of distributions are compared instead of distributions under the same action, so kernels/refinement does
not fit. Here, choices are numbered by reward and lumped distribution (their *class*), and states by the set of classes
of their choices, in turns, until nothing splits.

When a class of states splits, all parts but the largest get new numbers, and only choices that reach one of those
states are looked at again. So a choice is looked at O(log n) times per successor. Probabilities are equal when the
sorted probabilities with which choices of one class enter a class of states have no gap above `tol`. As equality with a
tolerance depends on the order of splits, a last round looks at all choices, until it splits nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import sparse

from bisimetric.models.lumping import summed_rows
from bisimetric.models.mdp import MDP
from bisimetric.models.partition import Classes, equal_numbers, renumber
from bisimetric.models.rows import Floats, Ints


class Choices(NamedTuple):
    """The available actions of all states, state by state."""

    state: Ints  # [choices], ascending
    action: Ints  # [choices]
    rows: sparse.csr_array  # [choices, n]


class Matching(NamedTuple):
    """A partition of states, and one of their choices."""

    states: Classes  # [n]
    choices: Classes  # [choices]


def choices_of(mdp: MDP) -> Choices:
    """The available actions of every state, with their rows."""
    state, action = np.nonzero(mdp.available)
    stacked = sparse.vstack(mdp.transitions, format="csr")
    return Choices(state, action, stacked[action * mdp.n_states + state])


def match(choices: Choices, rewards: Floats, initial: Classes, tol: float) -> Matching:
    """The coarsest partition that refines `initial` and in which the choices of the states of a class match."""
    n_choices = len(choices.state)
    reaching = sparse.csc_array(choices.rows)  # column s: the choices that reach state s
    begin = np.searchsorted(choices.state, np.arange(len(initial) + 1)).tolist()  # of the choices of each state
    classes, kinds = _Partition(renumber(initial)), _Partition(equal_numbers(rewards))
    waiting, is_last_round = np.arange(n_choices), False
    while len(waiting):
        kinds.split(waiting, _signatures(choices.rows[waiting], classes.part, kinds.part[waiting], tol))
        touched = np.unique(choices.state[waiting])
        changed = classes.split(
            touched, [frozenset(kinds.part[begin[s] : begin[s + 1]].tolist()) for s in touched.tolist()]
        )
        waiting = _sources(reaching, changed, tol)
        if len(changed):
            is_last_round = False
        if not len(waiting) and not is_last_round:
            waiting, is_last_round = np.arange(n_choices), True
    return Matching(*(renumber(np.unique(found.part, return_inverse=True)[1]) for found in (classes, kinds)))


class _Partition:
    """Numbered parts of a set; those that split off get new numbers."""

    def __init__(self, part: Classes) -> None:
        self.part = part.astype(np.int64)  # of every member
        self.members: list[set[int]] = [set() for _ in range(int(part.max()) + 1)]
        for member, number in enumerate(part.tolist()):
            self.members[number].add(member)

    def split(self, listed: Ints, keys: Sequence[Hashable]) -> Ints:
        """Separate the listed members of a part by their keys, and from those not listed; returns who was renumbered.

        Of the pieces of a part, the largest keeps the number.
        """
        pieces: dict[int, dict[Hashable, list[int]]] = {}
        for member, part, key in zip(listed.tolist(), self.part[listed].tolist(), keys, strict=True):
            pieces.setdefault(part, {}).setdefault(key, []).append(member)
        changed: list[int] = []
        for part, by_key in pieces.items():
            found = sorted(by_key.values(), key=len)
            left = len(self.members[part]) - sum(map(len, found))
            if left < len(found[-1]):
                if left:
                    found.insert(0, list(self.members[part].difference(*found)))
                found.pop()
            for piece in found:
                self.part[piece] = len(self.members)
                self.members.append(set(piece))
                self.members[part] -= self.members[-1]
                changed += piece
        return np.array(changed, np.int64)


def _signatures(rows: sparse.csr_array, classes: Classes, kinds: Classes, tol: float) -> list[bytes]:
    """A text for every row, the same for rows of one kind with the same probabilities of all classes."""
    lumped = summed_rows(rows, classes, int(classes.max()) + 1)
    row = np.repeat(np.arange(rows.shape[0]), np.diff(lumped.indptr))
    order = np.lexsort((lumped.data, lumped.indices, kinds[row]))
    kind, column, probability = kinds[row][order], lumped.indices[order], lumped.data[order]
    is_first = np.ones(len(order), np.bool_)  # of a run of probabilities without gaps
    is_first[1:] = (kind[1:] != kind[:-1]) | (column[1:] != column[:-1]) | (np.diff(probability) > tol)
    run = np.empty(len(order), np.int64)
    run[order] = np.cumsum(is_first) - 1
    keep = (probability[is_first] > tol)[run]  # runs that begin near zero are those of choices with probability zero
    bounds = np.searchsorted(row[keep], np.arange(rows.shape[0] + 1)).tolist()
    kept = run[keep]
    return [kept[start:end].tobytes() for start, end in pairwise(bounds)]


def _sources(reaching: sparse.csc_array, states: Ints, tol: float) -> Ints:
    """The choices that reach one of the states with a probability above `tol`."""
    if not len(states):
        return np.zeros(0, np.int64)
    part = reaching[:, states]
    found, place = np.unique(part.indices, return_inverse=True)
    return found[np.bincount(place, weights=part.data) > tol].astype(np.int64)

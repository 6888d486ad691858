"""The smallest model that behaves like a given one: a state for every class of bisimilar states.

    P̂(X, Y) = Σ_{y ∈ Y} P(x, y)        for the first state x of the class X, in a decision process for every action

Bisimilar states have equal distances to everything, so nothing is lost. How far the lumped rows of other states are
from the first one's goes into the small model's `row_error`, and certificates pay for it. Where that is not zero, the
class is marked as `merged`, and its distances are not proved to be zero but at rounding level, since its states may
differ by as much. Rewards and labels are those of all states of the class.

Reference: Larsen & Skou 1991; Kemeny & Snell 1960 (lumpability); Givan, Dean & Greig 2003 (decision processes).
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from bisimetric._support.frozen import frozen
from bisimetric.bisimulation.classes import bisimilar_classes
from bisimetric.models.chain import MarkovChain
from bisimetric.models.lumping import lump, lumped_rows
from bisimetric.models.mdp import MDP
from bisimetric.models.partition import Classes, first_states

Model = TypeVar("Model", MarkovChain, MDP)


def quotient(model: Model) -> tuple[Model, Classes]:
    """The model on classes of bisimilar states, and the class of every state.

    A class has the reward (of every action), label and name of its first state; the start is summed over classes. The
    quotient of a quotient is itself.

    >>> import bisimetric as bm
    >>> small, states = bm.quotient(bm.environments.four_rooms(side=20, goal="all"))
    >>> small
    MarkovChain(56 states, 201 transitions, reward, start, names, labels)
    """
    classes = bisimilar_classes(model)
    small = _on_classes(model, classes)
    while True:  # probabilities that differ by just about the tolerance may let classes merge once more
        again = bisimilar_classes(small)
        if int(again.max()) + 1 == small.n_states:
            return small, classes
        classes = again[classes]
        small = _on_classes(model, classes)


def _on_classes(model: Model, classes: Classes) -> Model:
    if isinstance(model, MarkovChain):
        return lump(model, classes).chain
    first = first_states(classes)
    size = len(first)
    rows, moved = zip(*(lumped_rows(matrix, classes, first) for matrix in model.transitions), strict=True)
    distance = np.stack(moved, axis=1)
    error, differ = np.zeros((size, model.n_actions)), np.zeros(size, np.bool_)
    np.maximum.at(error, classes, distance + model.row_error)
    np.logical_or.at(differ, classes, distance.any(axis=1) | model.merged)
    small = MDP(
        rows,
        model.rewards[first],
        start=None if model.start is None else np.bincount(classes, weights=model.start, minlength=size),
        names=None if model.names is None else [model.names[state] for state in first],
        actions=model.actions,
        available=model.available[first],
    )
    object.__setattr__(small, "row_error", frozen(error))
    object.__setattr__(small, "merged", frozen(differ))
    return small

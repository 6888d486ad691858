"""The smallest model that behaves like a given one: a state for every class of bisimilar states.

    P̂(X, Y) = Σ_{y ∈ Y} P(x, y)        for the first state x of the class X, in a decision process for every action

Bisimilar states have equal distances to all states, so merging them changes no distance. The small model's `row_error`
includes the 1-norm between the lumped rows of the other states and that of the first, and certificates are widened by
it. Where it is not zero, the class is marked as `merged`: its states may differ by that much, so a distance of zero is
not proved, and comes out at the level of rounding. All states of a class share its reward and label.

Reference: Larsen & Skou 1991; Kemeny & Snell 1960 (lumpability); Givan, Dean & Greig 2003 (decision processes).
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from bisimetric._support.frozen import changed
from bisimetric.bisimulation.classes import classes_of
from bisimetric.models.chain import MarkovChain
from bisimetric.models.lumping import lump, lumped_rows
from bisimetric.models.mdp import MDP, ModelT
from bisimetric.models.partition import Classes, first_states
from bisimetric.readers.convert import as_model


@overload
def quotient(model: MDP) -> tuple[MDP, Classes]: ...


@overload
def quotient(model: MarkovChain) -> tuple[MarkovChain, Classes]: ...


@overload
def quotient(model: Any) -> tuple[MarkovChain, Classes] | tuple[MDP, Classes]: ...


def quotient(model: Any) -> tuple[MarkovChain, Classes] | tuple[MDP, Classes]:
    """Merge bisimilar states: the smallest model that behaves like the given one.

    Parameters
    ----------
    model : MarkovChain, MDP, or anything that `as_chain` or `as_mdp` takes
        A chain has rewards, labels or both.

    Returns
    -------
    small : MarkovChain or MDP
        A state for every class, with the reward (of every action), label and name of its first state; the start is
        summed over classes. The quotient of a quotient is itself.
    classes : [n] array of int
        The state of `small` that each state belongs to.

    Raises
    ------
    InvalidChain
        The model cannot be read, or is a chain with neither reward nor labels.

    Examples
    --------
    >>> import bisimetric as bm
    >>> small, classes = bm.quotient(bm.environments.four_rooms(side=20, goal="all"))
    >>> small
    MarkovChain(56 states, 201 transitions, reward, start, names, labels)
    """
    given: Any = as_model(model)
    return _quotient(given)


def _quotient(model: ModelT) -> tuple[ModelT, Classes]:
    classes = classes_of(model)
    small = _on_classes(model, classes)
    while True:  # states whose probabilities differ by almost the tolerance may merge in a second pass
        again = classes_of(small)
        if int(again.max()) + 1 == small.n_states:
            return small, classes
        classes = again[classes]
        small = _on_classes(model, classes)


def _on_classes(model: ModelT, classes: Classes) -> ModelT:
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
        labels=None if model.labels is None else [model.labels[state] for state in first],
    )
    return changed(small, row_error=error, merged=differ)

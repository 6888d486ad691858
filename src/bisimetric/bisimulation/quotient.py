"""The smallest model that behaves like a given one: a state for every class of bisimilar states.

    P̂(X, Y) = Σ_{y ∈ Y} P(x, y)        for the first state x of the class X, in a decision process for every action

Bisimilar states have equal distances to all states, so merging them changes no distance. The small model's `row_error`
includes the 1-norm between the lumped rows of the other states and that of the first, and certificates are widened by
it. Where it is not zero, the class is marked as `merged`: its states may differ by that much, so a distance of zero is
not proved, and comes out at the level of rounding. All states of a class share its reward and label.

Reference: Larsen & Skou 1991; Kemeny & Snell 1960 (lumpability); Givan, Dean & Greig 2003 (decision processes).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, get_args, overload

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.frozen import changed
from bisimetric._support.options import one_of
from bisimetric.bisimulation.classes import classes_of, matching_of
from bisimetric.models.chain import MarkovChain
from bisimetric.models.lumping import lump, lumped_rows, summed_rows
from bisimetric.models.matching import Choices, Matching, choices_of
from bisimetric.models.mdp import MDP, ModelT
from bisimetric.models.partition import Classes, first_states
from bisimetric.problems.game import Actions
from bisimetric.readers.convert import as_model


@overload
def quotient(model: MDP, *, actions: Actions = "same") -> tuple[MDP, Classes]: ...


@overload
def quotient(model: MarkovChain, *, actions: Actions = "same") -> tuple[MarkovChain, Classes]: ...


@overload
def quotient(model: Any, *, actions: Actions = "same") -> tuple[MarkovChain, Classes] | tuple[MDP, Classes]: ...


def quotient(model: Any, *, actions: Actions = "same") -> tuple[MarkovChain, Classes] | tuple[MDP, Classes]:
    """Merge bisimilar states: the smallest model that behaves like the given one.

    Parameters
    ----------
    model : MarkovChain, MDP, or anything that `as_chain` or `as_mdp` takes
        A chain has rewards, labels or both.
    actions : "same" or "matched"
        How actions of a decision process are compared, as in `bisimilar_classes`. With matched ones a class has the
        actions of its first state, without those that do the same as another.

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
    InvalidOption
        `actions` is something else.

    Examples
    --------
    >>> import bisimetric as bm
    >>> small, classes = bm.quotient(bm.environments.four_rooms(side=20, goal="all"))
    >>> small
    MarkovChain(56 states, 201 transitions, reward, start, names, labels)
    """
    given: Any = as_model(model)
    if one_of(actions, "actions", get_args(Actions)) == "matched" and isinstance(given, MDP):
        return _matched_quotient(given)
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
    small = _process_on_classes(model, rows, classes, model.available[first])
    return changed(small, row_error=error, merged=differ)


def _process_on_classes(
    mdp: MDP, rows: Sequence[sparse.csr_array], classes: Classes, available: npt.NDArray[np.bool_]
) -> MDP:
    """The process with these rows, and the rewards, labels and names of first states."""
    first = first_states(classes)
    return MDP(
        rows,
        mdp.rewards[first],
        start=None if mdp.start is None else np.bincount(classes, weights=mdp.start, minlength=len(first)),
        names=None if mdp.names is None else [mdp.names[state] for state in first],
        actions=mdp.actions,
        available=available,
        labels=None if mdp.labels is None else [mdp.labels[state] for state in first],
    )


def _matched_quotient(mdp: MDP) -> tuple[MDP, Classes]:
    small, classes = mdp, np.arange(mdp.n_states)
    while True:
        choices = choices_of(small)
        found = matching_of(small, choices)
        size, n_choices = small.n_states, len(choices.state)
        small, classes = _on_matching(small, choices, found), found.states[classes]
        if (small.n_states, small.available.sum()) == (size, n_choices):
            return small, classes


def _on_matching(mdp: MDP, choices: Choices, found: Matching) -> MDP:
    """The process on classes; rows of the other choices of a kind may differ from the first one's by `row_error`."""
    first, classes = first_states(found.states), found.states
    size = len(first)
    lumped = summed_rows(choices.rows, classes, size)
    owner = classes[choices.state]
    kind = owner * (int(found.choices.max()) + 1) + found.choices
    own = np.flatnonzero(first[owner] == choices.state)  # choices of first states
    kinds, place = np.unique(kind[own], return_index=True)  # the first choice of each kind
    shown = own[place]
    stands_for = shown[np.searchsorted(kinds, kind)]
    moved = np.asarray(abs(lumped - lumped[stands_for]).sum(axis=1)).ravel()
    error, differ = np.zeros((size, mdp.n_actions)), np.zeros(size, np.bool_)
    np.maximum.at(error, (owner, choices.action[stands_for]), moved + mdp.row_error[choices.state, choices.action])
    np.logical_or.at(differ, owner, (moved > 0.0) | mdp.merged[choices.state])
    available = np.zeros((size, mdp.n_actions), np.bool_)
    available[owner[shown], choices.action[shown]] = True
    small = _process_on_classes(
        mdp, [lumped_rows(matrix, classes, first)[0] for matrix in mdp.transitions], classes, available
    )
    return changed(small, row_error=error, merged=differ)

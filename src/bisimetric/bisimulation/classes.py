"""Bisimilar states: equal in reward and label, and moving alike into every class of such states.

    s ~ t   ⇒   r(s) = r(t),  label(s) = label(t),  Σ_{u ∈ C} P(s, u) = Σ_{u ∈ C} P(t, u)  for every class C

The coarsest such partition is computed (`models.partition`). Rewards and labels are compared exactly. Sums of
probabilities are rarely equal in floating-point arithmetic. They count as equal when the sorted sums of a class have no
gap above `tol`. This guarantees two things. States that are bisimilar up to errors of tol/2 in every sum are in one
class. States in different classes differ in their rewards or labels, or by more than `tol` in their probabilities of
entering some set of classes. Members of one class may differ by more than `tol` if others lie between them.

In a decision process all of this holds for every action, and bisimilar states have the same actions and labels.

References: Larsen & Skou 1991; Valmari & Franceschinis 2010; Givan, Dean & Greig 2003 (decision processes).
"""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
from scipy import sparse

from bisimetric._support.options import as_float, one_of, shown
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain, compared_labels
from bisimetric.models.matching import Choices, Matching, choices_of, match
from bisimetric.models.mdp import MDP
from bisimetric.models.partition import DEFAULT_TOL, Classes, Moves, common_refinement, equal_numbers, refine
from bisimetric.problems.game import Actions
from bisimetric.readers.convert import as_model


def bisimilar_classes(model: Any, *, tol: float = DEFAULT_TOL, actions: Actions = "same") -> Classes:
    """Find the classes of bisimilar states of a chain or a decision process.

    Parameters
    ----------
    model : MarkovChain, MDP, or anything that `as_chain` or `as_mdp` takes
        A chain has rewards, labels or both.
    tol : float in [0, 1)
        Probabilities are equal up to this. Rewards and labels are compared exactly: round rewards that should be
        equal but were computed differently (0.1 + 0.2 and 0.3) first, as in `reward=np.round(reward, 12)`.
    actions : "same" or "matched"
        How actions of a decision process are compared: with the action of the same name; or for every action of one
        state, some action of the other with the same reward and the same probabilities, whatever it is called. The
        latter is the strong bisimulation of model checkers.

    Returns
    -------
    [n] array of int
        The class of every state; classes are numbered 0, 1, … in the order of their first states.

    Raises
    ------
    InvalidChain
        The model cannot be read, or is a chain with neither reward nor labels.
    InvalidOption
        `tol` is out of range, or `actions` is something else.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.MarkovChain([[0.1, 0.2, 0.7], [0.3, 0, 0.7], [0, 0, 1]], reward=[0, 0, 1])
    >>> bm.bisimilar_classes(chain).tolist()
    [0, 0, 1]
    """
    return classes_of(as_model(model), tol, actions)


def classes_of(model: MarkovChain | MDP, tol: float = DEFAULT_TOL, actions: Actions = "same") -> Classes:
    """The classes of bisimilar states of a model."""
    limit = as_float(tol)
    if not 0.0 <= limit < 1.0:
        raise InvalidOption(f"tol is {shown(tol)}, expected a number in [0, 1) such as {DEFAULT_TOL:g}")
    if one_of(actions, "actions", get_args(Actions)) == "matched" and isinstance(model, MDP):
        return matching_of(model, choices_of(model), limit).states
    observed = _action_reward_groups(model) if isinstance(model, MDP) else _observation_groups(model)
    classes = refine(_moves(model), observed, limit)
    assert classes is not None  # there is no limit on their number
    return classes


def matching_of(mdp: MDP, choices: Choices, tol: float = DEFAULT_TOL) -> Matching:
    """The classes of states whose actions match, and those of their choices."""
    return match(choices, mdp.rewards[choices.state, choices.action], _label_groups(mdp), tol)


def same_actions(mdp: MDP) -> Classes:
    """Groups of states with the same available actions."""
    groups = np.zeros(mdp.n_states, np.int64)
    for here in mdp.available.T:
        groups = common_refinement(groups, here.astype(np.int64))
    return groups


def _moves(model: MarkovChain | MDP) -> Moves:
    """A row per state, or per state and action; missing actions have self-loops, which separate no states."""
    if isinstance(model, MarkovChain):
        rows = model.transitions
        return Moves(rows.indptr, rows.indices, rows.data)
    by_action = sparse.vstack(model.transitions, format="csr")  # row number a · n + s
    by_state = np.arange(model.n_actions * model.n_states).reshape(model.n_actions, model.n_states).T.ravel()
    rows = by_action[by_state]
    return Moves(rows.indptr, rows.indices, rows.data, model.n_actions)


def _observation_groups(chain: MarkovChain) -> Classes:
    """Groups of states with the same reward and label."""
    if chain.reward is None and chain.labels is None:
        raise InvalidChain(
            "the chain has neither reward nor labels, so all its states are bisimilar; "
            "give it one of them: MarkovChain(..., reward=...) or labels=..."
        )
    groups = _label_groups(chain)
    return groups if chain.reward is None else common_refinement(groups, equal_numbers(chain.reward))


def _label_groups(model: MarkovChain | MDP) -> Classes:
    """Groups of states with the same label; one group without labels."""
    labels = compared_labels(model.labels)
    if labels is None:
        return np.zeros(model.n_states, np.int64)
    number: dict[object, int] = {}
    return np.array([number.setdefault(label, len(number)) for label in labels], np.int64)


def _action_reward_groups(mdp: MDP) -> Classes:
    """Groups of states with the same label, the same actions and the same reward for each of them."""
    groups = common_refinement(same_actions(mdp), _label_groups(mdp))
    for rewards in mdp.rewards.T:  # 0 where an action is not available
        groups = common_refinement(groups, equal_numbers(rewards))
    return groups

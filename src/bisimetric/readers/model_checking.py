"""What the models of model checkers have in common.

Their labels are sets of propositions. Two names are special: `init` marks the states in which a model starts, and
`deadlock` those without transitions, which got a self-loop.

Their states have lists of choices, which may have names; several choices of a state may share one, or have none. A
decision process has the same actions in all states, some of them not available everywhere. So a choice becomes the
action of its name; further choices of the same name in a state become the actions `name#2`, `name#3`, … Choices without
a name are numbered among those of their state: `0`, `1`, … Where all are called by numbers, those are the actions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse

from bisimetric._support import memory
from bisimetric.io.propositions import INITIAL_LABEL as INITIAL_LABEL
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats, Ints, offsets

DEADLOCK_LABEL = "deadlock"
DEADLOCKS = ("refuse", "self-loops")  # what to do about states without transitions
OTHER_KINDS = {
    "ctmc": "a continuous-time chain (CTMC): make its embedded or uniformised chain, with probabilities",
    "ctmdp": "a continuous-time decision process (CTMDP): make an embedded or uniformised one, with probabilities",
    "ma": "a Markov automaton (MA): make an embedded or uniformised process, with probabilities",
    "pomdp": "a partially observable process (POMDP): drop its observations, or make the process of its beliefs",
    "smg": "a stochastic game (SMG): fix the choices of all players but one",
}
FEW_ACTIONS = 64  # so many make no model large
BYTES_PER_ACTION = 48  # memory of a state's action: its reward, its row if it is not available, and marks

Deadlocks = Literal["refuse", "self-loops"]


def refused_kind(name: str) -> str:
    """What to say about a type of model that is neither a chain nor a decision process."""
    told = OTHER_KINDS.get(name.lower(), f"a model of type {name}, whose time or choices have no place here")
    return f"is {told}; expected a DTMC (a chain) or an MDP (a decision process)"


def start_of(initial: Sequence[int], n_states: int) -> Floats | int | None:
    """The start of a model: its initial state, or the uniform distribution over several."""
    if len(initial) <= 1:
        return initial[0] if initial else None
    start = np.zeros(n_states)
    start[list(initial)] = 1.0 / len(initial)
    return start


def mean_of_transitions(rows: sparse.csr_array, choice: Ints, successor: Ints, reward: Floats) -> Floats:
    """Σ p · r over the transitions of every choice; exactly r where all of them pay the same r."""
    paid = sparse.csr_array((reward, (choice, successor)), shape=rows.shape)
    mean = np.asarray((rows * paid).sum(axis=1)).ravel()
    n_rows = rows.shape[0]
    lowest, highest = np.full(n_rows, np.inf), np.full(n_rows, -np.inf)
    np.minimum.at(lowest, choice, reward)
    np.maximum.at(highest, choice, reward)
    everywhere = np.bincount(choice, minlength=n_rows) == np.diff(rows.indptr)
    return np.where(everywhere & (lowest == highest), lowest, mean)


def highest_action(different: int) -> int:
    """Numbers of actions below this are taken as they are, where there are so many different ones."""
    return 4 * different + FEW_ACTIONS


def action_columns(owner: Ints, words: Sequence[str | None]) -> tuple[Ints, tuple[str, ...] | None]:
    """The action of every choice and the names of the actions; `owner` is the state of each choice, ascending.

    Choices that are called by numbers are those actions, unnamed. Numbers far above those of other choices would make
    many empty actions: they are names then.
    """
    highest = highest_action(len(set(words)))
    if all(word and word.isascii() and word.isdigit() and int(word[:18]) < highest for word in set(words)):
        numbers = np.array([int(word) for word in words if word], np.int64)
        if len(np.unique(owner * highest + numbers)) == len(numbers):
            return numbers, None
    plain: dict[str | None, int] = {}
    codes = np.array([plain.setdefault(word or None, len(plain)) for word in words], np.int64)
    if None not in plain and len(np.unique(owner * len(plain) + codes)) == len(owner):  # different names in every state
        return codes, tuple(name for name in plain if name)
    number: dict[str, int] = {}
    columns = np.empty(len(owner), np.int64)
    seen: set[str] = set()
    unnamed, state = 0, -1
    for choice, (here, word) in enumerate(zip(owner.tolist(), words, strict=True)):
        if here != state:
            seen, unnamed, state = set(), 0, here
        name = base = word or str(unnamed)
        unnamed += not word
        copy = 2
        while name in seen:
            name, copy = f"{base}#{copy}", copy + 1
        seen.add(name)
        columns[choice] = number.setdefault(name, len(number))
    return columns, tuple(number)


def mdp_of_choices(
    rows: sparse.csr_array,
    owner: Ints,
    columns: Ints,
    rewards: Floats,
    *,
    actions: Sequence[str] | None,
    **rest: Any,
) -> MDP:
    """The process of choices: `rows` [choices, n], and the state, the action and the reward of each."""
    n_states, n_actions = rows.shape[1], int(columns.max()) + 1
    memory.require_if_large(
        BYTES_PER_ACTION * n_states * n_actions,
        f"a process of {n_states} states and {n_actions} actions",
        "give choices that mean the same in several states the same name",
    )
    reward, available = np.zeros((n_states, n_actions)), np.zeros((n_states, n_actions), np.bool_)
    reward[owner, columns] = rewards
    available[owner, columns] = True
    order = np.argsort(columns, kind="stable")
    bounds = offsets(np.bincount(columns, minlength=n_actions))
    matrices = [
        _placed(rows, order[bounds[action] : bounds[action + 1]], owner, n_states) for action in range(n_actions)
    ]
    return MDP(matrices, reward, available=available, actions=actions, **rest)


def _placed(rows: sparse.csr_array, choices: Ints, owner: Ints, n_states: int) -> sparse.csr_array:
    """The rows of some choices at the places of their states."""
    part = rows[choices]
    sizes = np.zeros(n_states, np.int64)
    sizes[owner[choices]] = np.diff(part.indptr)
    return sparse.csr_array((part.data, part.indices, offsets(sizes)), shape=(n_states, n_states))

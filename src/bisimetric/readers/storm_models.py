"""Sparse models of Storm, as stormpy holds them, become chains and decision processes.

The reward of a state and choice is the state's reward, plus the choice's, plus the expected reward of its transitions.
Nothing here imports stormpy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse

from bisimetric._support.options import hint
from bisimetric.errors import BisimetricError, InvalidChain, InvalidOption
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import RESCALED_ROW, RESCALED_ROW_OF_ACTION, Floats, Ints, offsets
from bisimetric.readers.model_checking import (
    DEADLOCK_LABEL,
    INITIAL_LABEL,
    Deadlocks,
    action_columns,
    mdp_of_choices,
    mean_of_transitions,
    refused_kind,
    start_of,
)

LOCATION = "_loc_"  # begins the names of variables that Storm adds to JANI models
DISCRETE = ("DTMC", "MDP")

Reward = str | Literal[False] | None


def model_of(
    found: Any,
    *,
    reward: Reward,
    deadlocks: Deadlocks,
    variables: Sequence[str] = (),
    names: Sequence[str] | None = None,
) -> MarkovChain | MDP:
    """The chain or process that a sparse model stands for; states have these names, or those of variables."""
    check_kind_of(found.model_type)
    if found.supports_parameters or found.supports_uncertainty:
        what = "parameters" if found.supports_parameters else "intervals of probabilities"
        raise InvalidChain(f"the model has {what}, expected numbers; give every parameter a value")
    n_states = int(found.nr_states)
    owner, rows = _owners(found), _matrix(found.transition_matrix)
    labels = _label_sets(found, n_states)
    rows = _without_deadlocks(rows, owner, labels, deadlocks)
    paid = _rewards(found, rows, owner, reward)
    common: dict[str, Any] = {
        "start": start_of(_initial(found), n_states),
        "names": _names(found, variables) if names is None else names,
        "labels": labels,
    }
    if found.model_type.name == "DTMC":
        return MarkovChain(rows, reward=paid, **common)
    columns, actions = action_columns(owner, _choice_names(found, len(owner)))
    rewards = np.zeros(len(owner)) if paid is None else paid
    return mdp_of_choices(rows, owner, columns, rewards, actions=actions, **common)


def about_the_file(error: BisimetricError) -> str:
    """The error's message; rows that do not sum to one are rows of the file, which nothing rescales."""
    message = str(error)
    for remedy in (RESCALED_ROW, RESCALED_ROW_OF_ACTION):
        message = message.replace(remedy, "change the probabilities in the file")
    return message


def check_kind_of(kind: Any) -> None:
    """Raise unless the type of a model is that of a chain or of a decision process."""
    name = str(kind).rpartition(".")[2]
    if name not in DISCRETE:
        raise InvalidChain(refused_kind(name))


def _initial(found: Any) -> list[int]:
    return sorted(map(int, found.initial_states)) if found.labeling.contains_label(INITIAL_LABEL) else []


def _owners(found: Any) -> Ints:
    """The state of every choice."""
    matrix = found.transition_matrix
    if found.model_type.name == "DTMC":
        return np.arange(matrix.nr_rows)
    n_states = int(found.nr_states)
    starts = np.fromiter((matrix.get_row_group_start(s) for s in range(n_states)), np.int64, n_states)
    return np.repeat(np.arange(n_states), np.diff(np.append(starts, matrix.nr_rows)))


def _matrix(matrix: Any) -> sparse.csr_array:
    """Storm's matrix, by rows."""
    size = matrix.nr_entries
    columns, values = np.empty(size, np.int64), np.empty(size)
    lengths = np.zeros(matrix.nr_rows, np.int64)
    k = 0
    for row in range(matrix.nr_rows):
        for entry in matrix.get_row(row):
            columns[k], values[k] = entry.column, float(entry.value)
            k += 1
            lengths[row] += 1
    shape = (matrix.nr_rows, matrix.nr_columns)
    rows = sparse.csr_array((values[:k], columns[:k], offsets(lengths)), shape=shape)
    rows.sum_duplicates()
    return rows


def _label_sets(found: Any, n_states: int) -> list[set[str]] | None:
    """The labels of every state, without the one of initial states; None if no other label is declared."""
    if set(found.labeling.get_labels()) <= {INITIAL_LABEL}:
        return None
    sets: list[set[str]] = [set() for _ in range(n_states)]
    for label in found.labeling.get_labels():
        if label != INITIAL_LABEL:
            for state in found.labeling.get_states(label):
                sets[state].add(label)
    return sets


def _without_deadlocks(
    rows: sparse.csr_array, owner: Ints, labels: list[set[str]] | None, deadlocks: Deadlocks
) -> sparse.csr_array:
    """States without transitions get a self-loop and a label, unless they are refused."""
    stuck = np.flatnonzero(np.diff(rows.indptr) == 0)
    if not len(stuck):
        return rows
    if deadlocks == "refuse":
        raise deadlocked(owner[stuck].tolist())
    if labels is not None:
        for state in owner[stuck].tolist():
            labels[state].add(DEADLOCK_LABEL)
    loops = sparse.csr_array((np.ones(len(stuck)), (stuck, owner[stuck])), shape=rows.shape)
    return sparse.csr_array(rows + loops)


def deadlocked(states: Sequence[int]) -> InvalidChain:
    """The error for states without transitions."""
    return InvalidChain(
        f"state {states[0]} has no transitions (of {len(states)} such states), expected at least one; "
        'deadlocks="self-loops" gives them a self-loop'
    )


def _rewards(found: Any, rows: sparse.csr_array, owner: Ints, reward: Reward) -> Floats | None:
    """The reward of every choice in the structure that was chosen."""
    structures = dict(found.reward_models)
    name = chosen_reward(list(structures), reward)
    if name is None:
        return None
    structure = structures[name]
    total = np.zeros(len(owner))
    if structure.has_transition_rewards:
        paid = _matrix(structure.transition_rewards).tocoo()
        total += mean_of_transitions(rows, paid.row.astype(np.int64), paid.col.astype(np.int64), paid.data)
    if structure.has_state_action_rewards:
        total += np.array([float(value) for value in structure.state_action_rewards])
    if structure.has_state_rewards:
        total += np.array([float(value) for value in structure.state_rewards])[owner]
    return total


def chosen_reward(known: Sequence[str], reward: Reward) -> str | None:
    """The name of the structure that was asked for; by default the only one, if there is exactly one."""
    if reward is None:
        return known[0] if len(known) == 1 else None
    if reward is False:
        return None
    if reward not in known:
        listed = ", ".join(map(repr, sorted(known))) or "none: the model has no rewards"
        raise InvalidOption(f"reward is {reward!r}, expected one of {listed}{hint(reward, known)}")
    return reward


def _names(found: Any, variables: Sequence[str]) -> list[str] | None:
    """The values of the variables of every state, as in `s=0,d=1`; None if they do not tell all states apart."""
    if not found.has_state_valuations():
        return None
    valuations = found.state_valuations
    order = {name: k for k, name in enumerate(variables)}
    known = [v for v in valuations.get_all_variables() if not order or v.name in order or v.name.startswith(LOCATION)]
    known.sort(key=lambda v: (order.get(v.name, len(order)), v.name))
    texts = {variable.name: _texts(valuations.get_values_states(variable)) for variable in known}
    own = {name: values for name, values in texts.items() if not name.startswith(LOCATION)}
    for chosen in (own, texts):
        columns = [[f"{name}={value}" for value in values] for name, values in chosen.items()]
        names = [",".join(parts) for parts in zip(*columns, strict=True)]
        if len(names) == found.nr_states == len(set(names)):
            return names
    return None


def _texts(values: Sequence[object]) -> list[str]:
    return [str(value).lower() if isinstance(value, bool) else str(value) for value in values]


def _choice_names(found: Any, n_choices: int) -> list[str | None]:
    """The label of every choice; several are joined."""
    if not found.has_choice_labeling():
        return [None] * n_choices
    labels: list[list[str]] = [[] for _ in range(n_choices)]
    for label in sorted(found.choice_labeling.get_labels()):
        for choice in found.choice_labeling.get_choices(label):
            labels[choice].append(label)
    return ["+".join(names) or None for names in labels]

"""Rewards of explicit models: of states (`.srew`) and of transitions (`.trew`).

    .srew   PRISM   13 7      states, rewards        Storm   0 1          .trew   PRISM   13 20      Storm   0 1 1
                    0 1       state, reward                  1 1                          0 1 1

The reward of a choice is that of its state plus the expected reward of its transitions.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from bisimetric.models.rows import Floats, Ints
from bisimetric.readers.explicit.tables import Source, TextTable, read_text_table
from bisimetric.readers.explicit.transitions import Parts
from bisimetric.readers.model_checking import mean_of_transitions


def read_rewards(files: Mapping[str, Source], parts: Parts, is_process: bool) -> Floats | None:
    """The reward of every choice; None if there are no files of rewards."""
    if "srew" not in files and "trew" not in files:
        return None
    total = np.zeros(len(parts.owner))
    if "trew" in files:
        total += _expected_rewards(files["trew"], parts, is_process)
    if "srew" in files:
        total += _state_rewards(files["srew"], parts.n_states)[parts.owner]
    wrong = np.flatnonzero(~np.isfinite(total))
    if len(wrong):
        source = files.get("trew") or files["srew"]
        raise source.problem(f"the rewards of state {parts.owner[wrong[0]]} overflow, expected a finite sum")
    return total


def _state_rewards(source: Source, n_states: int) -> Floats:
    """Rewards of states; PRISM's files begin with the number of states and of rewards."""
    head = next(source.lines(), (1, b""))[1].split()
    has_header = len(head) == 2 and head[0].isdigit() and int(head[0][:18]) == n_states
    table = read_text_table(source, int(has_header), (2,))
    if has_header:
        _check_count(table, head[1])
    state, reward = table.whole(0, "the state", n_states), table.finite(1, "the reward")
    _refuse_twice(table, state, "state")
    rewards = np.zeros(n_states)
    rewards[state] = reward
    return rewards


def _expected_rewards(source: Source, parts: Parts, is_process: bool) -> Floats:
    """The expected reward of the transitions of every choice."""
    width = 4 if is_process else 3
    head = next(source.lines(), (1, b""))[1].split()
    has_header = len(head) == width - 1
    table = read_text_table(source, int(has_header), (width, width + 1))
    if has_header:
        _check_count(table, head[-1])
    n_states = parts.n_states
    state, successor = table.whole(0, "the state", n_states), table.whole(width - 2, "the successor", n_states)
    local = table.whole(1, "the choice", len(parts.owner) + 1) if is_process else np.zeros(len(state), np.int64)
    most = int(parts.local.max()) + 1
    known = parts.owner * most + parts.local
    wanted = state * most + np.minimum(local, most - 1)
    choice = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    reward = table.finite(width - 1, "the reward")
    rows = parts.rows
    listed = sparse.csr_array((np.ones(rows.nnz, np.bool_), rows.indices, rows.indptr), shape=rows.shape)
    found = np.asarray(listed[choice, successor]).ravel() if len(choice) else np.zeros(0, np.bool_)
    missing = np.flatnonzero((known[choice] != wanted) | (local >= most) | ~found)
    if len(missing):
        k = int(missing[0])
        raise table.error(k, f"the model has no transition from state {state[k]} to {successor[k]}; leave the line out")
    _refuse_twice(table, choice * n_states + successor, "transition")
    return mean_of_transitions(rows, choice, successor, reward)


def _check_count(table: TextTable, said: bytes) -> None:
    count = table.columns.shape[1]
    if not said.isdigit() or int(said[:18]) != count:
        shown = said[:20].decode("ascii", "replace")
        line = next(table.source.lines())[0]
        raise table.source.error(line, f"the header says {shown} rewards, the file has {count}; correct one of them")


def _refuse_twice(table: TextTable, keys: Ints, what: str) -> None:
    order = np.argsort(keys, kind="stable")
    twice = np.flatnonzero(keys[order][1:] == keys[order][:-1])
    if len(twice):
        one, other = int(order[twice[0]]), int(order[twice[0] + 1])
        raise table.error(other, f"the {what} is also in line {table.line_of(one)}, expected it once")

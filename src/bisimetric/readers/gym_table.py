"""Transition tables of Gymnasium's toy-text environments as arrays of a decision process.

    P[state][action] = [(probability, successor, reward, terminated), …]

An episode ends at a transition that is flagged `terminated`; what the table says of its successor's own row is then
never used, and may be anything. Such a transition leads to an absorbing state that pays nothing: the successor itself,
if episodes neither start there nor pass through it, else an added state behind the last one. Successors that occur
twice are summed, and the reward of an action is the mean over its transitions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from bisimetric._support.options import as_float, as_index, shown
from bisimetric.errors import InvalidChain
from bisimetric.models.rows import ROW_SUM_TOL, Floats, Ints, Mask

MOST_ACTIONS = 10_000  # a larger number of an action, with gaps before it, is taken for an error


class Entries(NamedTuple):
    """All transitions of a table with a positive probability, one per position."""

    state: Ints
    action: Ints
    successor: Ints
    probability: Floats
    reward: Floats
    ended: Mask


class GymTable(NamedTuple):
    """The arguments of a decision process."""

    transitions: list[sparse.csr_array]  # [A] times [n, n]
    rewards: Floats  # [n, A]
    available: Mask  # [n, A]
    ends: Mask  # [n], absorbing because episodes end there
    added: bool  # whether the last state is none of the table's


def read_gym_table(table: object, start: Floats | None) -> GymTable:
    """The decision process of a table; `start` is the law of the first state."""
    states = list(_numbered(table, "P", "state"))
    if not states:
        raise InvalidChain("the table P is empty, expected P[state][action]")
    n = len(states)
    entries, n_actions = _entries(states)
    ends = _ends(entries, n, start)
    lost = entries.ended & ~ends[entries.successor]
    added = bool(lost.any())
    size = n + added
    ends = np.append(ends, True) if added else ends
    live = ~ends[entries.state]
    successor = np.where(lost, n, entries.successor)
    place = entries.state * n_actions + entries.action
    available = np.bincount(place, minlength=size * n_actions).reshape(size, n_actions) > 0
    available[ends] = True
    stuck = np.flatnonzero(~available.any(axis=1))
    if len(stuck):
        raise InvalidChain(f"P[{stuck[0]}] has no transitions, expected at least one action; make it a self-loop")
    rewards = np.zeros((size, n_actions))
    np.add.at(rewards, (entries.state[live], entries.action[live]), (entries.probability * entries.reward)[live])
    loops = np.flatnonzero(ends)
    transitions = []
    for action in range(n_actions):
        here = live & (entries.action == action)
        rows = np.concatenate([entries.state[here], loops]), np.concatenate([successor[here], loops])
        weight = np.concatenate([entries.probability[here], np.ones(len(loops))])
        transitions.append(sparse.csr_array((weight, rows), shape=(size, size)))
    return GymTable(transitions, rewards, available, ends, added)


def _ends(entries: Entries, n: int, start: Floats | None) -> Mask:
    """[n], states in which all visits end: none begins there, none gets there alive from a state that goes on."""
    ends = np.zeros(n, np.bool_)
    ends[entries.successor[entries.ended]] = True
    if start is not None:
        ends &= ~(start > 0.0)
    alive = ~entries.ended & (entries.state != entries.successor)
    while True:
        passed = ends & np.isin(np.arange(n), entries.successor[alive & ~ends[entries.state]])
        if not passed.any():
            return ends
        ends &= ~passed


def _entries(states: Sequence[object]) -> tuple[Entries, int]:
    """Every transition of a table, checked, and the number of actions."""
    found: list[tuple[int, int, int, float, float, bool]] = []
    n_actions = 1
    for state, row in enumerate(states):
        for action, moves in enumerate(_numbered(row, f"P[{state}]", "action", gaps=True)):
            n_actions = max(n_actions, action + 1)
            if moves is not None:
                found += _moves(moves, state, action, len(states))
    if not found:
        raise InvalidChain("the table P has no transitions, expected P[state][action] to be a list of them")
    types = (np.int64, np.int64, np.int64, np.float64, np.float64, np.bool_)
    return Entries(
        *(np.array(part, kind) for part, kind in zip(zip(*found, strict=True), types, strict=True))
    ), n_actions


def _moves(moves: object, state: int, action: int, n: int) -> Iterator[tuple[int, int, int, float, float, bool]]:
    """The transitions of one action with a positive probability; their sum is checked."""
    place, total, count = f"P[{state}][{action}]", 0.0, 0
    if not isinstance(moves, (list, tuple)):
        raise InvalidChain(f"{place} is a {type(moves).__name__}, expected a list of transitions")
    for move in moves:
        if not isinstance(move, (list, tuple)) or len(move) != 4:
            raise InvalidChain(f"{place} has {shown(move)}, expected (probability, successor, reward, terminated)")
        probability, successor, reward = as_float(_plain(move[0])), as_index(move[1]), as_float(_plain(move[2]))
        if not 0.0 <= probability <= 1.0 + ROW_SUM_TOL:
            raise InvalidChain(f"{place} has probability {shown(move[0])}, expected a number from 0 to 1")
        if successor is None or not 0 <= successor < n:
            raise InvalidChain(f"{place} leads to {shown(move[1])}, expected a state from 0 to {n - 1}")
        if not np.isfinite(reward):
            raise InvalidChain(f"{place} has reward {shown(move[2])}, expected a finite number")
        if not isinstance(move[3], (bool, np.bool_, int, np.integer)):
            raise InvalidChain(f"{place} has terminated {shown(move[3])}, expected True or False")
        total, count = total + probability, count + 1
        if probability > 0.0:
            yield state, action, successor, probability, reward, bool(move[3])
    if count and not abs(total - 1.0) <= ROW_SUM_TOL:
        raise InvalidChain(
            f"the probabilities of {place} sum to {total:.12g}, expected 1 within {ROW_SUM_TOL:g}; "
            "divide them by their sum"
        )


def _plain(number: Any) -> object:
    """A number of numpy, alone or in an array of one entry, as a number of Python."""
    return number.item() if isinstance(number, (np.generic, np.ndarray)) and number.size == 1 else number


def _numbered(node: object, place: str, what: str, *, gaps: bool = False) -> Iterator[object]:
    """The values for 0, 1, … of a list or a dict; with `gaps` some may be missing, for which None comes."""
    if isinstance(node, (list, tuple)):
        yield from node
        return
    if not isinstance(node, Mapping):
        raise InvalidChain(f"{place} is a {type(node).__name__}, expected a dict or a list with one entry per {what}")
    numbers = {as_index(key): value for key, value in node.items()}
    most = max((key for key in numbers if key is not None), default=-1) + 1
    wrong = next((key for key in node if as_index(key) is None or int(as_index(key) or 0) < 0), None)
    if wrong is not None:
        raise InvalidChain(f"{place} has the key {shown(wrong)}, expected {what}s numbered from 0")
    if most > len(numbers) and (not gaps or most > MOST_ACTIONS):
        missing = next(key for key in range(most) if key not in numbers)
        raise InvalidChain(f"{place} has no {what} {missing}, but {what} {most - 1}; number them from 0 without gaps")
    for key in range(most):
        yield numbers.get(key)

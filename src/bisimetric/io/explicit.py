"""Models as explicit files of PRISM: `.tra`, and beside it `.lab`, `.srew`, `.trew` and `.sta` as needed.

Numbers are written so that they come back to the last bit, and `bisimetric.from_explicit` reads the same model: its
rows, rewards, names and initial states. Labels come back as sets of propositions; a text is the same label as the set
that holds it alone. Actions keep their names; those that no state has are left out. What a chain knows of how its rows
were rounded stays in `.npz` and `.json` files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

from bisimetric._support.text import printable
from bisimetric.errors import FileFormatError, InvalidOption
from bisimetric.io.files import described, write_file
from bisimetric.io.propositions import INITIAL_LABEL, OTHER_FORMATS, initial_states, proposition_sets
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.rows import Floats

PART_ENDINGS = ("lab", "srew", "trew", "sta")
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
WORD = re.compile(r"\S+")


def write_explicit(model: MarkovChain | MDP, path: Path) -> None:
    """Write a model to `path` and the files beside it; each appears complete or not at all."""
    parts = {"lab": _labels(model), "sta": _names(model)}
    if isinstance(model, MarkovChain):
        transitions = _chain(model)
        parts["srew"] = None if model.reward is None else _state_rewards(model.reward)
    else:
        transitions = _process(model)
        by_state = _rewards_of_states(model)
        if by_state is None:
            parts["trew"] = _choice_rewards(model)
        elif by_state.any():
            parts["srew"] = _state_rewards(by_state)
    for kind in PART_ENDINGS:
        other = path.with_suffix(f".{kind}")
        if parts.get(kind) is None and other.exists():
            raise FileFormatError(
                described(other, f"would be read as a part of {path.name}; remove it, or choose another name")
            )
    for kind, lines in parts.items():
        if lines is not None:
            write_file(path.with_suffix(f".{kind}"), _writer(lines))
    write_file(path, _writer(transitions))


def _writer(lines: list[str]) -> Callable[[IO[bytes]], None]:
    def write(file: IO[bytes]) -> None:
        file.write("".join(f"{line}\n" for line in lines).encode())

    return write


def _chain(chain: MarkovChain) -> list[str]:
    rows = chain.transitions.tocoo()
    entries = zip(rows.row.tolist(), rows.col.tolist(), rows.data.tolist(), strict=True)
    return [f"{chain.n_states} {rows.nnz}", *(f"{state} {to} {p!r}" for state, to, p in entries)]


def choices(mdp: MDP) -> Iterator[tuple[int, int, int, list[tuple[int, float]]]]:
    """The state, its number there, the action and the transitions of every choice, state by state."""
    matrices = mdp.transitions
    for state in range(mdp.n_states):
        for local, action in enumerate(np.flatnonzero(mdp.available[state]).tolist()):
            rows = matrices[action]
            here = slice(rows.indptr[state], rows.indptr[state + 1])
            yield state, local, action, list(zip(rows.indices[here].tolist(), rows.data[here].tolist(), strict=True))


def action_words(mdp: MDP) -> list[str]:
    """The names of the actions, or their numbers."""
    names = [mdp.action_name(action) for action in range(mdp.n_actions)]
    for name in names:
        if not name.isprintable() or WORD.fullmatch(name) is None:
            raise InvalidOption(f"the action {printable(name)!r} is not one word; rename it, or {OTHER_FORMATS}")
    return names


def _process(mdp: MDP) -> list[str]:
    names = action_words(mdp)
    lines = [
        f"{state} {local} {to} {p!r} {names[action]}" for state, local, action, moves in choices(mdp) for to, p in moves
    ]
    return [f"{mdp.n_states} {int(mdp.available.sum())} {len(lines)}", *lines]


def _labels(model: MarkovChain | MDP) -> list[str] | None:
    """PRISM's file of labels. It declares `init` alone if there are no labels but a start."""
    sets, initial = proposition_sets(model), set(initial_states(model))
    if sets is None and not initial:
        return None
    names = sorted({name for state in sets or [] for name in state} - {"deadlock"})
    declared = [INITIAL_LABEL, *([] if sets is None else ["deadlock", *names])]
    number = {name: k for k, name in enumerate(declared)}
    lines = [" ".join(f'{k}="{name}"' for name, k in number.items())]
    for state in range(model.n_states):
        here = [number[INITIAL_LABEL]] * (state in initial) + sorted(
            number[name] for name in (sets[state] if sets else ())
        )
        if here:
            lines.append(f"{state}: {' '.join(map(str, here))}")
    return lines


def _names(model: MarkovChain | MDP) -> list[str] | None:
    """The values of variables if the names are such, as in `s=0,d=1`; else the names as they are."""
    if model.names is None:
        return None
    for name in model.names:
        if not name.isprintable():
            raise InvalidOption(f"the name {printable(name)!r} cannot be written in this format; {OTHER_FORMATS}")
    parts = [[part.partition("=") for part in name.split(",")] for name in model.names]
    variables = [variable for variable, _, _ in parts[0]]
    plain = variables != ["name"] and len(set(variables)) == len(variables) and all(map(VARIABLE.fullmatch, variables))
    if plain and all(
        [variable for variable, _, _ in state] == variables
        and all(equals and value and value == value.strip() for _, equals, value in state)
        for state in parts
    ):
        values = [",".join(value for _, _, value in state) for state in parts]
        return [f"({','.join(variables)})", *(f"{k}:({text})" for k, text in enumerate(values))]
    return ["(name)", *(f"{k}:({name})" for k, name in enumerate(model.names))]


def _state_rewards(rewards: Floats) -> list[str]:
    paid = [(state, reward) for state, reward in enumerate(rewards.tolist()) if reward]
    return [f"{len(rewards)} {len(paid)}", *(f"{state} {reward!r}" for state, reward in paid)]


def _rewards_of_states(mdp: MDP) -> Floats | None:
    """The rewards of the states, if all actions of a state have the same; else None."""
    lowest = np.where(mdp.available, mdp.rewards, np.inf).min(axis=1)
    highest = np.where(mdp.available, mdp.rewards, -np.inf).max(axis=1)
    return lowest if np.array_equal(lowest, highest) else None


def _choice_rewards(mdp: MDP) -> list[str]:
    """The reward of an action as that of all its transitions."""
    lines = [
        f"{state} {local} {to} {float(mdp.rewards[state, action])!r}"
        for state, local, action, moves in choices(mdp)
        if mdp.rewards[state, action]
        for to, _ in moves
    ]
    return [f"{mdp.n_states} {int(mdp.available.sum())} {len(lines)}", *lines]

"""Transitions of explicit models.

    PRISM   chain    13 20          states, transitions               process  3 4 6              and choices
                     0 1 0.5        state, successor, probability              0 0 1 0.5 flip     state, choice, …
    Storm   chain    dtmc                                             process  mdp
                     0 1 0.5                                                   0 0 1 0.5

Lines may come in any order; a transition that occurs twice is an error.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from bisimetric._support import memory
from bisimetric.errors import FileFormatError
from bisimetric.models.rows import ROW_SUM_TOL, Floats, Ints
from bisimetric.readers.explicit.tables import Source, TextTable, read_text_table
from bisimetric.readers.model_checking import OTHER_KINDS, action_columns, highest_action, refused_kind

BYTES_PER_EMPTY_STATE = 64  # memory of a state of a chain, besides its transitions


class Header(NamedTuple):
    """The first line of a `.tra` file."""

    line: int
    is_process: bool
    n_states: int | None
    n_choices: int | None
    n_transitions: int | None


class Parts(NamedTuple):
    """The transitions of a model, by choice; a chain has one choice per state."""

    rows: sparse.csr_array  # [choices, n]
    owner: Ints  # [choices], ascending
    local: Ints  # [choices], the number of the choice in its state
    words: list[str | None] | None  # [choices], names of choices
    stuck: Ints  # states that had no transition

    @property
    def n_states(self) -> int:
        """The number of states."""
        return int(self.rows.shape[1])


def read_transitions(source: Source, deadlocks: str, normalise: bool) -> tuple[bool, Parts]:
    """Whether the model is a decision process, and the rows of all its choices, checked; rescaled if `normalise`."""
    header = _header(source)
    table = read_text_table(source, 1, (4, 5) if header.is_process else (3, 4))
    return header.is_process, _parts(table, header, deadlocks, normalise)


def actions_of(parts: Parts) -> tuple[Ints, tuple[str, ...] | None]:
    """The action of every choice, and their names; choices without names are numbered, and high numbers close up."""
    if parts.words is None:
        numbers, ranks = np.unique(parts.local, return_inverse=True)
        return (parts.local if numbers[-1] < highest_action(len(numbers)) else ranks.ravel()), None
    return action_columns(parts.owner, parts.words)


def _header(source: Source) -> Header:
    """The kind of the model and its sizes, if the file says them."""
    line, first = next(source.lines(), (1, b""))
    words = first.decode("ascii", "replace").split()
    kind = words[0].lower() if words else ""
    if kind in ("dtmc", "mdp") and len(words) == 1:
        return Header(line, kind == "mdp", None, None, None)
    if kind in OTHER_KINDS:
        raise source.error(line, refused_kind(kind))
    if 2 <= len(words) <= 4 and all(word.isascii() and word.isdigit() and len(word) < 16 for word in words):
        if len(words) == 4:
            raise source.error(line, refused_kind("pomdp"))
        n_states, *choices, transitions = map(int, words)
        if n_states == 0:
            raise source.error(line, "says 0 states, expected a header with counts, or dtmc or mdp")
        return Header(line, bool(choices), n_states, choices[0] if choices else None, transitions)
    raise source.error(
        line,
        f"is {first[:60].decode('utf-8', 'replace')!r}, expected a header: states and transitions (a chain), states, "
        "choices and transitions (a decision process), or dtmc or mdp",
    )


def _parts(table: TextTable, header: Header, deadlocks: str, normalise: bool) -> Parts:
    """The rows of all choices, checked."""
    n_lines = table.columns.shape[1]
    if not n_lines:
        raise table.source.problem("holds no transitions")
    if header.n_transitions is not None and header.n_transitions != n_lines:
        raise _miscounted(table, header, "transitions", n_lines, header.n_transitions)
    target = 2 if header.is_process else 1
    n_states = header.n_states or _highest(table, (0, target)) + 1
    if n_states > n_lines:
        if deadlocks == "refuse":
            raise table.source.problem(
                f"has {n_lines} transitions of {n_states} states, so that some have none; "
                'deadlocks="self-loops" gives those a self-loop'
            )
        memory.require_if_large(BYTES_PER_EMPTY_STATE * n_states, f"a model of {n_states} states", "check its indices")
    state, successor = table.whole(0, "the state", n_states), table.whole(target, "the successor", n_states)
    probability = _probabilities(table, target + 1, np.inf if normalise else 1 + ROW_SUM_TOL)
    local = table.whole(1, "the choice", header.n_choices or n_lines) if header.is_process else None
    order = _order(table, state, local, successor, n_states)
    if order is not None:
        state, successor, probability = state[order], successor[order], probability[order]
        local = None if local is None else local[order]
    begin = np.append(True, state[1:] != state[:-1])
    if local is not None:
        begin[1:] |= local[1:] != local[:-1]
    first = np.flatnonzero(begin)
    rows = sparse.csr_array((probability, successor, np.append(first, n_lines)), shape=(len(first), n_states))
    if header.n_choices is not None and header.n_choices != len(first):
        raise _miscounted(table, header, "choices", len(first), header.n_choices)
    sums = np.add.reduceat(rows.data, rows.indptr[:-1])
    _check_sums(table, sums, normalise, state[first], first if order is None else order[first])
    if normalise:
        rows.data = rows.data / np.repeat(sums, np.diff(rows.indptr))
    parts = Parts(
        rows,
        state[first],
        np.zeros(len(first), np.int64) if local is None else local[first],
        _choice_words(table, first, order) if header.is_process else None,
        np.zeros(0, np.int64),
    )
    return _without_deadlocks(table, parts, deadlocks)


def _miscounted(table: TextTable, header: Header, what: str, found: int, said: int) -> FileFormatError:
    return table.source.error(
        header.line,
        f"the header says {said} {what}, the file has {found}; correct it, or look for lines that are missing",
    )


def _highest(table: TextTable, columns: tuple[int, ...]) -> int:
    """The highest index in some columns; one that is no index is reported later."""
    values = table.columns[list(columns)]
    highest = float(values.max(initial=0.0, where=np.isfinite(values)))
    return int(min(highest, 2.0**53))


def _probabilities(table: TextTable, column: int, highest: float) -> Floats:
    values = table.finite(column, "the probability")
    wrong = np.flatnonzero((values < 0) | (values > highest))
    if len(wrong):
        k = int(wrong[0])
        rates = "; normalise=True makes probabilities of rates, those of the embedded chain" if values[k] > 1 else ""
        raise table.error(k, f"the probability is {float(values[k])!r}, expected a number from 0 to 1{rates}")
    return values


def _order(table: TextTable, state: Ints, local: Ints | None, successor: Ints, n_states: int) -> Ints | None:
    """The order by state, choice and successor; None if the lines have it. A transition that occurs twice raises."""
    keys = [state, successor] if local is None else [state, local, successor]
    order = None
    if not _ascending(keys):
        order = np.lexsort(keys[::-1])
        keys = [key[order] for key in keys]
    same = np.ones(len(state) - 1, np.bool_)
    for key in keys:
        same &= key[1:] == key[:-1]
    twice = np.flatnonzero(same)
    if len(twice):
        one, other = (int(k if order is None else order[k]) for k in (twice[0], twice[0] + 1))
        what = f"from state {state[one]} to {successor[one]}"
        raise table.error(other, f"the transition {what} is also in line {table.line_of(one)}, expected it once")
    return order


def _ascending(keys: list[Ints]) -> bool:
    """Whether the lines are sorted by the first key, then by the second, …"""
    tied = np.ones(len(keys[0]) - 1, np.bool_)
    for key in keys:
        if (tied & (key[1:] < key[:-1])).any():
            return False
        tied &= key[1:] == key[:-1]
    return True


def _check_sums(table: TextTable, sums: Floats, normalise: bool, owner: Ints, entry: Ints) -> None:
    """Every sum is 1, or is positive if the rows are going to be rescaled; `entry` is the first of each row."""
    if normalise:
        wrong, expected = np.flatnonzero(~((sums > 0) & np.isfinite(sums))), "a positive sum"
    else:
        wrong = np.flatnonzero(~(np.abs(sums - 1.0) <= ROW_SUM_TOL))
        expected = f"1 within {ROW_SUM_TOL:g}; normalise=True rescales rows"
    if len(wrong):
        k = int(wrong[0])
        raise table.error(
            int(entry[k]), f"the probabilities of state {owner[k]} sum to {sums[k]:.12g}, expected {expected}"
        )


def _choice_words(table: TextTable, first: Ints, order: Ints | None) -> list[str | None] | None:
    """The name of every choice; all its lines have to agree."""
    if table.words is None:
        return None
    code = table.words.code if order is None else table.words.code[order]
    expected = np.repeat(code[first], np.diff(np.append(first, len(code))))
    wrong = np.flatnonzero(code != expected)
    names = table.words.names
    if len(wrong):
        k = int(wrong[0])
        here, before = names[code[k]], names[expected[k]]
        entry = k if order is None else int(order[k])
        raise table.error(entry, f"the choice is called {here!r} here and {before!r} before, expected one name")
    return [names[k] for k in code[first].tolist()]


def _without_deadlocks(table: TextTable, parts: Parts, deadlocks: str) -> Parts:
    """States without transitions are refused, or get a self-loop."""
    has = np.zeros(parts.n_states, np.bool_)
    has[parts.owner] = True
    stuck = np.flatnonzero(~has)
    if not len(stuck):
        return parts
    if deadlocks == "refuse":
        raise table.source.problem(
            f"state {stuck[0]} has no transitions (of {len(stuck)} such states), expected at least one; "
            'deadlocks="self-loops" gives them a self-loop'
        )
    loops = sparse.csr_array(
        (np.ones(len(stuck)), stuck, np.arange(len(stuck) + 1)), shape=(len(stuck), parts.n_states)
    )
    owner = np.concatenate([parts.owner, stuck])
    order = np.argsort(owner, kind="stable")
    words = None if parts.words is None else [*parts.words, *[None] * len(stuck)]
    return Parts(
        sparse.vstack([parts.rows, loops], format="csr")[order],
        owner[order],
        np.concatenate([parts.local, np.zeros(len(stuck), np.int64)])[order],
        None if words is None else [words[k] for k in order.tolist()],
        stuck,
    )

"""Labels and names of the states of explicit models.

    .lab  PRISM   0="init" 1="deadlock" 2="done"      .lab  Storm   #DECLARATION          .sta   (s,d)
                  0: 0                                              init done                    0:(0,0)
                  7: 2                                              #END                         1:(1,0)
                                                                    0 init
                                                                    7 done

A `.sta` file whose only variable is called `name` holds whole names.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from bisimetric._support.options import hint
from bisimetric._support.text import printable
from bisimetric.readers.explicit.tables import Source, decoded
from bisimetric.readers.model_checking import INITIAL_LABEL

NAME_VARIABLE = "name"
DECLARED = re.compile(r'([0-9]{1,18})="([^"]*)"')
STORM_BEGIN, STORM_END = "#DECLARATION", "#END"


class Labels(NamedTuple):
    """What a file of labels says."""

    initial: list[int]  # ascending
    sets: list[set[str]] | None  # of every state, without `init`; None if no other label is declared


def read_labels(source: Source, n_states: int) -> Labels:
    """The labels of all states, in PRISM's form or in Storm's."""
    lines = [(number, line.strip()) for number, line in enumerate(_texts(source), 1) if line.strip()]
    if not lines:
        raise source.problem('holds no labels, expected a first line such as 0="init" 1="deadlock"')
    by_state = _prism(source, lines, n_states) if "=" in lines[0][1] else _storm(source, lines, n_states)
    declared, found = by_state
    initial = sorted(state for state, names in found.items() if INITIAL_LABEL in names)
    if set(declared) <= {INITIAL_LABEL}:
        return Labels(initial, None)
    return Labels(initial, [found.get(state, set()) - {INITIAL_LABEL} for state in range(n_states)])


def read_names(source: Source, n_states: int) -> list[str]:
    """The names of all states, such as `s=0,d=1`."""
    lines = [(number, line.strip()) for number, line in enumerate(_texts(source), 1) if line.strip()]
    if not lines or not _in_brackets(lines[0][1]):
        raise source.error(lines[0][0] if lines else 1, "expected the names of the variables, such as (s,d)")
    variables = [name.strip() for name in lines[0][1][1:-1].split(",")]
    names: list[str | None] = [None] * n_states
    for number, line in lines[1:]:
        index, colon, rest = line.partition(":")
        state = _state(source, number, index.strip(), n_states)
        rest = rest.strip()
        if not colon or not _in_brackets(rest):
            raise source.error(number, f"is {printable(line)!r}, expected a state and its values, such as 0:(1,2)")
        if names[state] is not None:
            raise source.error(number, f"state {state} occurs twice, expected once")
        values = rest[1:-1].split(",")
        if variables == [NAME_VARIABLE]:
            names[state] = rest[1:-1]
        elif len(values) != len(variables):
            raise source.error(number, f"has {len(values)} values, expected one per variable: {len(variables)}")
        else:
            names[state] = ",".join(f"{name}={value.strip()}" for name, value in zip(variables, values, strict=True))
    known = [name for name in names if name is not None]
    if len(known) < n_states:
        raise source.problem(f"has no values for state {names.index(None)}, expected one line per state: {n_states}")
    first: dict[str, int] = {}
    for state, name in enumerate(known):
        if first.setdefault(name, state) != state:
            raise source.problem(f"states {first[name]} and {state} have the same values, {printable(name)!r}")
    return known


def _texts(source: Source) -> list[str]:
    lines = source.text().split(b"\n")
    return [decoded(line, source, number) for number, line in enumerate(lines, 1)]


def _in_brackets(text: str) -> bool:
    return len(text) >= 2 and text[0] == "(" and text[-1] == ")"


def _state(source: Source, line: int, text: str, n_states: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19) or int(text) >= n_states:
        raise source.error(line, f"state is {printable(text)!r}, expected a whole number from 0 to {n_states - 1}")
    return int(text)


def _prism(source: Source, lines: list[tuple[int, str]], n_states: int) -> tuple[list[str], dict[int, set[str]]]:
    number, head = lines[0]
    declared = {int(index): name for index, name in DECLARED.findall(head)}
    if DECLARED.sub("", head).strip() or not declared:
        raise source.error(number, f'is {printable(head)!r}, expected labels such as 0="init" 1="deadlock"')
    found: dict[int, set[str]] = {}
    for number, line in lines[1:]:
        index, colon, rest = line.partition(":")
        state = _state(source, number, index.strip(), n_states)
        if not colon:
            raise source.error(number, f"is {printable(line)!r}, expected a state and its labels, such as 0: 1 2")
        if state in found:
            raise source.error(number, f"state {state} occurs twice, expected once")
        found[state] = set()
        for label in rest.split():
            if not (label.isascii() and label.isdigit() and len(label) < 19) or int(label) not in declared:
                known = ", ".join(map(str, sorted(declared)))
                raise source.error(number, f"label {printable(label)!r} is not declared, expected one of {known}")
            found[state].add(declared[int(label)])
    return list(declared.values()), found


def _storm(source: Source, lines: list[tuple[int, str]], n_states: int) -> tuple[list[str], dict[int, set[str]]]:
    number, head = lines[0]
    if head != STORM_BEGIN:
        raise source.error(
            number, f'is {printable(head)!r}, expected {STORM_BEGIN} (Storm) or 0="init" 1="deadlock" … (PRISM)'
        )
    ends = [k for k, (_, line) in enumerate(lines) if line == STORM_END]
    if not ends:
        raise source.problem(f"has no line {STORM_END} behind the names of its labels")
    declared = [name for _, line in lines[1 : ends[0]] for name in line.split()]
    found: dict[int, set[str]] = {}
    for number, line in lines[ends[0] + 1 :]:
        index, *names = line.split()
        state = _state(source, number, index, n_states)
        if state in found:
            raise source.error(number, f"state {state} occurs twice, expected once")
        for name in names:
            if name not in declared:
                raise source.error(number, f"label {printable(name)!r} is not declared{hint(name, declared)}")
        found[state] = set(names)
    return declared, found

"""What can follow on a command line: commands, options, their values, models and files.

The parser is the only source: an argument's metavar says what it stands for (`MODEL`, `FILE`, `SOLVER`, …).
"""

from __future__ import annotations

import re
import shlex
from argparse import SUPPRESS, Action, ArgumentParser, _AppendAction, _SubParsersAction
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

WORDS_ONLY, FILES, FOLDERS = "words", "files", "folders"  # kinds: what the shell adds to the words
SHELLS = ("bash", "zsh", "fish")


class Completions(NamedTuple):
    """The words that fit, each with what it is, and whether files or folders fit too."""

    words: Mapping[str, str]
    kind: str = WORDS_ONLY


NOTHING_FITS = Completions({})


def complete(parser: ArgumentParser, words: Sequence[str], shell: str) -> Completions:
    """What the last of the words may become; the first is the command itself."""
    if shell == "bash" and len(words) == 1:  # bash hands over the line up to the cursor
        words = split_line(words[0])
    *before, current = words[1:] or [""]
    commands = next(action for action in parser._actions if isinstance(action, _SubParsersAction))
    place = next((k for k, word in enumerate(before) if word in commands.choices), None)
    if place is None:
        found = _at_the_top(parser, commands, before, current)
    else:
        found = _inside(commands.choices[before[place]], before[place + 1 :], current)
    option, equals, _ = current.partition("=")
    prefix = f"{option}=" if shell == "fish" and equals and option.startswith("--") else ""
    kind = WORDS_ONLY if prefix else found.kind  # fish completes no files behind --option=
    return Completions({prefix + word: meaning for word, meaning in found.words.items()}, kind)


def split_line(line: str) -> list[str]:
    """The words of a line; the last may be unfinished, or empty after a space."""
    for ending in ("", "'", '"'):
        try:
            words = shlex.split(line + ending)
        except ValueError:
            continue
        return [*words, ""] if not words or (line[-1:].isspace() and not ending) else words
    return [*line.split(), ""]


def _at_the_top(
    parser: ArgumentParser, commands: _SubParsersAction[ArgumentParser], before: Sequence[str], current: str
) -> Completions:
    if current.startswith("-"):
        return _fitting(_options(parser, before), current)
    if before and before[-1] in ("--install-completion", "--show-completion"):
        return _fitting(dict.fromkeys(SHELLS, ""), current)
    return _fitting({str(action.dest): action.help or "" for action in commands._choices_actions}, current)


def _inside(command: ArgumentParser, before: Sequence[str], current: str) -> Completions:
    """Behind the name of a command."""
    known = command._option_string_actions
    option, equals, value = current.partition("=")
    if equals and option in known:
        return _values(known[option], before, value)
    pending, positions = _open_argument(command, before)
    if pending is not None and not current.startswith("-"):
        return _values(pending, before, current)
    if current.startswith("-"):
        return _fitting(_options(command, before), current)
    arguments = [action for action in command._actions if not action.option_strings]
    if not arguments:
        return NOTHING_FITS
    if positions >= len(arguments) and arguments[-1].nargs != "+":
        return NOTHING_FITS
    return _values(arguments[min(positions, len(arguments) - 1)], before, current)


def _open_argument(command: ArgumentParser, before: Sequence[str]) -> tuple[Action | None, int]:
    """The option that still takes a word, if any, and how many words stand for themselves."""
    pending, left, positions = None, 0, 0
    for word in before:
        if word.startswith("-") and len(word) > 1:
            name, equals, _ = word.partition("=")
            pending = command._option_string_actions.get(name)
            left = 0 if pending is None or equals else _count(pending)
        elif left:
            left -= 1
        else:
            positions += 1
        if not left:
            pending = None
    return pending, positions


def _count(action: Action) -> int:
    """How many words an option takes."""
    if isinstance(action.nargs, int):
        return action.nargs
    return 1 if action.nargs in (None, "?") else 2**31


def _options(parser: ArgumentParser, before: Sequence[str]) -> dict[str, str]:
    """The options that can still be given, by their long names."""
    used = {word.partition("=")[0] for word in before}
    found = {}
    for action in parser._actions:
        repeats = isinstance(action, _AppendAction)
        if action.help == SUPPRESS or (not repeats and used & set(action.option_strings)):
            continue
        for name in action.option_strings:
            if name.startswith("--"):
                found[name] = action.help or ""
    return found


def _values(action: Action, before: Sequence[str], current: str) -> Completions:
    """What an argument may be."""
    if action.choices is not None:
        return _fitting(dict.fromkeys(map(str, action.choices), ""), current)
    names = action.metavar if isinstance(action.metavar, str) else ""
    value = VALUES.get(names)
    return NOTHING_FITS if value is None else value(before, current)


def _models(before: Sequence[str], current: str) -> Completions:
    """Files and built-in environments; behind a colon, instances of a family."""
    from bisimetric.environments.registry import FAMILIES
    from bisimetric.environments.rooms import INSTANCES
    from bisimetric.readers.gym import tabular_ids

    family, colon, _ = current.partition(":")
    if colon and family == "gym":
        return _fitting({f"gym:{name}": "Gymnasium" for name in tabular_ids()}, current)
    if colon and family in FAMILIES:
        found = {entry.example: entry.description for entry in FAMILIES[family].entries}
        if family == "four-rooms":
            found = {f"four-rooms:{name}": "" for name in INSTANCES} | found
        return _fitting(found, current)
    found = {"gym:": "a Gymnasium environment with a transition table"}
    for name, known in FAMILIES.items():
        more = known.required or known.argument is not None
        found[f"{name}:" if more else name] = known.entries[0].description
    return _fitting(found, current, FILES)


def _solvers(before: Sequence[str], current: str) -> Completions:
    from bisimetric.solvers import all_solvers

    return _fitting({name: (kind.__doc__ or "").strip() for name, kind in all_solvers().items()}, current)


def _settings(before: Sequence[str], current: str) -> Completions:
    """The options of the solver that is named before."""
    from dataclasses import fields

    from bisimetric.solvers import all_solvers

    name = next((after for word, after in pairwise(before) if word == "--solver"), "")
    kind = all_solvers().get(name or "policy-iteration")
    if kind is None:
        return NOTHING_FITS
    return _fitting({f"{field.name}=": f"by default {field.default}" for field in fields(kind)}, current)


def _experiments(before: Sequence[str], current: str) -> Completions:
    from bisimetric.experiments import ALL

    return _fitting(dict.fromkeys([*ALL, "all"], ""), current)


def _costs(before: Sequence[str], current: str) -> Completions:
    known = {
        "reward": "difference of rewards",
        "labels": "1 where labels differ",
        "label-difference": "how many labels of two sets differ",
        "label-jaccard": "which share of the labels of two sets differs",
    }
    return _fitting(known, current, FILES)


def _files(before: Sequence[str], current: str) -> Completions:
    return Completions({}, FILES)


def _folders(before: Sequence[str], current: str) -> Completions:
    return Completions({}, FOLDERS)


def _fitting(words: Mapping[str, str], current: str, kind: str = WORDS_ONLY) -> Completions:
    """Those that begin with the current word, each with the first line of what it is."""
    fitting = {word: _line(meaning) for word, meaning in words.items() if word.startswith(current)}
    return Completions(fitting, kind)


def _line(meaning: str) -> str:
    """The first clause, on one line."""
    first = re.split(r"[;(:\n]|\. |, as in", meaning, maxsplit=1)[0]
    return " ".join(first.split()).rstrip(".")


VALUES: dict[str, Callable[[Sequence[str], str], Completions]] = {  # by metavar
    **dict.fromkeys(("MODEL", "OTHER", "A", "B", "IN"), _models),
    **dict.fromkeys(("FILE", "OUT"), _files),
    "DIR": _folders,
    "COST": _costs,
    "SOLVER": _solvers,
    "OPTION=VALUE": _settings,
    "EXPERIMENT": _experiments,
}

"""A model as text: where it comes from, and options.

    text   = head {"," option}                  brp.prism,N=16,MAX=2
    option = key "=" value | flag               gym:FrozenLake-v1,is_slippery=false

The head is the name of a file, or `prefix:argument`. Commas inside brackets, braces and quotes belong to a value:
`gym:FrozenLake-v1,desc=["SF","HG"]`. A file whose name is the whole text, commas included, is that file.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import NamedTuple

from bisimetric._support.options import hint
from bisimetric.errors import InvalidOption

OPENING, CLOSING, QUOTES = "([{", ")]}", "\"'"
DEEPEST = 8  # lists in lists; deeper ones are text
WORDS: Mapping[str, object] = {"true": True, "false": False, "none": None}

Value = str | int | float | bool | None | list["Value"]


class Spec(NamedTuple):
    """The parts of a text that stands for a model."""

    text: str
    head: str  # a file name, or prefix:argument
    options: dict[str, str]  # as written; a flag has the value "true"

    @property
    def prefix(self) -> str:
        """What stands before the first colon of the head; empty where there is none."""
        return self.head.partition(":")[0] if ":" in self.head else ""

    @property
    def argument(self) -> str:
        """What stands behind the first colon of the head."""
        return self.head.partition(":")[2]

    def values(self) -> dict[str, Value]:
        """The options as flags, numbers, lists or texts."""
        return {key: read_value(text) for key, text in self.options.items()}

    def check_options(self, known: Iterable[str]) -> None:
        """Raise InvalidOption if there is an option that is not one of these."""
        names = list(known)
        for key in self.options:
            if key not in names:
                expected = f"expected one of {', '.join(names)}" if names else "expected none"
                raise InvalidOption(f"option {key!r} in {self.text!r} is unknown, {expected}{hint(key, names)}")


def split_spec(text: str) -> Spec:
    """The head and the options of a text."""
    head, *items = _split_at_commas(text)
    if items and _is_file(text):
        return Spec(text, text, {})
    options: dict[str, str] = {}
    for item in items:
        key, equals, value = (part.strip() for part in item.partition("="))
        if not key or (equals and not value):
            raise InvalidOption(f"{item!r} in {text!r} is no option, expected key=value or a flag")
        if key in options:
            raise InvalidOption(f"{key} is given twice in {text!r}, expected once")
        options[key] = value if equals else "true"
    return Spec(text, head.strip(), options)


def is_file_of(text: object, suffixes: tuple[str, ...]) -> bool:
    """Whether this is text whose head ends in one of the suffixes, in any case."""
    if not isinstance(text, str):
        return False
    return text.lower().endswith(suffixes) or _split_at_commas(text)[0].strip().lower().endswith(suffixes)


def has_prefix(text: object, prefix: str) -> bool:
    """Whether this is text that begins with `prefix:`."""
    return isinstance(text, str) and text.lstrip().startswith(f"{prefix}:")


def read_value(text: str, depth: int = DEEPEST) -> Value:
    """True, false, none, a number, or a list of values in brackets; everything else is text, without its quotes."""
    stripped = text.strip()
    if stripped.lower() in WORDS:
        return WORDS[stripped.lower()]  # type: ignore[return-value]
    for number in (int, float):
        with suppress(ValueError):
            return number(stripped)
    if depth and stripped[:1] == "[" and stripped[-1:] == "]":
        inside = stripped[1:-1].strip()
        return [read_value(item, depth - 1) for item in _split_at_commas(inside)] if inside else []
    if len(stripped) > 1 and stripped[0] in QUOTES and stripped[-1] == stripped[0]:
        with suppress(ValueError, SyntaxError):
            return str(ast.literal_eval(stripped))
    return stripped


def _split_at_commas(text: str) -> list[str]:
    """The parts between commas that stand in no bracket and in no quotes."""
    parts, depth, quote = [""], 0, ""
    for character in text:
        if character == "," and not depth and not quote:
            parts.append("")
            continue
        parts[-1] += character
        if quote:
            quote = "" if character == quote else quote
        elif character in QUOTES and parts[-1][:-1].rstrip()[-1:] in ("=", "[", ","):  # else an apostrophe in a name
            quote = character
        else:
            depth = max(0, depth + (character in OPENING) - (character in CLOSING))
    return parts


def _is_file(text: str) -> bool:
    try:
        return os.path.isfile(text)
    except ValueError:  # no file can be called that
        return False

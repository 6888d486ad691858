"""The solver that `--solver` and `--set` choose: options are fields of the solver's dataclass, with their types."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from bisimetric import solvers
from bisimetric._support.options import hint, one_of
from bisimetric.errors import InvalidOption
from bisimetric.solvers.base import AnySolver

FLAGS = {"true": True, "false": False}


def chosen_solver(name: str, settings: Sequence[str] | None, known: Sequence[str]) -> AnySolver:
    """The solver of this name, which must be one of the known ones, with the options of `--set`."""
    kind = type(solvers.by_name(one_of(name, "--solver", known)))
    given: dict[str, object] = {}
    for item in settings or ():
        key, equals, text = (part.strip() for part in item.partition("="))
        if not equals or not key or not text:
            raise InvalidOption(f"--set is {item!r}, expected OPTION=VALUE, as in --set rounds=100")
        if key in given:
            raise InvalidOption(f"--set gives {key} twice, expected once")
        given[key] = _value(kind, key, text)
    made: AnySolver = kind(**given)
    return made


def option_types(kind: type[AnySolver]) -> dict[str, Any]:
    """The options of a solver and their types."""
    types = get_type_hints(kind)
    return {field.name: types[field.name] for field in fields(kind)}


def _value(kind: type[AnySolver], key: str, text: str) -> object:
    types = option_types(kind)
    if key not in types:
        known = f"expected one of {', '.join(types)}" if types else "it has none"
        raise InvalidOption(f"option {key!r} of {kind.name} is unknown, {known}{hint(key, types)}")
    members = list(_members(types[key]))
    for member in members:
        try:
            return _read(member, text)
        except InvalidOption as error:  # a step size out of range
            raise InvalidOption(f"--set {key} is {text!r}: {error}") from None
        except (ValueError, KeyError):
            continue
    words = " or ".join(_words(member) for member in members)
    raise InvalidOption(f"--set {key} is {text!r}, expected {words}")


def _members(kind: Any) -> Iterator[Any]:
    """The types of a union, those that accept fewest texts first; functions have no text."""
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    parts = tuple(part for part in parts if get_origin(part) is not Callable)
    order = (NoneType, bool, int, float)
    yield from sorted(parts, key=lambda part: order.index(part) if part in order else len(order) + (part is str))


def _read(kind: Any, text: str) -> object:
    """The text as a value of this type; ValueError or KeyError if it is none."""
    if kind is NoneType:
        return {"none": None}[text.lower()]
    if kind is bool:
        return FLAGS[text.lower()]
    if is_dataclass(kind) and isinstance(kind, type):  # step sizes: decaying:10
        name, colon, number = text.partition(":")
        if name != _word(kind) or not colon:
            raise ValueError
        return kind(float(number))  # type: ignore[call-arg]
    return kind(text)


def _words(kind: Any) -> str:
    """What is expected, in messages."""
    if is_dataclass(kind) and isinstance(kind, type):
        return f"{_word(kind)}:NUMBER"
    return {NoneType: "none", bool: "true or false", int: "a whole number", float: "a number"}.get(kind, "a word")


def _word(kind: type) -> str:
    """`FromTheorem` is from-theorem."""
    return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in kind.__name__).lstrip("-")

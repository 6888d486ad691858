"""Checks of options: a kind, a choice, a flag, a function, a number of Python or numpy.

Each raises `InvalidOption`, which says what was expected and what was given, and the remedy. `check_kind` and
`function_or_none` return nothing, the others the checked value.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real

import numpy as np

from bisimetric.errors import InvalidOption

LONGEST = 60  # characters of a number in a message


def check_kind(value: object, what: str, kinds: type | tuple[type, ...], expected: str) -> None:
    """Raise unless the value is of one of the kinds, which the message calls `expected`."""
    if not isinstance(value, kinds):
        raise InvalidOption(f"{what} is a {type(value).__name__}, expected {expected}")


def one_of(value: object, what: str, choices: Iterable[str]) -> str:
    """`value`, which must be one of `choices`."""
    known = list(choices)
    if isinstance(value, str) and value in known:
        return value
    raise InvalidOption(f"{what} is {value!r}, expected one of {', '.join(known)}{hint(value, known)}")


def flag(value: object, what: str) -> bool:
    """`value`, which must be True or False."""
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise InvalidOption(f"{what} is {value!r}, expected True or False")


def function_or_none(value: object, what: str) -> None:
    """Raise unless `value` can be called, or is None."""
    if value is not None and not callable(value):
        raise InvalidOption(f"{what} is {value!r}, expected a function, or None")


def whole(value: object, what: str, *, at_least: int, at_most: int | None = None) -> int:
    """`value` as an int within its limits."""
    limits = f"≥ {at_least}" if at_most is None else f"from {at_least} to {shown(at_most)}"
    number = as_index(value)
    if number is None:
        raise InvalidOption(f"{what} is {shown(value)}, expected a whole number {limits}")
    if number < at_least or (at_most is not None and number > at_most):
        raise InvalidOption(f"{what} is {shown(number)}, expected a whole number {limits}")
    return number


def as_index(value: object) -> int | None:
    """Anything integral as an int, numpy's numbers included; None for flags and everything else."""
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        return None


def fraction(value: object, what: str) -> float:
    """`value` as a float in [0, 1]."""
    number = as_float(value)
    if not 0.0 <= number <= 1.0:
        raise InvalidOption(f"{what} is {shown(value)}, expected a number from 0 to 1")
    return number


def positive(value: object, what: str) -> float:
    """`value` as a positive finite float."""
    number = as_float(value)
    if not 0.0 < number < math.inf:
        raise InvalidOption(f"{what} is {shown(value)}, expected a positive finite number")
    return number


def is_positive(value: object) -> bool:
    """Whether this is a positive finite number."""
    return 0.0 < as_float(value) < math.inf


def seconds_of(time_limit: object) -> float:
    """A time limit in seconds; infinite for None."""
    if time_limit is None:
        return math.inf
    if not is_positive(time_limit):
        raise InvalidOption(f"time_limit is {shown(time_limit)}, expected a positive number of seconds")
    return as_float(time_limit)


def as_float(value: object) -> float:
    """A real number as a float, infinite if it is too large; NaN for anything else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:  # an int or a fraction
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]


def shown(value: object) -> str:
    """A value as messages show it, cut if it is long; Python refuses to write whole numbers of thousands of digits."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def hint(value: object, known: Iterable[str]) -> str:
    """The end of a message that names the closest of the known words, or nothing."""
    close = get_close_matches(str(value), list(known), n=1)
    return f"; did you mean {close[0]!r}?" if close else ""

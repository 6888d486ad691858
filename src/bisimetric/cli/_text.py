"""Names and numbers as text.

Names of states and files are data: whatever could move the cursor, change colours or reorder a line is shown as an
escape. A number in an interval gets as many digits as the interval proves and one or two more; printed bounds are
rounded outwards, so they hold as printed.
"""

from __future__ import annotations

import math
import sys
from contextlib import suppress
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from typing import NamedTuple

from bisimetric._support.text import printable as printable

LONGEST_MESSAGE = 2_000
FLOAT_DIGITS = 17  # significant digits that tell any two floats apart
DIGITS_BEYOND = 2  # after the last decimal that the interval fixes
PLAIN_FROM, PLAIN_TO = -5, 14  # powers of ten written without exponent


def complain(message: str) -> None:
    """One inert line on stderr, if there is someone to read it."""
    line = printable(" ".join(message.split()), LONGEST_MESSAGE)
    with suppress(OSError, ValueError):
        print(f"bisimetric: {line}", file=sys.stderr, flush=True)


class Digits(NamedTuple):
    """A value and its bounds as text."""

    value: str
    lower: str
    upper: str

    @property
    def interval(self) -> str:
        """The bounds in brackets, lower first."""
        return f"[{self.lower}, {self.upper}]"


def digits(value: float, lower: float, upper: float) -> Digits:
    """The three with the same decimals: those that the interval fixes and a few more."""
    width = upper - lower
    if width == 0.0:
        return Digits(*(repr(number).removesuffix(".0") for number in (value, lower, upper)))
    decimals = math.floor(-math.log10(width)) + DIGITS_BEYOND
    plain = PLAIN_FROM <= Decimal(upper).adjusted() <= PLAIN_TO
    roundings = ((value, ROUND_HALF_EVEN), (lower, ROUND_FLOOR), (upper, ROUND_CEILING))
    return Digits(*(_rounded(number, decimals, way, plain=plain) for number, way in roundings))


def _rounded(number: float, decimals: int, rounding: str, *, plain: bool) -> str:
    if number == 0.0:
        return "0"
    exact = Decimal(number)
    last = max(-decimals, exact.adjusted() - FLOAT_DIGITS + 1)  # power of ten of the last digit
    last = min(last, exact.adjusted())
    rounded = exact.quantize(Decimal((0, (1,), last)), rounding, Context(prec=FLOAT_DIGITS + 2))
    return f"{rounded:{'f' if plain and last <= 0 else 'e'}}"


def duration(seconds: float) -> str:
    """Seconds for people."""
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"

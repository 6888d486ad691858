"""Text for people: names with control characters escaped, discounts never rounded to one, lines on stderr.

Names of states, actions and files may hold anything: characters that could move the cursor, change colours, reorder a
line or begin a new one are shown as escapes, in every text and in every error.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress

LONGEST_NAME = 60  # characters of a state's name
SIXTH_DIGIT_UP = 1 + 1e-5  # factor that raises the sixth digit of any number
CLOSE_TO_ONE = 5e-6  # |1 - γ| below which a discount is shown by the difference: six digits would round it to 1


def printable(text: str, longest: int | None = LONGEST_NAME) -> str:
    """The text with every character that is not plainly visible escaped, and cut if it is very long."""
    shown = text if longest is None or len(text) <= longest else text[: longest - 1] + "…"
    return shown if shown.isprintable() else "".join(char if char.isprintable() else escaped(char) for char in shown)


def escaped(char: str) -> str:
    r"""A character as `\x1b`, `\u202e` and the like."""
    return char.encode("unicode_escape").decode()


def notice(line: str) -> None:
    """Print one line on stderr that a person should know; a closed stderr is ignored."""
    with suppress(OSError, ValueError):
        print(f"bisimetric: {line}", file=sys.stderr, flush=True)


def discount_text(discount: float) -> str:
    """Six digits, as in 0.95; close to one the difference, as in 1-1e-08, so that only 1 itself reads 1."""
    beyond = discount - 1.0
    return f"1{beyond:+g}" if 0.0 < abs(beyond) < CLOSE_TO_ONE else f"{discount:g}"


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as lines of text, every column as wide as its widest cell."""
    table = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ("  ".join(text.rjust(width) for text, width in zip(row, widths, strict=True)) for row in table)
    return "\n".join(line.rstrip() for line in lines)


def rounded_up(bound: float) -> str:
    """A bound with six digits, rounded up, so that what is shown holds too."""
    text = f"{bound:.6g}"
    return text if float(text) >= bound else f"{bound * SIXTH_DIGIT_UP:.6g}"

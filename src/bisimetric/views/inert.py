"""Text that comes from outside, made harmless to look at: names of states and files are data."""

from __future__ import annotations

LONGEST_NAME = 60  # characters of a state's name


def printable(text: str, longest: int = LONGEST_NAME) -> str:
    """The text with every character that is not plainly visible escaped, and cut if it is very long."""
    shown = text if len(text) <= longest else text[: longest - 1] + "…"
    return "".join(char if char.isprintable() else escaped(char) for char in shown)


def escaped(char: str) -> str:
    r"""A character as `\x1b`, `\u202e` and the like."""
    return char.encode("unicode_escape").decode()

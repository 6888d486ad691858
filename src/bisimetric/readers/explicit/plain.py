"""The fast way to read lines of numbers, for files in the plain form that tools write.

Pieces of a file go through the C++ parser of `scipy.io.mmread`, which reads one number per line. It ignores what
follows a number in its line, so that the form is verified first: without its digits, every line has to be one of a few
texts. A file in another form is left to `tables`, which reads line by line. Pieces are small enough for the processor's
cache, and the file as a whole is never in memory.
"""

from __future__ import annotations

import io
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric.models.rows import Floats, Ints

ALL_DIGITS = b"0123456789"
IN_NUMBERS = b" .eE+-\n"  # all other characters of lines of numbers
# What is left of the last number of a line without its digits; frequent ones first.
EXPONENTS = ("", "e-", "e", "e+", "E-", "E", "E+")
SHAPES = [sign + point + exponent for sign, exponent, point in product(("", "-", "+"), EXPONENTS, (".", ""))]
NEIGHBOURS = {  # the characters that stand before and after a sign or the letter of an exponent
    b"-": (b" eE", ALL_DIGITS + b"."),
    b"+": (b" eE", ALL_DIGITS + b"."),
    b"e": (ALL_DIGITS + b".", ALL_DIGITS + b"+-"),
    b"E": (ALL_DIGITS + b".", ALL_DIGITS + b"+-"),
}
SPARE = 1.1  # room for this many times the lines that a piece lets expect


class Words(NamedTuple):
    """A column of words: few different ones, by number."""

    code: Ints  # [lines], an index into names
    names: list[str | None]


class Piece(NamedTuple):
    """Some lines of a file."""

    numbers: bytes
    lines: int
    words: list[tuple[int, bytes]]  # the lines where another word begins, and the word; empty without words


def read_plain(pieces: Iterable[bytes], size: int, widths: tuple[int, ...]) -> tuple[Floats, Words | None] | None:
    """The numbers [width, lines] and words of a file of `size` bytes; None if it is not in the plain form."""
    from scipy.io import mmread  # takes a tenth of a second to load

    columns, done = np.empty((widths[0], 0)), 0
    runs: list[tuple[int, bytes]] = []  # the lines where another word begins
    for text in pieces:
        found = _piece(text, widths, bool(runs)) or _piece(_with_single_spaces(text), widths, bool(runs))
        if found is None or (done and bool(found.words) != bool(runs)):
            return None
        lines = found.lines
        if done + lines > columns.shape[1]:
            before = columns[:, :done]
            columns = np.empty((widths[0], done + lines + int(SPARE * lines * (size / len(text)))))
            columns[:, :done] = before
        head = f"%%MatrixMarket matrix array real general\n{widths[0]} {lines}\n".encode()
        try:
            columns[:, done : done + lines] = mmread(io.BytesIO(head + found.numbers.replace(b" ", b"\n")))
        except (ValueError, OverflowError):  # an empty column, a lone sign
            return None
        runs += [(done + line, word) for line, word in found.words]
        done += lines
    if not done:
        return None
    try:
        return columns[:, :done], _column(runs, done) if runs else None
    except UnicodeDecodeError:
        return None


def _piece(text: bytes, widths: tuple[int, ...], has_words: bool) -> Piece | None:
    """The numbers of lines in the plain form, apart from words; None for another form."""
    if not has_words and (lines := _plain_lines(text, widths[0])):
        return Piece(text, lines, [])
    found = _without_words(text, widths[1]) if len(widths) > 1 else None
    if found is not None and (lines := _plain_lines(found[0], widths[0])):
        return Piece(found[0], lines, found[1])
    return None


def _plain_lines(text: bytes, width: int) -> int:
    """The number of lines, if every one has `width` numbers with one space between two; else 0."""
    rest = text.translate(None, ALL_DIGITS)
    if rest.translate(None, IN_NUMBERS) or not _has_shape(rest, width) or not _signs_fit(text, rest):
        return 0
    return rest.count(b"\n")


def _has_shape(rest: bytes, width: int) -> bool:
    """Whether every line of a text without its digits is a known one."""
    known = 0
    for shape in SHAPES:
        line = b" " * (width - 1) + shape.encode() + b"\n"  # at most one of these is the end of a line
        known += len(line) * rest.count(line)
        if known == len(rest):
            return True
    return False


def _signs_fit(text: bytes, rest: bytes) -> bool:
    """Whether signs begin a number or an exponent, and an exponent has digits on both sides."""
    characters = np.frombuffer(text, np.uint8)
    for found, (before, after) in NEIGHBOURS.items():
        if found in rest:
            places = np.flatnonzero(characters == found[0])
            if not (_among(before)[characters[places - 1]].all() and _among(after)[characters[places + 1]].all()):
                return False
    return True


def _among(characters: bytes) -> npt.NDArray[np.bool_]:
    """For every byte, whether it is one of these characters."""
    table = np.zeros(256, np.bool_)
    table[list(characters)] = True
    return table


def _with_single_spaces(text: bytes) -> bytes:
    """The same lines without empty ones and with one space between words."""
    text = text.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    for wide, narrow in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while wide in text:
            text = text.replace(wide, narrow)
    return text.lstrip(b" \n")


def _without_words(text: bytes, width: int) -> tuple[bytes, list[tuple[int, bytes]]] | None:
    """The lines without their last word, and where another word begins; None if a line has not `width` columns."""
    characters = np.frombuffer(text, np.uint8)
    ends = np.flatnonzero(characters <= 32)
    if not len(ends) or len(ends) % width:
        return None
    by_line = ends.reshape(-1, width)
    kinds = characters[by_line]
    if not ((kinds[:, :-1] == 32).all() and (kinds[:, -1] == 10).all()):
        return None
    first, last = by_line[:, -2], by_line[:, -1]
    depth = np.zeros(len(characters), np.int8)
    depth[first] = 1
    depth[last] = -1
    outside = np.cumsum(depth, dtype=np.int8) == 0
    starts = np.flatnonzero(_differs_from_above(characters, first + 1, last)).tolist()
    return characters[outside].tobytes(), [(line, text[first[line] + 1 : last[line]]) for line in starts]


def _differs_from_above(characters: npt.NDArray[np.uint8], first: Ints, last: Ints) -> npt.NDArray[np.bool_]:
    """Whether the word of a line is another one than that of the line above."""
    length = last - first
    differs = np.append(True, length[1:] != length[:-1])
    for place in range(int(length.max())):
        here = characters[np.minimum(first + place, last)]  # the end of the line behind a shorter word
        differs[1:] |= here[1:] != here[:-1]
    return differs


def _column(runs: list[tuple[int, bytes]], lines: int) -> Words:
    """The words of all lines, from the lines where another word begins."""
    number: dict[bytes, int] = {}
    codes = [number.setdefault(word, len(number)) for _, word in runs]
    starts = [line for line, _ in runs]
    return Words(np.repeat(codes, np.diff([*starts, lines])), [word.decode("utf-8") for word in number])

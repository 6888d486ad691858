"""Text files that hold lines of numbers: transitions and rewards of explicit models.

    0 1 0.5          state, successor, probability
    0 2 0.5

Large files in the plain form that tools write (single spaces, no comments) go through the C++ parser of
`scipy.io.mmread`, which reads one number per line. It ignores what follows a number in its line, so that the form is
verified first: without its digits, every line has to be one of a few texts. Everything else is read line by line in
Python, where errors know their line. Both ways give the same numbers.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from itertools import chain, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support.text import printable
from bisimetric.errors import FileFormatError
from bisimetric.io.files import described, open_regular
from bisimetric.models.rows import Floats

COMMENT = b"#"
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
ALL_DIGITS = b"0123456789"
# What is left of the last number of a line without its digits; frequent ones first.
EXPONENTS = ("", "e-", "e", "e+", "E-", "E", "E+")
SHAPES = [sign + point + exponent for sign, exponent, point in product(("", "-", "+"), EXPONENTS, (".", ""))]
BLOCK = 2**20  # bytes
BYTES_AT_FIRST = 4096  # in which a NUL byte shows another encoding, such as UTF-16


class Source(NamedTuple):
    """A file that was read: all up to its first line with content, and the rest."""

    path: Path
    head: bytes
    body: bytes

    def error(self, line: int, problem: str) -> FileFormatError:
        """The error for a line, counted from 1."""
        return FileFormatError(described(self.path, f"line {line}: {problem}"))

    def problem(self, problem: str) -> FileFormatError:
        """The error for the whole file."""
        return FileFormatError(described(self.path, problem))

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that hold something but a comment, with their numbers from 1."""
        for number, line in enumerate(chain(io.BytesIO(self.head), io.BytesIO(self.body)), 1):
            if _has_content(line):
                yield number, line.strip()


class Table(NamedTuple):
    """The numbers of a file, and the word at the end of each line if there is one."""

    source: Source
    skipped: int  # 1 if the first line with content is a header, else 0
    columns: Floats  # [width, lines]
    words: list[str | None] | None  # [lines]

    def line_of(self, entry: int) -> int:
        """The line in the file of an entry."""
        for k, (number, _) in enumerate(self.source.lines()):
            if k == entry + self.skipped:
                return number
        return 0

    def error(self, entry: int, problem: str) -> FileFormatError:
        """The error for an entry."""
        return self.source.error(self.line_of(entry), problem)

    def whole(self, column: int, what: str, size: int) -> npt.NDArray[np.int64]:
        """A column of indices below `size`."""
        values = self.columns[column]
        wrong = np.flatnonzero(~((values >= 0) & (values < size) & (values == np.floor(values))))
        if len(wrong):
            k = int(wrong[0])
            expected = f"expected a whole number from 0 to {size - 1}"
            raise self.error(k, f"{what} is {_shown(values[k])}, {expected}")
        found: npt.NDArray[np.int64] = values.astype(np.int64)
        return found

    def finite(self, column: int, what: str) -> Floats:
        """A column of finite numbers."""
        values: Floats = self.columns[column]
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise self.error(int(wrong[0]), f"{what} is {values[wrong[0]]}, expected a finite number")
        return values


def read_source(path: Path, expected: str) -> Source:
    """A file as bytes, without a byte order mark; `expected` says what it should hold."""
    try:
        file, _ = open_regular(path, expected)
        with file:
            head = [file.readline()]
            while head[-1] and not _has_content(head[-1]):
                head.append(file.readline())
            first, body = b"".join(head), file.read()
    except FileFormatError as error:
        raise FileFormatError(described(path, error)) from None
    except OSError as error:
        raise FileFormatError(described(path, f"cannot be read: {error.strerror or error}")) from None
    if first.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in first + body[:BYTES_AT_FIRST]:
        raise FileFormatError(described(path, "is not UTF-8 text; save it in that encoding"))
    return Source(path, first.removeprefix(b"\xef\xbb\xbf"), body)


def _has_content(line: bytes) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith(COMMENT)


def read_table(source: Source, skipped: int, widths: tuple[int, ...]) -> Table:
    """The numbers of a file, without its first line with content if `skipped` is 1, or from there if it is 0.

    `widths` are the numbers of columns that a line may have. If there are two, the last column is a word.
    """
    body = source.body if skipped else source.head + source.body
    if not body.endswith(b"\n"):
        body += b"\n"
    for change in (bytes, _with_single_spaces):
        plain = change(body)
        columns = _numbers(plain, widths[0])
        if columns is not None:
            return Table(source, skipped, columns, None)
        if len(widths) > 1 and (parts := _without_words(plain, widths[1])) is not None:
            columns = _numbers(parts[0], widths[0])
            if columns is not None:
                return Table(source, skipped, columns, parts[1])
    return _line_by_line(source, skipped, widths)


# ------------------------------------------------------------------ the plain form


def _with_single_spaces(body: bytes) -> bytes:
    """The same lines without empty ones and with one space between words."""
    body = body.replace(b"\r\n", b"\n").replace(b"\t", b" ")
    for wide, narrow in ((b"  ", b" "), (b" \n", b"\n"), (b"\n ", b"\n"), (b"\n\n", b"\n")):
        while wide in body:
            body = body.replace(wide, narrow)
    return body.lstrip(b" \n")


def _numbers(body: bytes, width: int) -> Floats | None:
    """The numbers [width, lines] of a text in the plain form; None if it has another form."""
    from scipy.io import mmread  # takes a tenth of a second to load

    counts = [_plain_lines(block, width) for block in _blocks(body)]
    if not counts or not all(counts):
        return None
    columns, done = np.empty((width, sum(counts))), 0
    for block, lines in zip(_blocks(body), counts, strict=True):
        head = f"%%MatrixMarket matrix array real general\n{width} {lines}\n".encode()
        try:
            columns[:, done : done + lines] = mmread(io.BytesIO(head + block.replace(b" ", b"\n")))
        except (ValueError, OverflowError):  # an empty column, a lone sign
            return None
        done += lines
    return columns


def _blocks(body: bytes) -> Iterator[bytes]:
    """The text in pieces of whole lines: small ones stay in the processor's cache."""
    start = 0
    while start < len(body):
        end = body.find(b"\n", start + BLOCK)
        end = len(body) if end < 0 else end + 1
        yield body[start:end]
        start = end


def _plain_lines(block: bytes, width: int) -> int:
    """The number of lines, all of which are plain; 0 if one is not."""
    rest = block.translate(None, ALL_DIGITS)
    return rest.count(b"\n") if _has_shape(rest, width) and _signs_fit(block, rest) else 0


def _has_shape(rest: bytes, width: int) -> bool:
    """Whether every line of a text without its digits has `width` numbers in one of the known shapes."""
    known = 0
    for shape in SHAPES:
        line = b" " * (width - 1) + shape.encode() + b"\n"  # the end of at most one shape fits a line
        known += len(line) * rest.count(line)
        if known == len(rest):
            return True
    return False


def _signs_fit(body: bytes, rest: bytes) -> bool:
    """Whether signs begin a number or an exponent, and an exponent has digits on both sides."""
    characters = np.frombuffer(body, np.uint8)
    number, sign = ALL_DIGITS + b".", b"+-"
    for found, before, after in [(b"-", b" eE", number), (b"+", b" eE", number),
                                 (b"e", number, ALL_DIGITS + sign), (b"E", number, ALL_DIGITS + sign)]:  # fmt: skip
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


def _without_words(body: bytes, width: int) -> tuple[bytes, list[str | None]] | None:
    """The lines without their last word, and those words; None if a line has not exactly `width` of them."""
    characters = np.frombuffer(body, np.uint8)
    ends = np.flatnonzero(characters <= 32)
    if not len(ends) or len(ends) % width:
        return None
    by_line = ends.reshape(-1, width)
    kinds = characters[by_line]
    if not ((kinds[:, :-1] == 32).all() and (kinds[:, -1] == 10).all()):
        return None
    first, last = by_line[:, -2], by_line[:, -1]
    depth = np.zeros(len(characters) + 1, np.int8)
    depth[first] += 1
    depth[last] -= 1
    inside = np.cumsum(depth[:-1], dtype=np.int8).astype(np.bool_)
    found: dict[bytes, str] = {}
    words: list[str | None] = []
    for start, end in zip((first + 1).tolist(), last.tolist(), strict=True):
        word = body[start:end]
        text = found.get(word)
        if text is None:
            try:
                text = found[word] = word.decode("utf-8")
            except UnicodeDecodeError:
                return None
        words.append(text)
    return characters[~inside].tobytes(), words


# ------------------------------------------------------------------ any form


def _line_by_line(source: Source, skipped: int, widths: tuple[int, ...]) -> Table:
    """The same for any text; errors name the line."""
    values: list[list[float]] = []
    words: list[str | None] = []
    for k, (number, line) in enumerate(source.lines()):
        if k < skipped:
            continue
        parts = line.split()
        if len(parts) not in widths:
            expected = " or ".join(map(str, widths))
            raise source.error(number, f"has {len(parts)} columns, expected {expected}")
        words.append(decoded(parts[widths[0]], source, number) if len(parts) > widths[0] else None)
        values.append([read_number(part, source, number) for part in parts[: widths[0]]])
    columns = np.array(values, np.float64).reshape(-1, widths[0]).T
    return Table(source, skipped, np.ascontiguousarray(columns), words if any(words) else None)


def read_number(text: bytes, source: Source, line: int) -> float:
    """A decimal number; the error names the line."""
    if NUMBER.fullmatch(text) is None:
        shown = printable(text.decode("utf-8", "backslashreplace"))
        raise source.error(line, f"{shown!r} is no number, expected digits such as 3 or 0.25")
    return float(text)


def decoded(text: bytes, source: Source, line: int) -> str:
    """UTF-8 text; the error names the line."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = text[error.start]
        raise source.error(line, f"byte 0x{bad:02x} is not UTF-8 text; save the file in that encoding") from None


def _shown(value: Any) -> str:
    return str(int(value)) if np.isfinite(value) and value == np.floor(value) else str(float(value))

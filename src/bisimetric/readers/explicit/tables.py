"""Text files that hold lines of numbers: transitions and rewards of explicit models.

    0 1 0.5          state, successor, probability
    0 2 0.5

Files in the plain form that tools write are read by `plain`. Everything else is read line by line here, where errors
know their line. Both ways give the same numbers.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support.text import printable
from bisimetric.errors import FileFormatError
from bisimetric.io.files import described, open_regular
from bisimetric.models.rows import Floats
from bisimetric.readers.explicit.plain import Words, read_plain

COMMENT = b"#"
NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
PIECE = 2**20  # bytes of a file that are read at once
BYTES_AT_FIRST = 4096  # in which a NUL byte shows another encoding, such as UTF-16


class Source(NamedTuple):
    """A file: all up to its first line with content, and what follows, which stays in the file."""

    path: Path
    head: bytes
    offset: int  # bytes of the file before what follows
    size: int  # bytes of the file

    def error(self, line: int, problem: str) -> FileFormatError:
        """The error for a line, counted from 1."""
        return FileFormatError(described(self.path, f"line {line}: {problem}"))

    def problem(self, problem: str) -> FileFormatError:
        """The error for the whole file."""
        return FileFormatError(described(self.path, problem))

    def pieces(self, skipped: int) -> Iterator[bytes]:
        """The text in pieces of whole lines, without the first line with content if `skipped` is 1."""
        before = b"" if skipped else self.head
        with _opened(self.path) as (file, _):
            file.seek(self.offset)
            while piece := file.read(PIECE):
                piece = before + piece + file.readline()
                yield piece if piece.endswith(b"\n") else piece + b"\n"
                before = b""
        if before:
            yield before if before.endswith(b"\n") else before + b"\n"

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that hold something but a comment, with their numbers from 1."""
        with _opened(self.path) as (file, _):
            file.seek(self.offset)
            for number, line in enumerate(chain(io.BytesIO(self.head), file), 1):
                if _has_content(line):
                    yield number, line.strip()

    def text(self) -> bytes:
        """All of it."""
        with _opened(self.path) as (file, _):
            file.seek(self.offset)
            return self.head + file.read()


class TextTable(NamedTuple):
    """The numbers of a file, and the word at the end of each line if there is one."""

    source: Source
    skipped: int  # 1 if the first line with content is a header, else 0
    columns: Floats  # [width, lines]
    words: Words | None  # [lines]

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
    """The beginning of a file, without a byte order mark; `expected` says what it should hold."""
    with _opened(path, expected) as (file, size):
        head = [file.readline()]
        while head[-1] and not _has_content(head[-1]):
            head.append(file.readline())
        first, offset = b"".join(head), file.tell()
        if first.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\0" in first + file.read(BYTES_AT_FIRST):
            raise FileFormatError("is not UTF-8 text; save it in that encoding")
    return Source(path, first.removeprefix(b"\xef\xbb\xbf"), offset, size)


@contextmanager
def _opened(path: Path, expected: str = "text") -> Iterator[tuple[IO[bytes], int]]:
    """The file and its size; what the system refuses becomes an error that names the file."""
    try:
        file, size = open_regular(path, expected)
        with file:
            yield file, size
    except FileFormatError as error:
        raise error if str(path) in str(error) else FileFormatError(described(path, error)) from None
    except OSError as error:
        raise FileFormatError(described(path, f"cannot be read: {error.strerror or error}")) from None


def _has_content(line: bytes) -> bool:
    stripped = line.strip()
    return bool(stripped) and not stripped.startswith(COMMENT)


def read_text_table(source: Source, skipped: int, widths: tuple[int, ...]) -> TextTable:
    """The numbers of a file, without its first line with content if `skipped` is 1, or from there if it is 0.

    `widths` are the numbers of columns that a line may have. If there are two, the last column is a word.
    """
    plain = read_plain(source.pieces(skipped), source.size, widths)
    return _line_by_line(source, skipped, widths) if plain is None else TextTable(source, skipped, *plain)


def _line_by_line(source: Source, skipped: int, widths: tuple[int, ...]) -> TextTable:
    """The same for any text; errors name the line."""
    values: list[list[float]] = []
    number: dict[str | None, int] = {None: 0}
    codes: list[int] = []
    for k, (line, text) in enumerate(source.lines()):
        if k < skipped:
            continue
        parts = text.split()
        if len(parts) not in widths:
            expected = " or ".join(map(str, widths))
            raise source.error(line, f"has {len(parts)} columns, expected {expected}")
        word = decoded(parts[widths[0]], source, line) if len(parts) > widths[0] else None
        codes.append(number.setdefault(word, len(number)))
        values.append([read_number(part, source, line) for part in parts[: widths[0]]])
    columns = np.ascontiguousarray(np.array(values, np.float64).reshape(-1, widths[0]).T)
    return TextTable(source, skipped, columns, Words(np.array(codes, np.int64), list(number)) if any(codes) else None)


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

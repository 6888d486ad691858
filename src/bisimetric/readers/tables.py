"""Tables of numbers in `.npy` and `.csv` files; nothing in them is executed, and their size is limited.

A CSV file may have names in its first row, in its first column, or in both, as pandas writes them. A first row is names
if one of its cells is no number; so is a first column, and one whose head is empty or the only text in its row. Names
that were marked as text for spreadsheets (`io/csv_cells`) are read as they were.
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support import memory
from bisimetric._support.options import shown
from bisimetric.errors import BisimetricError, FileFormatError, NotEnoughMemory
from bisimetric.io.csv_cells import original_name
from bisimetric.io.files import described, open_regular

COPIES = 4  # of a file in memory while it is read
LOOKED_AT = 20  # rows that tell whether the first column is names
LONGEST_CELL = 2**20  # characters
EXPECTED = "rows of numbers"
NOT_A_NUMBER = "expected a number"


class NumberTable(NamedTuple):
    """Numbers, with the names of rows and columns where the file has them."""

    values: npt.NDArray[Any]
    rows: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None


def read_table(path: str) -> NumberTable:
    """The table in a file; every error is one line that begins with the file's name."""
    file = Path(path)
    try:
        opened, size = open_regular(file, EXPECTED)
        opened.close()
        memory.require(COPIES * size, "reading it", "use a machine with more memory")
        return TABLE_READERS[file.suffix.lower()](file)
    except NotEnoughMemory as error:
        raise NotEnoughMemory(described(file, error)) from None
    except (BisimetricError, ValueError, csv.Error) as error:
        raise FileFormatError(described(file, error)) from None
    except OSError as error:
        raise FileFormatError(described(file, f"cannot be read: {error.strerror or error}")) from None


def _read_npy(file: Path) -> NumberTable:
    try:  # mapped: a header that claims more numbers than the file has fails before anything is allocated
        table: npt.NDArray[Any] = np.lib.format.open_memmap(file, mode="r")
    except (OSError, MemoryError):
        raise
    except Exception as error:  # numpy evaluates the header as a literal of Python, which fails in many ways
        raise FileFormatError(f"is not an array of numbers as numpy.save writes it: {error}") from None
    if table.dtype.kind not in "biuf":
        raise FileFormatError(f"holds {table.dtype} values, expected real numbers")
    return NumberTable(table)


def _read_csv(file: Path) -> NumberTable:
    first = _cells(file, LOOKED_AT)
    if not first:
        raise FileFormatError(f"is empty, expected {EXPECTED}")
    corner, *others = first[0]
    numbers_below = len(first) > 1 and all(_is_number(row[0]) for row in first[1:])
    only_corner = not _is_number(corner) and numbers_below and all(map(_is_number, others))
    header = only_corner or any(not _is_number(cell) for cell in others)
    body = first[1:] if header else first
    named = (header and len(others) > 0 and (only_corner or not corner.strip())) or any(
        not _is_number(row[0]) for row in body
    )
    if not body:
        raise FileFormatError(f"holds names and no numbers, expected {EXPECTED}")
    width = max(map(len, body))
    values = _numbers(file, skip=1 if header else 0, columns=range(1, width) if named else None)
    columns = tuple(original_name(cell.strip()) for cell in first[0][1 if named else 0 :]) if header else None
    rows = tuple(original_name(row[0].strip()) for row in _cells(file)[1 if header else 0 :]) if named else None
    for names, count, what in ((rows, len(values), "rows"), (columns, values.shape[1], "columns")):
        if names is not None and len(names) != count:
            raise FileFormatError(f"has {len(names)} names for {count} {what}, expected one for each")
    return NumberTable(values, rows, columns)


def _cells(file: Path, most: int | None = None) -> list[list[str]]:
    """The cells of the first rows, or of all; only the first of each where all are wanted."""
    csv.field_size_limit(LONGEST_CELL)
    try:
        with open(file, encoding="utf-8-sig", newline="") as lines:
            rows = (row for row in csv.reader(lines) if row and not (len(row) == 1 and not row[0].strip()))
            return [row if most is not None else row[:1] for row in islice(rows, most)]
    except UnicodeDecodeError as error:
        raise FileFormatError(f"byte {error.start} is not UTF-8, expected {EXPECTED}") from None


def _numbers(file: Path, *, skip: int, columns: range | None) -> npt.NDArray[np.float64]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            return np.loadtxt(
                file,
                delimiter=",",
                ndmin=2,
                encoding="utf-8-sig",
                skiprows=skip,
                usecols=columns,
                quotechar='"',
                comments=None,
            )
        except UserWarning:
            raise FileFormatError(f"is empty, expected {EXPECTED}") from None
        except ValueError as error:
            raise FileFormatError(_fault(file, skip, columns) or f"is not a table of numbers: {error}") from None


def _fault(file: Path, skip: int, columns: range | None) -> str | None:
    """The first cell that is no number, or the first row of another length."""
    first = 0 if columns is None else columns.start
    width = None
    with open(file, encoding="utf-8-sig", newline="") as lines:
        reader = csv.reader(lines)
        for row in islice((row for row in reader if row), skip, None):
            width = width or len(row)
            if len(row) != width:
                return f"line {reader.line_num} has {len(row)} cells, expected {width} as in the rows before"
            for k, cell in enumerate(row[first:], first):
                if not _is_number(cell):
                    return f"line {reader.line_num}, column {k + 1} is {shown(cell)}, {NOT_A_NUMBER}"
    return None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


TABLE_READERS: dict[str, Callable[[Path], NumberTable]] = {".npy": _read_npy, ".csv": _read_csv}

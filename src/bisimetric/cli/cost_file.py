"""A table of costs from a `.npy`, `.csv` or `.json` file; nothing in it is executed, and its size is limited."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.memory import in_words
from bisimetric.errors import FileFormatError
from bisimetric.readers.tables import read_table

BYTES_PER_COST = 64  # upper limit in all formats
ALWAYS_ALLOWED = 2**20  # bytes; a small table of the wrong shape is refused for its shape, not for its size


def read_costs(path: str, shape: tuple[int, int]) -> npt.ArrayLike:
    """The table in a file, which should have this shape; `Problem` checks the numbers."""
    file = Path(path)
    read = COST_READERS.get(file.suffix)
    if read is None:
        known = ", ".join(COST_READERS)
        raise FileFormatError(
            f"cost {path!r} is unknown, expected 'reward', 'labels', 'label-difference', 'label-jaccard', a sum as in "
            f"'reward+0.5*labels', or a file ({known})"
        )
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise FileFormatError(f"{path} is not a regular file, expected a table of costs")
    limit = max(ALWAYS_ALLOWED, BYTES_PER_COST * shape[0] * shape[1])
    if status.st_size > limit:
        raise FileFormatError(
            f"{path} has {in_words(status.st_size)}, expected at most {in_words(limit)} "
            f"for {shape[0]} x {shape[1]} costs"
        )
    try:
        return read(file)
    except FileFormatError:
        raise
    except (ValueError, RecursionError) as error:  # ValueError covers wrong JSON and wrong UTF-8
        raise FileFormatError(f"{path} is not a {file.suffix} table of numbers: {error}") from None


def _read_table(file: Path) -> npt.NDArray[Any]:
    return read_table(str(file)).values


def _read_json(file: Path) -> npt.NDArray[Any]:
    table = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(table, list) or not all(isinstance(row, list) for row in table):
        raise ValueError("expected a list of rows, each a list of numbers")
    return np.array(table)


COST_READERS: dict[str, Callable[[Path], npt.NDArray[Any]]] = {
    ".npy": _read_table,
    ".csv": _read_table,
    ".json": _read_json,
}

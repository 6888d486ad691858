"""Data frames as transition matrices: their labels become the names of the states.

Nothing of pandas is imported: a frame is what has `columns` and `to_numpy`. Its index and its columns hold the same
labels, in any order; columns are put into the order of the index. Frames without an index (polars) have rows in the
order of their columns. The default labels 0, 1, … make no names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bisimetric._support.options import shown
from bisimetric.errors import BisimetricError, InvalidChain, InvalidProblem

FIRST_LABELS = 4  # labels of a frame in a message
COUNTING = (
    "from_trajectories(...) makes a chain of sequences of states or of a log; for a table of counts take "
    "MarkovChain.normalised(counts)"
)


def matrix_and_names(given: object, names: Iterable[str] | None, what: str) -> tuple[object, Iterable[str] | None]:
    """The matrix and the names, those of a frame if there are no others; what is no matrix is refused."""
    if not is_frame(given):
        if _holds_text(given):
            raise InvalidChain(f"{what} holds text or objects, expected a square matrix of numbers; {COUNTING}")
        if getattr(given, "ndim", 2) == 3:
            raise InvalidChain(
                f"{what} has shape {getattr(given, 'shape', '?')}, expected 2 dimensions: a square matrix; a decision "
                "process is MDP(transitions, rewards), with transitions [A, n, n] and rewards [n, A]"
            )
        return given, names
    matrix, labels = _read(given, what)
    return matrix, labels if names is None else names


def without_frames(given: object, names: Iterable[str] | None) -> tuple[object, Iterable[str] | None]:
    """The same for a sequence of matrices, one per action; all frames are put into the order of the first."""
    if not isinstance(given, (list, tuple)) or not any(map(is_frame, given)):
        return given, names
    matrices: list[object] = []
    first: list[str] | None = None
    for a, matrix in enumerate(given):
        if not is_frame(matrix):
            matrices.append(matrix)
            continue
        table, labels = _read(matrix, f"transitions[{a}]")
        if labels is not None and first is None:
            first = labels
        if labels != first:
            if labels is None or first is None or set(labels) != set(first):
                raise InvalidChain(f"transitions[{a}] has other states than the actions before; use the same labels")
            place = {label: k for k, label in enumerate(labels)}
            order = [place[label] for label in first]
            table = table[np.ix_(order, order)]
        matrices.append(table)
    return matrices, first if names is None else names


def aligned(given: Any, names: Sequence[str] | None, what: str) -> object:
    """A series of one value per state in the order of the names; all else as it is."""
    if isinstance(given, Mapping):
        raise InvalidChain(f"{what} is a dict, expected one value per state; pd.Series({what}) is matched by name")
    if not hasattr(given, "index") or not hasattr(given, "to_numpy") or is_frame(given):
        return given
    order = _order(list(given.index), names, f"{what} is a series over", InvalidChain)
    return given if order is None else given.to_numpy()[order]


def aligned_table(given: Any, rows: Sequence[str] | None, columns: Sequence[str] | None, what: str) -> object:
    """A frame of one number per pair of states in the order of the names; all else as it is."""
    if not is_frame(given) or not hasattr(given, "index"):
        return given
    table = given.to_numpy()
    by_row = _order(list(given.index), rows, f"{what} has rows", InvalidProblem)
    by_column = _order(list(given.columns), columns, f"{what} has columns", InvalidProblem)
    table = table if by_row is None else table[by_row]
    return table if by_column is None else table[:, by_column]


def _order(
    given: list[object], names: Sequence[str] | None, found: str, kind: type[BisimetricError]
) -> list[int] | None:
    """Where each state stands among the labels; None where they are in order, or say nothing about states."""
    labels = [str(label) for label in given]
    if names is None or labels in (list(map(str, range(len(labels)))), list(names)):
        return None
    if len(labels) != len(names) or set(labels) != set(names):
        raise kind(
            f"{found} {_some(labels)}, expected the states {_some(names)}; "
            "reindex it, or give .to_numpy() if it is in their order"
        )
    place = {label: k for k, label in enumerate(labels)}
    return [place[name] for name in names]


def is_frame(given: object) -> bool:
    """Whether this is a data frame."""
    return hasattr(given, "columns") and hasattr(given, "to_numpy") and not isinstance(given, type)


def _read(frame: Any, what: str) -> tuple[np.ndarray[Any, Any], list[str] | None]:
    columns = list(frame.columns)
    rows = list(frame.index) if hasattr(frame, "index") else columns
    dtypes = list(frame.dtypes)
    words = [column for column, dtype in zip(columns, dtypes, strict=True) if _kind(dtype) not in "biuf"]
    table = f"{what} is a table of {len(frame)} rows and the columns {_some(columns)}"
    if len(words) == 1 and len(columns) - 1 == len(frame):
        raise InvalidChain(f"{table}, of which {words[0]!r} names the states; give .set_index({words[0]!r})")
    if words:
        raise InvalidChain(f"{table}, of which {words[0]!r} holds no numbers, expected a square matrix; {COUNTING}")
    if len(frame) != len(columns):
        raise InvalidChain(f"{table}, expected one row and one column per state; {COUNTING}")
    for labels, side in ((rows, "index"), (columns, "columns")):
        if len(set(labels)) < len(labels):
            twice = next(label for label in labels if labels.count(label) > 1)
            raise InvalidChain(f"{what} has {twice!r} twice in its {side}, expected different states")
    if set(rows) != set(columns):
        raise InvalidChain(
            f"{what} has rows {_some(rows)} and columns {_some(columns)}, expected the same states on both sides; "
            "read a file with index_col=0, reindex rows and columns to all states, or give .to_numpy()"
        )
    single = all(_kind(dtype) == "f" and getattr(dtype, "itemsize", 8) <= 4 for dtype in dtypes)
    matrix = np.asarray(frame.to_numpy(), np.float32 if single else np.float64) if not _has_gaps(frame) else None
    if matrix is None:
        raise InvalidChain(f"{what} has missing values, expected probabilities; use .fillna(0) where that is meant")
    place = {label: k for k, label in enumerate(columns)}
    ordered = matrix[:, [place[label] for label in rows]]
    return ordered, None if rows == list(range(len(rows))) else [str(label) for label in rows]


def _holds_text(given: Any) -> bool:
    """Whether this is an array of texts, dates or objects, or nested lists that begin with a text."""
    if isinstance(given, np.ndarray):
        return given.dtype.kind in "SUMm" or (given.dtype.kind == "O" and any(isinstance(x, str) for x in given.flat))
    first = given
    while isinstance(first, (list, tuple)) and len(first):
        first = first[0]
    return isinstance(first, str) and not isinstance(given, str)


def _kind(dtype: Any) -> str:
    """The kind of a column's type: b, i, u, f as numpy's, or something else."""
    if hasattr(dtype, "kind"):
        return str(dtype.kind)
    return "f" if str(dtype).startswith(("Float", "Int", "UInt", "Bool")) else "O"  # polars


def _has_gaps(frame: Any) -> bool:
    return bool(frame.isna().to_numpy().any()) if hasattr(frame, "isna") else False


def _some(labels: Sequence[object]) -> str:
    """The first labels of many."""
    return ", ".join(map(shown, labels[:FIRST_LABELS])) + (", …" if len(labels) > FIRST_LABELS else "")

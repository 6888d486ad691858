"""Where the rows of a log come from: data frames, Arrow tables, Parquet and CSV files, lists of sequences.

Frames of any package become Arrow tables by the protocols that they share: the Arrow PyCapsule interface and the
dataframe interchange protocol. Files are read in batches, so that memory does not grow with the file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from bisimetric._support.options import hint, shown
from bisimetric.errors import FileFormatError, InvalidData, InvalidOption, MissingExtra
from bisimetric.io.files import described, open_regular
from bisimetric.readers.logs.codes import MIXED

if TYPE_CHECKING:
    import pyarrow as pa

PARQUET_SUFFIXES = (".parquet", ".pq")
CSV_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
BATCH_ROWS = 2**19  # rows that are read at a time
CSV_BLOCK = 2**24  # bytes of a CSV file that are read at a time
MOST_NAMED = 10  # columns in a message
LOG_KINDS = "a data frame, an Arrow table, the path of a .parquet or .csv file, or a list of sequences"


class Roles(NamedTuple):
    """Which column is what; None where there is none."""

    sequence: str | None
    step: str | None
    state: str | None
    reward: str | None = None
    action: str | None = None

    def named(self) -> list[str]:
        """The columns to read."""
        return list(dict.fromkeys(name for name in self if name is not None))


def pyarrow() -> Any:
    """The package, or an error with the remedy."""
    try:
        import pyarrow
    except ImportError:
        raise MissingExtra("logs in tables and files need pyarrow: pip install 'bisimetric[data]'") from None
    return pyarrow


def opened(data: Any, roles: Roles) -> Callable[[], Iterator[Any]]:
    """A function that reads the batches from the beginning."""
    if isinstance(data, (str, PathLike)):
        path = Path(fspath(data))
        if str(path).lower().endswith(PARQUET_SUFFIXES):
            return _parquet(path, _needed(roles))
        if str(path).lower().endswith(CSV_SUFFIXES):
            return _csv(path, _needed(roles))
        raise InvalidData(f"{str(data)!r} is a text or a file of another kind, expected {LOG_KINDS}")
    if _is_table(data) or (isinstance(data, Mapping) and roles.sequence is not None):
        table = _selected(_table(data, _needed(roles)), roles.named())
        return lambda: iter(table.to_batches(BATCH_ROWS))
    return _sequences(data, roles)


def _needed(roles: Roles) -> Roles:
    for role in ("sequence", "state"):
        if getattr(roles, role) is None:
            raise InvalidOption(
                f"{role} is missing, expected the name of a column; a log that is one sequence is [list(states)]"
            )
    for role, name in roles._asdict().items():
        if name is not None and not isinstance(name, str):
            raise InvalidOption(f"{role} is {shown(name)}, expected the name of a column, or None")
    return roles


def _is_table(data: Any) -> bool:
    return hasattr(data, "collect_schema") or any(
        hasattr(data, name) for name in ("__arrow_c_stream__", "__dataframe__", "to_batches", "columns")
    )


def _table(data: Any, roles: Roles) -> pa.Table:
    """An Arrow table of what other packages call a frame."""
    arrow = pyarrow()
    if hasattr(data, "collect_schema") and not hasattr(data, "to_arrow"):
        raise InvalidData("data is a lazy frame, expected one with its rows; give .collect()")
    try:
        if hasattr(data, "iloc"):  # pandas
            _check_columns(roles.named(), list(data.columns))
            _refuse_mixed_zones(data, roles.step)
            return arrow.Table.from_pandas(data[roles.named()], preserve_index=False)
        if isinstance(data, Mapping):
            _refuse_mixed_zones(data, roles.step)
            return arrow.table({name: data[name] for name in roles.named() if name in data})
        if hasattr(data, "__arrow_c_stream__"):
            return arrow.table(data)
        if hasattr(data, "__dataframe__"):
            from pyarrow import interchange

            return interchange.from_dataframe(data)
        return arrow.Table.from_batches(data.to_batches())
    except (arrow.ArrowException, TypeError, ValueError) as error:
        if isinstance(error, InvalidData):
            raise
        raise InvalidData(f"a column of the data cannot be read ({_first_line(error)}); {MIXED}") from None


def _refuse_mixed_zones(data: Any, step: str | None) -> None:
    """Arrow would take times without a zone as UTC beside those with one."""
    if step is None or step not in data or str(getattr(data[step], "dtype", "object")) != "object":
        return
    if len({value.tzinfo is None for value in data[step] if isinstance(value, datetime) and value == value}) > 1:
        raise InvalidData(
            f"column {step!r} holds times with a time zone and times without, whose order is not known; say which zone "
            "the latter are in, as with .tz_localize('Europe/Berlin')"
        )


def _parquet(path: Path, roles: Roles) -> Callable[[], Iterator[Any]]:
    arrow = pyarrow()
    from pyarrow import parquet

    def batches() -> Iterator[Any]:
        with _file_errors(path, arrow):
            open_regular(path, "a Parquet file")[0].close()
            plain = parquet.ParquetFile(path)
            _check_columns(roles.named(), plain.schema_arrow.names)
            words = [
                name
                for name in roles.named()
                if arrow.types.is_string(plain.schema_arrow.field(name).type)
                or arrow.types.is_large_string(plain.schema_arrow.field(name).type)
            ]
            with parquet.ParquetFile(path, read_dictionary=words) as file:
                yield from file.iter_batches(batch_size=BATCH_ROWS, columns=roles.named())

    return batches


def _csv(path: Path, roles: Roles) -> Callable[[], Iterator[Any]]:
    arrow = pyarrow()
    from pyarrow import csv

    words = [name for name in (roles.sequence, roles.state, roles.action) if name is not None]

    def batches() -> Iterator[Any]:
        with _file_errors(path, arrow):
            open_regular(path, "a CSV file")[0].close()
            parse = csv.ParseOptions(delimiter="\t" if ".tsv" in path.name.lower() else ",")
            read = csv.ReadOptions(block_size=CSV_BLOCK)
            with csv.open_csv(path, csv.ReadOptions(block_size=CSV_BLOCK), parse) as head:
                _check_separator(roles.named(), head.schema.names)
                _check_columns(roles.named(), head.schema.names)
            convert = csv.ConvertOptions(
                include_columns=roles.named(),
                column_types=dict.fromkeys(words, arrow.string()),
                null_values=[""],
                strings_can_be_null=True,
            )
            with csv.open_csv(path, read, parse, convert) as reader:
                yield from reader

    return batches


@contextmanager
def _file_errors(path: Path, arrow: Any) -> Iterator[None]:
    """Turn errors of a file into ones that name it."""
    try:
        yield
    except (InvalidData, FileFormatError) as error:
        raise type(error)(described(path, error)) from None
    except (arrow.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileFormatError(described(path, f"cannot be read: {_first_line(error)}")) from None


def _sequences(data: Any, roles: Roles) -> Callable[[], Iterator[Any]]:
    """Lists of states, one per sequence."""
    for role, name in roles._asdict().items():
        if name is not None:
            raise InvalidOption(f"{role} is {shown(name)} but data is no table of columns; expected {LOG_KINDS}")
    if isinstance(data, Mapping):
        data = data.values()
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        raise InvalidData(f"data is a {type(data).__name__}, expected {LOG_KINDS}")
    kept = [_one_sequence(sequence, k) for k, sequence in enumerate(data)]

    def batches() -> Iterator[Any]:
        remaining = iter(kept)
        while part := list(islice(remaining, BATCH_ROWS // 16)):
            yield part

    return batches


def _one_sequence(sequence: Any, k: int) -> list[Any]:
    if isinstance(sequence, (str, bytes, Mapping)) or not isinstance(sequence, Iterable):
        raise InvalidData(
            f"data[{k}] is {shown(sequence)}, expected a sequence of states; one sequence alone is [states]"
        )
    states = sequence.tolist() if hasattr(sequence, "tolist") else list(sequence)
    for i, state in enumerate(states):
        if state is None or state != state:
            raise InvalidData(f"data[{k}][{i}] is missing ({state!r}), expected a state; drop it or give it a name")
        if isinstance(state, (list, dict, set)):
            raise InvalidData(f"data[{k}][{i}] is a {type(state).__name__}, expected a state: text or a whole number")
    return states


def _selected(table: pa.Table, names: list[str]) -> pa.Table:
    _check_columns(names, table.column_names)
    return table.select(names)


def _check_separator(names: list[str], known: list[str]) -> None:
    """Say so where the only column is several, as a file with semicolons has it."""
    for mark in (";", "\t", "|", ","):
        if len(known) == 1 and set(names) <= {part.strip(' "') for part in known[0].split(mark)} and mark in known[0]:
            raise InvalidData(
                f"its columns are separated by {mark!r}, expected ',' in .csv and tabs in .tsv files; write it so, or "
                f"give from_trajectories what pd.read_csv(file, sep={mark!r}) reads"
            )


def _check_columns(names: list[str], known: list[str]) -> None:
    for name in names:
        if name not in known:
            some = ", ".join(map(repr, known[:MOST_NAMED])) + (", …" if len(known) > MOST_NAMED else "")
            raise InvalidData(f"there is no column {name!r}, expected one of {some}{hint(name, map(str, known))}")
        if known.count(name) > 1:
            raise InvalidData(f"the column {name!r} occurs {known.count(name)} times, expected once; rename one")


def _first_line(error: BaseException) -> str:
    text = "; ".join(map(str, error.args)).strip()
    return text.splitlines()[0] if text else type(error).__name__

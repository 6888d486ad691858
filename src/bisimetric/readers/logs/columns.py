"""The columns of a log as numbers, in batches.

Values become numbers at once (`codes`), and times become whole numbers of their unit since 1970 in UTC, whatever the
time zone. Gaps, mixed types and steps without an order are errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support.options import shown
from bisimetric.errors import InvalidData
from bisimetric.models.rows import Floats, Ints
from bisimetric.readers.logs.codes import Codes
from bisimetric.readers.logs.sources import Roles, opened, pyarrow

MOST_LOG_STATES = 100_000
GROUPING = (
    "a distance compares all pairs of states; group them first (a page's template instead of its address, a bin "
    "instead of a measurement), or check that the column is no identifier"
)


class LogRows(NamedTuple):
    """Some rows: numbers of sequences, states and actions, steps and rewards."""

    sequence: Ints
    state: Ints
    step: Ints | Floats | None
    reward: Floats | None
    action: Ints | None

    def rows(self, place: Ints) -> LogRows:
        """The rows at these places."""
        step, reward, action = (None if part is None else part[place] for part in self[2:])
        return LogRows(self.sequence[place], self.state[place], step, reward, action)  # type: ignore[arg-type]


class Log:
    """A log whose batches can be read several times; `codes` number its sequences, states and actions."""

    def __init__(self, data: Any, roles: Roles) -> None:
        self.roles = roles
        self.sequences = Codes(f"column {roles.sequence!r}")
        self.states = Codes(_states_of(roles), MOST_LOG_STATES, GROUPING)
        self.actions = Codes(f"column {roles.action!r}", MOST_LOG_STATES, GROUPING)
        self._step_type: Any = None
        self._open = opened(data, roles)

    def batches(self) -> Iterator[LogRows]:
        """All rows, in the order of the data."""
        rows = 0
        for columns in self._open():
            batch = self._coded(columns, rows)
            rows += len(batch.state)
            yield batch

    def step_text(self, step: Any) -> str:
        """A step as messages show it; times as times."""
        arrow = pyarrow()
        if self._step_type is None or not arrow.types.is_timestamp(self._step_type):
            return str(step)
        return str(arrow.scalar(int(step), arrow.int64()).cast(self._step_type))

    def _coded(self, columns: Any, rows: int) -> LogRows:
        if isinstance(columns, list):  # one after the other, of a list of sequences
            first, sizes = len(self.sequences), [len(sequence) for sequence in columns]
            numbers = self.sequences.of(range(first, first + len(sizes)))
            states = self.states.of(state for sequence in columns for state in sequence)
            return LogRows(np.repeat(numbers, sizes), states, None, None, None)
        part = {name: columns.column(name) for name in columns.schema.names}
        roles = self.roles
        for name in roles.named():
            _refuse_gaps(part[name], name, rows)
        step = None if roles.step is None else _steps(part[roles.step], roles.step)
        self._step_type = None if roles.step is None else part[roles.step].type
        reward = None if roles.reward is None else _rewards(part[roles.reward], roles.reward, rows)
        action = None if roles.action is None else _numbered(part[roles.action], self.actions)
        return LogRows(
            _numbered(part[roles.sequence], self.sequences), _numbered(part[roles.state], self.states), step, reward,
            action,
        )  # fmt: skip


def _refuse_gaps(array: Any, name: str, rows: int) -> None:
    arrow = pyarrow()
    gaps = array.is_null(nan_is_null=arrow.types.is_floating(array.type))
    if gaps.true_count:
        row = rows + gaps.to_numpy(zero_copy_only=False).tolist().index(True)
        raise InvalidData(
            f"row {row} of column {name!r} is missing, as {gaps.true_count} here, expected a value in every row; drop "
            "such rows (dropna), or give what is missing a name of its own (fillna)"
        )


def _numbered(array: Any, codes: Codes) -> Ints:
    """The numbers of the values of a column."""
    arrow = pyarrow()
    kinds = arrow.types
    if not kinds.is_dictionary(array.type):
        if kinds.is_string_view(array.type):
            array = array.cast(arrow.large_string())
        if kinds.is_temporal(array.type) or kinds.is_nested(array.type) or kinds.is_decimal(array.type):
            raise InvalidData(f"{codes.what} holds {array.type}, expected text or whole numbers; use .astype(str)")
        array = array.dictionary_encode()
    numbers: Ints = codes.of(array.dictionary.to_pylist())[array.indices.to_numpy(zero_copy_only=False)]
    return numbers


def _steps(array: Any, name: str) -> Ints | Floats:
    """Numbers in the order of the steps."""
    arrow = pyarrow()
    kinds = arrow.types
    if kinds.is_dictionary(array.type):
        array = array.dictionary_decode()
    if kinds.is_floating(array.type):
        return np.asarray(array.to_numpy(zero_copy_only=False), np.float64)
    if kinds.is_date(array.type):
        array = array.cast(arrow.timestamp("ms"))
    if kinds.is_integer(array.type) or kinds.is_temporal(array.type):
        return np.asarray(array.cast(arrow.int64()).to_numpy(zero_copy_only=False))
    raise InvalidData(
        f"column {name!r} holds {array.type}, as {shown(array[0].as_py())}, which has no order in time, expected "
        "numbers or times as 2024-03-31T09:30:00, all with a time zone or all without; convert it with pd.to_datetime "
        "or .astype(int), or leave out the step to take the rows in their order"
    )


def _rewards(array: Any, name: str, rows: int) -> Floats:
    kinds = pyarrow().types
    if not (kinds.is_integer(array.type) or kinds.is_floating(array.type) or kinds.is_boolean(array.type)):
        raise InvalidData(f"column {name!r} holds {array.type}, expected numbers as rewards; .astype(float) makes some")
    found: npt.NDArray[np.float64] = np.asarray(array.to_numpy(zero_copy_only=False), np.float64)
    if not np.isfinite(found).all():
        row = rows + int(np.flatnonzero(~np.isfinite(found))[0])
        raise InvalidData(f"row {row} of column {name!r} is infinite, expected a finite reward; clip it before")
    return found


def _states_of(roles: Roles) -> str:
    return "data" if roles.state is None else f"column {roles.state!r}"

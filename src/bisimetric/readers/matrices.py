"""Transition matrices in files: `.npy` as numpy writes them, `.csv` with or without names of states.

Options behind the file name: `counts.csv,normalise` divides every row by its sum, `P.npy,reward=[0,1],start=0` gives
rewards (a list, or a file with one column) and the state to start in.
"""

from __future__ import annotations

import numpy as np

from bisimetric.errors import FileFormatError, InvalidChain
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import RESCALED_ROW
from bisimetric.readers.reader import Reader
from bisimetric.readers.specs import Spec, is_file_of, split_spec
from bisimetric.readers.tables import NOT_A_NUMBER, NumberTable, read_table

MATRIX_SUFFIXES = (".csv", ".npy")
OPTIONS = ("normalise", "reward", "start")
RESCALING = "FILE,normalise rescales rows, on the command line --normalise-rows"

EVENT_LOG = (
    "; an event log, with a row for every event, is no matrix: "
    "FILE,sequence=COLUMN,state=COLUMN,step=COLUMN reads it as a log"
)


def _read(text: str) -> MarkovChain:
    spec = split_spec(text)
    spec.check_options(OPTIONS)
    options = spec.values()
    try:
        table = read_table(spec.head)
    except FileFormatError as error:
        raise FileFormatError(f"{error}{EVENT_LOG if NOT_A_NUMBER in str(error) else ''}") from None
    _check_square(table, spec)
    make = MarkovChain.normalised if options.get("normalise") else MarkovChain
    try:
        return make(table.values, reward=_reward(spec), start=options.get("start"), names=_names(table, spec))
    except InvalidChain as error:
        message = str(error).replace(RESCALED_ROW, RESCALING)
        raise InvalidChain(f"{spec.head}: {message}") from None


def _check_square(table: NumberTable, spec: Spec) -> None:
    shape = table.values.shape
    if len(shape) == 2 and shape[0] == shape[1]:
        return
    if len(shape) == 3:
        raise FileFormatError(
            f"{spec.head} has shape {shape}, expected a square matrix; a decision process needs rewards too: "
            "bisimetric.MDP(transitions, rewards).save(...) writes a file that has both"
        )
    columns = f" ({', '.join(table.columns[:6])}{', …' if len(table.columns) > 6 else ''})" if table.columns else ""
    log = EVENT_LOG if len(shape) == 2 and shape[0] > shape[1] else ""
    size = " x ".join(map(str, shape))
    raise FileFormatError(
        f"{spec.head} has {size} numbers{columns}, expected a square matrix of transition probabilities, "
        f"one row and one column per state{log}"
    )


def _names(table: NumberTable, spec: Spec) -> tuple[str, ...] | None:
    """The names of the states; those of rows and columns must agree."""
    if table.rows is None or table.columns is None:
        return table.rows if table.columns is None else table.columns
    for k, (row, column) in enumerate(zip(table.rows, table.columns, strict=True)):
        if row != column:
            raise FileFormatError(
                f"{spec.head} calls row {k} {row!r} and column {k} {column!r}, expected the same states in the same "
                "order; reorder the columns"
            )
    return table.rows


def _reward(spec: Spec) -> object:
    given = spec.values().get("reward")
    if not isinstance(given, str):
        return given
    if not given.lower().endswith(MATRIX_SUFFIXES):
        known = ", ".join(MATRIX_SUFFIXES)
        raise FileFormatError(f"reward in {spec.text!r} is {given!r}, expected a list as in [0,1], or a file ({known})")
    values = read_table(given).values
    if values.ndim == 2 and 1 in values.shape:
        values = values.ravel()
    return np.asarray(values)


READER = Reader(f"a matrix file ({', '.join(MATRIX_SUFFIXES)})", lambda obj: is_file_of(obj, MATRIX_SUFFIXES), _read)

"""Logs of sequences become chains with counts, or decision processes where actions were taken."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, overload

import numpy as np
from scipy import sparse

from bisimetric._support.options import check_kind, is_positive, one_of, shown, whole
from bisimetric.errors import InvalidData, InvalidOption
from bisimetric.models.estimated import UNSEEN_RULES, EstimatedChain, SequenceCounts
from bisimetric.models.estimated_mdp import EstimatedMDP
from bisimetric.models.rows import Ints
from bisimetric.readers.logs.columns import Log
from bisimetric.readers.logs.counting import HIGHEST_ORDER, Counted, counted
from bisimetric.readers.logs.sources import CSV_SUFFIXES, PARQUET_SUFFIXES, Roles
from bisimetric.readers.reader import Reader
from bisimetric.readers.specs import is_file_of, split_spec

END_NAME = "(end)"
ARROW = " → "  # between the values of a state that is several
ONE_ACTION: Ints = np.zeros(1, np.int64)
LOG_OPTIONS = ("sequence", "step", "state", "reward", "action", "smoothing", "unseen", "order", "end")


@overload
def from_trajectories(
    data: Any,
    *,
    sequence: str | None = None,
    step: str | None = None,
    state: str | None = None,
    reward: str | None = None,
    action: None = None,
    smoothing: float | None = None,
    states: Iterable[object] | None = None,
    unseen: Literal["absorbing", "drop"] = "absorbing",
    order: int = 1,
    end: bool | str = False,
) -> EstimatedChain: ...


@overload
def from_trajectories(
    data: Any,
    *,
    sequence: str | None = None,
    step: str | None = None,
    state: str | None = None,
    reward: str | None = None,
    action: str,
    smoothing: float | None = None,
    states: Iterable[object] | None = None,
    unseen: Literal["absorbing", "drop"] = "absorbing",
    order: int = 1,
    end: bool | str = False,
) -> EstimatedMDP: ...


def from_trajectories(
    data: Any,
    *,
    sequence: str | None = None,
    step: str | None = None,
    state: str | None = None,
    reward: str | None = None,
    action: str | None = None,
    smoothing: float | None = None,
    states: Iterable[object] | None = None,
    unseen: Literal["absorbing", "drop"] = "absorbing",
    order: int = 1,
    end: bool | str = False,
) -> EstimatedChain | EstimatedMDP:
    """Estimate a chain from sequences of states: sessions of a log, patients, episodes.

    Files are read in batches. Rows may be in any order: they are put in the order of their steps, by sequence. Whatever
    is decided about the data is in `chain.notes`.

    Parameters
    ----------
    data : DataFrame, Arrow table, path of a Parquet or CSV file, or list of sequences
        A table has a row for every step of every sequence. Frames are pandas', polars', or any with the Arrow PyCapsule
        interface or the dataframe interchange protocol. A list holds one list of states for each sequence.
    sequence, state : str
        The columns that say which sequence a row belongs to, and in which state it is. For tables and files only. All
        values of a column are text, whole numbers (1 and 1.0 are the same) or true and false; mixed ones are an error.
        In CSV files they are text as it is written: 1, 1.0 and 01 are three states there.
    step : str, optional
        The column that orders the rows of a sequence: numbers or times, no two equal. Times of all time zones are
        compared as instants; times with and without a zone in one column are an error. None takes the rows in their
        order.
    reward : str, optional
        The column with rewards; the reward of a state is the mean over its rows.
    action : str, optional
        The column with the action taken in each row. The result is then an `EstimatedMDP`, which needs rewards too.
    smoothing : float, optional
        Added to the count of every transition between all states, so that every row has data; 1 is Laplace's rule.
    states : list, optional
        All states, in the order that the chain should have. A state that is not among them is an error. By default the
        states that occur, sorted.
    unseen : {"absorbing", "drop"}
        What happens to states that are never left, unless they are smoothed: they stay where they are, or they are left
        out together with all transitions into them.
    order : int, default 1
        With 2 the states are pairs of consecutive values, with 3 triples: what comes next may then depend on more than
        the present. The label of such a state is its last value.
    end : bool or str, default False
        Let every sequence end in an absorbing state of its own, with this name or "(end)".

    Returns
    -------
    EstimatedChain or EstimatedMDP

    Raises
    ------
    InvalidData
        A column is missing, has gaps or mixed types; two rows of a sequence have the same step; there is no transition
        at all; there are more than 100 000 different states.
    FileFormatError
        The file cannot be read.
    MissingExtra
        pyarrow is missing: `pip install 'bisimetric[data]'`. Lists need nothing.

    Examples
    --------
    >>> import bisimetric as bm
    >>> visits = [["home", "cart", "paid"], ["home", "help", "home", "cart"], ["help", "home"]]
    >>> chain = bm.from_trajectories(visits)
    >>> chain
    EstimatedChain(4 states, 6 transitions, 3 sequences, 1 states seen once, 1 never left (absorbing))
    >>> chain.counts.toarray().tolist()
    [[0, 0, 0, 1], [0, 0, 2, 0], [2, 1, 0, 0], [0, 0, 0, 0]]
    """
    rule = one_of(unseen, "unseen", [name for name in UNSEEN_RULES if name != "smoothing"])
    if smoothing is not None:
        if not is_positive(smoothing):
            raise InvalidOption(f"smoothing is {shown(smoothing)}, expected a positive number such as 0.5, or None")
        rule = "smoothing"
    whole(order, "order", at_least=1, at_most=HIGHEST_ORDER)
    check_kind(end, "end", (bool, str), "True, False or the name of the last state")
    if action is not None and (reward is None or order > 1 or end or smoothing is not None or rule == "drop"):
        raise InvalidOption(
            "action is given, expected reward= with it (a decision process has rewards), and neither order=, end=, "
            "smoothing= nor unseen='drop'"
        )
    found = counted(Log(data, Roles(sequence, step, state, reward, action)), order, end=bool(end))
    if not found.rows:
        raise InvalidData("the log is empty, expected at least one sequence of two rows")
    last = END_NAME if end is True else str(end)
    names, place = _named(found, states, last)
    notes = _notes(found)
    if found.actions is not None:
        order_of = sorted(range(len(found.action_values)), key=lambda k: found.action_values[k])
        turned = np.argsort(order_of)
        sequences = _moved(found.sequences, place, len(names), turned)
        actions = [_text(found.action_values[k]) for k in order_of]
        return EstimatedMDP(sequences, turned[found.actions], names, actions, notes=notes)
    labels = names
    if order > 1:
        labels = list(names)
        for values, k in zip(found.states, place, strict=True):
            labels[k] = _text(values[-1]) if values else names[k]
    sequences = _moved(found.sequences, place, len(names))
    if not len(sequences.source):
        raise InvalidData("no sequence has two rows, so there is no transition; check which column is the sequence")
    ended = last if end else None
    return EstimatedChain(sequences, names, labels, rule=rule, smoothing=smoothing or 0.0, end=ended, notes=notes)


def _named(found: Counted, states: Iterable[object] | None, end: str) -> tuple[list[str], Ints]:
    """Names of all states in their order, and the place of every counted state in it."""
    values = found.states
    texts = [ARROW.join(map(_text, value)) if value else end for value in values]
    if len(set(texts)) < len(texts):
        twice = next(text for text in texts if texts.count(text) > 1)
        raise InvalidData(f"two states are called {twice!r}, expected different names; give end= another name")
    if states is None:
        order = sorted(range(len(values)), key=lambda k: (not values[k], values[k]))
        place = np.empty(len(values), np.int64)
        place[order] = np.arange(len(values))
        return [texts[k] for k in order], place
    names = [_text(state) for state in states]
    if not names or len(set(names)) < len(names):
        raise InvalidOption(
            f"states holds {len(names)} names, of which {len(set(names))} differ, expected all different"
        )
    if end in texts and not values[texts.index(end)] and end not in names:
        names.append(end)
    known = {name: k for k, name in enumerate(names)}
    missing = [text for text in texts if text not in known]
    if missing:
        some = ", ".join(map(repr, missing[:4])) + (", …" if len(missing) > 4 else "")
        raise InvalidData(
            f"the data holds {len(missing)} states that are not in states=: {some}; add them or drop their rows"
        )
    return names, np.array([known[text] for text in texts], np.int64)


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _moved(sequences: SequenceCounts, place: Ints, n: int, actions: Ints = ONE_ACTION) -> SequenceCounts:
    """The same contributions with states, and actions, in another order; there are `n` states then."""
    start = np.where(sequences.start >= 0, place[sequences.start], -1)
    sums = [None if part is None else _spread(part, place, n, actions) for part in (sequences.reward, sequences.visits)]
    return SequenceCounts(n, place[sequences.source], place[sequences.target], start, sequences.counts, *sums)


def _spread(matrix: sparse.csr_array, place: Ints, n: int, actions: Ints) -> sparse.csr_array:
    """Columns of states and actions moved to their places."""
    count = len(actions)
    columns = place[matrix.indices // count] * count + actions[matrix.indices % count]
    return sparse.csr_array((matrix.data, columns, matrix.indptr), shape=(matrix.shape[0], n * count))


def _notes(found: Counted) -> list[str]:
    notes = []
    if found.resorted:
        notes.append("steps were not ascending: rows were sorted by step within their sequences")
    if found.short:
        notes.append(f"{found.short} of {len(found.sequences)} sequences are too short for a transition")
    return notes


def _read(text: str) -> EstimatedChain | EstimatedMDP:
    spec = split_spec(text)
    spec.check_options(LOG_OPTIONS)
    for role in ("sequence", "state"):
        if role not in spec.options:
            raise InvalidOption(
                f"{role} is missing in {text!r}, expected the names of columns, as in "
                f"{spec.head},sequence=COLUMN,state=COLUMN,step=COLUMN"
            )
    options: dict[str, Any] = spec.values()
    model: EstimatedChain | EstimatedMDP = from_trajectories(spec.head, **options)
    return model


def _is_log(obj: object) -> bool:
    """Whether this is the name of a Parquet file, or of a CSV file with an option that only logs have."""
    if not is_file_of(obj, CSV_SUFFIXES):
        return is_file_of(obj, PARQUET_SUFFIXES)
    return any(option in LOG_OPTIONS and option != "reward" for option in split_spec(str(obj)).options)


READER = Reader("a log (.parquet or .csv,sequence=COLUMN,state=COLUMN,step=COLUMN)", _is_log, _read)

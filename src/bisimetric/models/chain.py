"""A finite Markov chain, as the library uses it everywhere.

Only the constructor validates; other code relies on it. `transitions` holds rows that sum to one exactly (see `rows`).
`row_error` bounds how far they are from the true ones: by rounding, or because the rows are known only so well
(`uncertain`). Results are about all chains within that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric._support.content import EqualByContent
from bisimetric._support.frozen import Immutable, changed, frozen
from bisimetric._support.stored import Stored
from bisimetric._support.text import printable
from bisimetric._support.viewed import InNotebooks
from bisimetric.errors import InvalidChain
from bisimetric.models.frames import COUNTING, aligned, matrix_and_names
from bisimetric.models.radii import LARGEST_ROW_ERROR, ROUNDED_ROW_ERROR, checked_row_error, checked_start_error
from bisimetric.models.rows import (
    Floats,
    SparseField,
    as_csr,
    exact_rows,
    is_scalar,
    real_array,
    refuse_not_finite,
    scaled_rows,
)

Label = str | int | float | tuple[str | int | float, ...]
State = int | str


@dataclass(frozen=True, eq=False, init=False)
class MarkovChain(EqualByContent, Stored, InNotebooks, Immutable):
    """A finite Markov chain with optional rewards, start, names and labels; immutable.

    Chains with equal rows, reward, start, names and labels are equal and have equal hashes.

    Parameters
    ----------
    transitions : [n, n] array, sparse matrix or DataFrame
        Row x is the distribution of the successors of state x. Rows sum to one within 1e-9 (1e-6 in single
        precision); they are rescaled and rounded so that they sum to one exactly. The index of a frame has the names,
        and its columns are the same in any order.
    reward : [n] array, optional
        The reward of each state, by which the default cost compares states.
    start : int, str or [n] array, optional
        The state in which the chain starts, by index or name, or a distribution over states.
    names : sequence of n different strings, optional
    labels : sequence of n labels, optional
        One value per state: a string, a number, or a flat collection of those (a set of propositions, a feature
        vector). Labels are the same where Python finds them equal: True, 1 and 1.0 are one label. A text is the same
        label as the set that holds it alone, and an empty text the same as the empty set.
    row_error : float or [n] array, default 0
        How far the true row of each state may be from the given one in 1-norm, from 0 to 2; the true row may also lead
        to states to which the given one does not. `solve` then bounds the distance between all chains within that.
        One object on both sides, `distance(x, x)`, is one unknown chain, at 0 from itself; two equal objects are two.
    start_error : float, default 0
        The same for the start.

    Attributes
    ----------
    transitions : scipy.sparse.csr_array, [n, n]
    reward : [n] array or None
    start : [n] array or None
        A distribution, also where a single state was given.
    names : tuple of str, or None
    labels : tuple, or None; collections are tuples here
    n_states : int
    row_error : [n] array
        With what rounding to exact rows adds, a few units in the last place.
    start_error : float
    uncertain : bool
        Whether rows or the start are known only up to an error that is larger than rounding.
    title : str or None, what it was read from, for pictures; equality and files ignore it

    Raises
    ------
    InvalidChain
        The arguments do not describe a chain; the message says where and what to do.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], start=0)
    MarkovChain(2 states, 3 transitions, reward, start)
    """

    reward: Floats | None  # [n]
    start: Floats | None  # [n], a distribution
    names: tuple[str, ...] | None
    labels: tuple[Label, ...] | None
    row_error: Floats = field(repr=False)  # [n], 1-norm between the true row and the row stored
    start_error: float = field(repr=False)  # 1-norm between the true start and the start stored, apart from rounding
    merged: npt.NDArray[np.bool_] = field(repr=False)  # [n], stands for several states whose rows differ (`quotient`)
    transitions: SparseField[sparse.csr_array] = SparseField()  # noqa: RUF009 - [n, n], exact rows
    computed: bool = field(default=False, repr=False)  # `row_error` comes from computing the rows
    title: str | None = field(default=None, repr=False)  # where it comes from, for pictures; no part of its content

    def __init__(
        self,
        transitions: object,
        *,
        reward: object = None,
        start: object = None,
        names: Iterable[str] | None = None,
        labels: Iterable[object] | None = None,
        row_error: object = 0.0,
        start_error: object = 0.0,
    ) -> None:
        transitions, names = matrix_and_names(transitions, names, "transitions")
        matrix, tol = as_csr(transitions, "transitions")
        n_states = matrix.shape[0]
        if n_states == 0:
            raise InvalidChain("transitions is empty, expected at least one state")
        if matrix.shape[1] != n_states:
            raise InvalidChain(f"transitions has shape {matrix.shape}, expected a square matrix; {COUNTING}")
        rows = exact_rows(matrix, "transitions", tol)
        known_names = checked_names(names, n_states)
        errors = checked_row_error(aligned(row_error, known_names, "row_error"), n_states)
        values = {
            "transitions": rows.matrix,
            "row_error": frozen(np.minimum(rows.error + errors, LARGEST_ROW_ERROR)) if errors.any() else rows.error,
            "start_error": checked_start_error(start_error, start),
            "merged": frozen(np.zeros(n_states, np.bool_)),
            "names": known_names,
            "reward": _checked_reward(aligned(reward, known_names, "reward"), n_states),
            "labels": checked_labels(labels, n_states, known_names),
            "start": checked_start(start, n_states, known_names),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def normalised(
        cls,
        transitions: object,
        *,
        reward: object = None,
        start: object = None,
        names: Iterable[str] | None = None,
        labels: Iterable[object] | None = None,
        row_error: object = 0.0,
        start_error: object = 0.0,
    ) -> MarkovChain:
        """Make a chain of rows with any positive sums, such as counts or weights.

        Parameters
        ----------
        transitions : [n, n] array, sparse matrix or DataFrame
            Entries that are not negative; each row is divided by its sum.
        reward, start, names, labels, row_error, start_error
            As in the constructor.

        Returns
        -------
        MarkovChain

        Raises
        ------
        InvalidChain
            A row is all zero, or something else is wrong with the arguments.

        Examples
        --------
        >>> import bisimetric as bm
        >>> bm.MarkovChain.normalised([[3, 1], [0, 2]]).transitions.toarray().tolist()
        [[0.75, 0.25], [0.0, 1.0]]
        """
        transitions, names = matrix_and_names(transitions, names, "transitions")
        matrix, _ = as_csr(transitions, "transitions")
        refuse_not_finite(matrix, "transitions")
        if matrix.nnz and matrix.data.min() >= 0:
            matrix = scaled_rows(matrix)
            empty = np.flatnonzero(matrix.sum(axis=1) == 0.0)
            if len(empty):
                raise InvalidChain(
                    f"row {int(empty[0])} of transitions is all zero, expected a positive sum; add a self-loop"
                )
        return cls(
            matrix,
            reward=reward,
            start=start,
            names=names,
            labels=labels,
            row_error=row_error,
            start_error=start_error,
        )

    @cached_property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.row_error)

    @cached_property
    def uncertain(self) -> bool:
        """Whether rows or the start are known only up to an error that is larger than rounding."""
        return bool(not self.computed and self.row_error.max() > ROUNDED_ROW_ERROR) or self.start_error > 0.0

    def as_given(self) -> MarkovChain:
        """Return the chain with the rows and the start as they are stored, known up to rounding."""
        rounding = np.where(self.row_error > ROUNDED_ROW_ERROR, 0.0, self.row_error)
        return changed(self, row_error=rounding, start_error=0.0) if self.uncertain else self

    def with_start(self, start: object) -> MarkovChain:
        """Return the same chain with another start, known exactly: a state (index or name) or a distribution [n]."""
        return changed(self, start=checked_start(start, self.n_states, self.names), start_error=0.0)

    def successors(self, state: int) -> npt.NDArray[Any]:
        """The states that `state` moves to with positive probability, ascending."""
        rows = self.transitions
        states: npt.NDArray[Any] = rows.indices[rows.indptr[state] : rows.indptr[state + 1]]
        return states

    def name_of(self, state: int) -> str:
        """The state's name, or its index as text."""
        return self.names[state] if self.names is not None else str(state)

    def _arrays(self) -> tuple[npt.NDArray[Any] | None, ...]:
        rows = self.transitions
        return rows.indptr, rows.indices, rows.data, self.reward, self.start

    def _words(self) -> tuple[object, ...]:
        errors = (self.row_error.tobytes(), self.start_error) if self.uncertain else ()
        return self.names, compared_labels(self.labels), errors

    def __repr__(self) -> str:
        present = [name for name in ("reward", "start", "names", "labels") if getattr(self, name) is not None]
        present += ["row errors"] if self.uncertain else []
        extent = f"{self.n_states} states, {self.transitions.nnz} transitions"
        return f"MarkovChain({', '.join([extent, *present])})"


def state_index(state: object, n_states: int, names: Sequence[str] | None) -> int:
    """The index of a state given by index or by name."""
    if isinstance(state, str):
        if names is not None and state in names:
            return names.index(state)
        if not (state.isascii() and state.isdigit() and len(state) < 20):
            first = ", ".join(map(printable, names[:3])) if names is not None else ""
            known = "the states have no names" if names is None else f"known names begin {first}"
            raise InvalidChain(f"state {state!r} is unknown: {known}; give an index from 0 to {n_states - 1}")
        state = int(state)
    if isinstance(state, (bool, np.bool_)) or not isinstance(state, (int, np.integer)):
        raise InvalidChain(f"state {state!r} is a {type(state).__name__}, expected an index or a name")
    if not 0 <= state < n_states:
        raise InvalidChain(f"state {int(state)} is out of range, expected an index from 0 to {n_states - 1}")
    return int(state)


def _checked_reward(reward: object, n_states: int) -> Floats | None:
    if reward is None:
        return None
    array = real_array(reward, "reward", InvalidChain, ndim=1)
    if len(array) != n_states:
        raise InvalidChain(f"reward has {len(array)} entries, expected one per state: {n_states}")
    return frozen(array)


def checked_start(start: object, n_states: int, names: Sequence[str] | None) -> Floats | None:
    """The start as a distribution with an exact sum, from a state (index or name) or a distribution."""
    if start is None:
        return None
    start = aligned(start, names, "start")
    if is_scalar(start, "start", InvalidChain):
        distribution = np.zeros(n_states)
        distribution[state_index(start, n_states, names)] = 1.0
        return frozen(distribution)
    array = real_array(start, "start", InvalidChain, ndim=1)
    if len(array) != n_states:
        raise InvalidChain(f"start has {len(array)} entries, expected a state or one probability per state: {n_states}")
    matrix, tol = as_csr(np.asarray(start)[None, :], "start")
    return frozen(exact_rows(matrix, "start", tol).matrix.toarray()[0])


def checked_names(
    names: Iterable[str] | None, count: int, *, what: str = "names", of: str = "state"
) -> tuple[str, ...] | None:
    """Names as a tuple of `count` different strings; errors call them `what`, one per `of`."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise InvalidChain(f"{what} is {names!r}, expected one string per {of}")
    checked = tuple(names)
    for k, name in enumerate(checked):
        if not isinstance(name, str):
            raise InvalidChain(f"{what}[{k}] is {name!r}, expected a string; use str(...)")
    if len(checked) != count:
        raise InvalidChain(f"{what} has {len(checked)} entries, expected one per {of}: {count}")
    if len(set(checked)) != count:
        seen: set[str] = set()
        twice = next(name for name in checked if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise InvalidChain(f"the name {twice!r} occurs twice, expected different names")
    return checked


def checked_labels(
    labels: Iterable[object] | None, n_states: int, names: Sequence[str] | None
) -> tuple[Label, ...] | None:
    """Labels as a tuple of hashable values, one per state."""
    if labels is None:
        return None
    if isinstance(labels, str) or not isinstance(labels, Iterable):
        raise InvalidChain(f"labels is {labels!r}, expected one label per state")
    in_order = cast(Iterable[object], aligned(labels, names, "labels"))
    checked = tuple(_checked_label(label, k) for k, label in enumerate(in_order))
    if len(checked) != n_states:
        raise InvalidChain(f"labels has {len(checked)} entries, expected one per state: {n_states}")
    return checked


def compared_labels(labels: Sequence[Label] | None) -> list[Label] | None:
    """Labels such that the same ones are equal: texts as sets of one, which is how model checkers know them."""
    if labels is None:
        return None
    return [((label,) if label else ()) if isinstance(label, str) else label for label in labels]


def _checked_label(label: object, k: int) -> Label:
    if isinstance(label, np.generic) or (isinstance(label, np.ndarray) and label.ndim == 0):
        label = label.item()
    if isinstance(label, str):
        return label
    if isinstance(label, (bool, int, float)):
        if label != label:
            raise InvalidChain(f"labels[{k}] is NaN, which equals nothing; use a string")
        return label
    if isinstance(label, (list, tuple, np.ndarray, set, frozenset)):
        parts = [_checked_label(part, k) for part in label]
        if not any(isinstance(part, tuple) for part in parts):
            if isinstance(label, (set, frozenset)):  # numbers by size, then texts: equal sets become equal tuples
                parts.sort(key=lambda part: (isinstance(part, str), part))
            return tuple(parts)  # type: ignore[arg-type]
    raise InvalidChain(f"labels[{k}] is {label!r}, expected a string, a number or a flat collection of those")


def label_text(label: Label) -> str:
    """A label as text; a set of texts in braces."""
    if isinstance(label, tuple):
        return printable("{" + ", ".join(map(str, label)) + "}")
    return printable(str(label)) if label != "" else "{}"

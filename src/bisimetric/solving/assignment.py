"""Which state of one model stands for which state of the other: a one-to-one matching.

    distance    the matching σ with the smallest Σ d(x, σ(x))
    coupling    the matching with the largest Σ ν(x, σ(x)), ν the time that the coupled models spend at each pair

Both are assignment problems. Where one model has more states than the other, some stay unmatched; so do pairs that were
not solved, and, by the coupling, states that are never met together.

Reference: Crouse 2016 (the algorithm of `scipy.optimize.linear_sum_assignment`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from bisimetric._support.frozen import Immutable
from bisimetric._support.text import printable, text_table
from bisimetric._support.viewed import InNotebooks
from bisimetric.errors import InvalidOption
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats, Ints

MOST_ROWS = 20  # pairs that are printed
COLUMNS = ("source", "target", "distance")


class Coupled(Protocol):
    """How two models move together."""

    def occupancy(self, start: object = None) -> Floats:
        """[n, m], the time that they spend at each pair."""
        ...


class Answered(Protocol):
    """Distances between the states of two models."""

    @property
    def value(self) -> Floats: ...
    @property
    def models(self) -> tuple[Model, Model]: ...
    @property
    def coupling(self) -> Coupled: ...


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Assignment(InNotebooks, Immutable):
    """A one-to-one matching between the states of two models; printed, it is a table. `solution.assignment()` makes it.

    Attributes
    ----------
    source, target : array [k] of int
        The matched states; source[i] goes with target[i], in the order of the source states.
    distance : array [k]
        The distance between them.
    time : array [k] or None
        The time that the coupled models spend at the pair (`coupling.occupancy`), if the matching is by the coupling.
    names : two tuples of str
        The names of all states of the source and of the target.

    Examples
    --------
    >>> import bisimetric as bm
    >>> one = bm.MarkovChain([[0.5, 0.5], [0, 1]], reward=[0, 1], names=["idle", "busy"])
    >>> other = bm.MarkovChain([[1, 0, 0], [0.5, 0.5, 0], [0, 0, 1]], reward=[1, 0, 9], names=["on", "off", "lost"])
    >>> bm.distance(one, other, discount=0.5).assignment()
    source  target  distance
      idle     off         0
      busy      on         0
    2 pairs at a total distance of 0; unmatched in the target: lost
    """

    source: Ints
    target: Ints
    distance: Floats
    time: Floats | None
    names: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def total(self) -> float:
        """The sum of the distances."""
        return float(self.distance.sum())

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """The names of the matched states."""
        names, others = self.names
        return tuple((names[x], others[y]) for x, y in zip(self.source, self.target, strict=True))

    @property
    def targets(self) -> Ints:
        """[n], the target state that each source state is matched with; -1 for none."""
        found = np.full(len(self.names[0]), -1, np.int64)
        found[self.source] = self.target
        return found

    @property
    def unmatched(self) -> tuple[Ints, Ints]:
        """The source states and the target states that are not matched."""
        return tuple(  # type: ignore[return-value]
            np.setdiff1d(np.arange(len(names)), matched)
            for names, matched in zip(self.names, (self.source, self.target), strict=True)
        )

    def head(self) -> tuple[str, ...]:
        """The names of the table's columns."""
        return COLUMNS if self.time is None else (*COLUMNS, "time")

    def rows(self) -> list[tuple[str, ...]]:
        """The first cells of the table as text, one row per pair; control characters in names are escaped."""
        times = [()] * len(self.source) if self.time is None else [(f"{time:.4g}",) for time in self.time]
        return [
            (printable(name), printable(other), f"{distance:.6g}", *time)
            for (name, other), distance, time in zip(self.pairs[:MOST_ROWS], self.distance, times, strict=False)
        ]

    def summary(self) -> str:
        """A line about all pairs and about the states that are not matched."""
        more = len(self.source) - MOST_ROWS
        text = f"… and {more} more; " if more > 0 else ""
        text += f"{len(self.source)} pair{'' if len(self.source) == 1 else 's'} at a total distance of {self.total:.6g}"
        for role, states, names in zip(("source", "target"), self.unmatched, self.names, strict=True):
            if len(states):
                shown = ", ".join(printable(names[state]) for state in states[:MOST_ROWS])
                text += f"; unmatched in the {role}: {shown}" + (", …" if len(states) > MOST_ROWS else "")
        return text

    def __repr__(self) -> str:
        return f"{text_table(self.head(), self.rows())}\n{self.summary()}"


def assign(answer: Answered, by: str, start: object) -> Assignment:
    """The matching that a user asks for."""
    if by not in ("distance", "coupling"):
        raise InvalidOption(f"by is {by!r}, expected 'distance' or 'coupling'")
    source, target = (tuple(model.name_of(k) for k in range(model.n_states)) for model in answer.models)
    if by == "coupling":
        return by_time(answer.value, answer.coupling.occupancy(start), (source, target))
    if start is not None:
        raise InvalidOption("start is given, but distances do not depend on it; leave it out, or by='coupling'")
    return by_distance(answer.value, (source, target))


class Nearest(np.ndarray[Any, np.dtype[np.int64]]):
    """Nearest neighbours as an array of int, which says when printed that they need not be different."""

    def __repr__(self) -> str:
        plain, found = np.asarray(self), self[self >= 0]
        text = f"{len(found)} states with {len(np.unique(found))} nearest neighbours; assignment() is one-to-one"
        return f"{plain!r}  # {text}" if plain.ndim == 1 else repr(plain)


def nearest(value: Floats) -> Nearest:
    """The column of the smallest entry of each row; -1 where all are NaN."""
    none = np.isnan(value)
    found: Ints = np.where(none, np.inf, value).argmin(axis=1)
    found[none.all(axis=1)] = -1
    return found.view(Nearest)


def by_distance(value: Floats, names: tuple[tuple[str, ...], tuple[str, ...]]) -> Assignment:
    """As many pairs as possible at the smallest total distance; NaN stands for pairs that may not be matched."""
    barred = np.isnan(value)
    largest = float(np.fmax.reduce(value, axis=None)) or 1.0
    dear = min(value.shape) + 1.0  # more than all distances together
    source, target = _best(np.where(barred, dear, value / largest))
    kept = ~barred[source, target]
    source, target = source[kept], target[kept]
    return Assignment(source, target, value[source, target], None, names)


def by_time(value: Floats, time: Floats, names: tuple[tuple[str, ...], tuple[str, ...]]) -> Assignment:
    """The pairs at which most time is spent in all."""
    source, target = _best(-time)
    kept = time[source, target] > 0.0
    source, target = source[kept], target[kept]
    return Assignment(source, target, value[source, target], time[source, target], names)


def _best(cost: Floats) -> tuple[Ints, Ints]:
    """The rows and columns of the cheapest assignment."""
    from scipy.optimize import linear_sum_assignment

    found: Any = linear_sum_assignment(cost)
    return found[0].astype(np.int64), found[1].astype(np.int64)

"""What `matrix`, `mds` and `dendrogram` draw: distances between named things, from whatever holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from typing import Any, NamedTuple, Protocol, TypeVar, cast

import numpy as np
import numpy.typing as npt

from bisimetric._support.text import discount_text
from bisimetric.cost import reward_gap
from bisimetric.errors import InvalidOption
from bisimetric.many.table import Distances, TableQuestion
from bisimetric.models.mdp import Model
from bisimetric.models.rows import Floats, real_array
from bisimetric.solving.solution import Answer
from bisimetric.views.titles import distance_label, facts, headline, reward_unit

ASYMMETRY = 1e-6  # largest difference between d and its transpose, relative to the largest distance

Given = TypeVar("Given")
Names = Iterable[object] | tuple[Iterable[object], Iterable[object]]


class HasValue(Protocol):
    """What `pairwise` or a solve returns: a matrix of distances with bounds."""

    @property
    def value(self) -> Floats: ...


class DistanceTable(NamedTuple):
    """Distances between the things of two lists."""

    values: Floats  # [N, M]
    rows: list[str]
    columns: list[str]
    named: bool  # whether rows and columns have names, or only numbers
    label: str  # what the numbers are, with their unit
    title: str | None
    axes: tuple[str, str]  # what rows and columns are


def as_table(distances: npt.ArrayLike | HasValue, names: Names | None = None) -> DistanceTable:
    """The distances of a solution, of a table that `pairwise` made, or of an array [N, M], with names for both lists.

    `names` are N names where rows and columns are the same things, else a pair of lists.
    """
    if isinstance(distances, Answer):
        rows, columns = (_state_names(model) for model in distances.models)
        title = f"{headline(distances)}\n{facts(distances)}"
        table = DistanceTable(
            distances.value, rows, columns, True, distance_label(distances), title,
            ("state of the source", "state of the target"),
        )  # fmt: skip
    else:
        array = _known_array(getattr(distances, "value", distances))
        rows, columns = ([str(k) for k in range(size)] for size in array.shape)
        table = DistanceTable(array, rows, columns, False, "distance", None, ("", ""))
    if isinstance(distances, Distances):
        table = _of_chains(table, distances.question)
    return table if names is None else _renamed(table, names)


def _of_chains(table: DistanceTable, question: TableQuestion | None) -> DistanceTable:
    """The table with the names and the title of the chains, as far as they are known."""
    n, m = table.values.shape
    if question is None:
        return table._replace(title="distances between the starts of chains", axes=("chain", "chain"))
    count = f"{n} chains" if question.one_list else f"{n} and {m} chains"
    kind = "normalised" if question.normalised else "not normalised"
    title = f"distances between the starts of {count}\nγ = {discount_text(question.discount)} ({kind})"
    unit = reward_unit(normalised=question.normalised) if question.cost == reward_gap.name else question.cost
    label = f"distance ({unit})" if unit else "distance"
    return table._replace(
        rows=list(question.rows), columns=list(question.columns), named=True, label=label, title=title,
        axes=("chain", "chain"),
    )  # fmt: skip


def _state_names(model: Model) -> list[str]:
    return [model.name_of(k) for k in range(model.n_states)]


def _known_array(given: object) -> Floats:
    """An array [N, M] of numbers; NaN stands for a distance that is not known."""
    unknown = np.isnan(given) if isinstance(given, np.ndarray) and given.dtype.kind == "f" else np.False_
    filled = np.where(unknown, 0.0, cast(Any, given)) if unknown.any() else given
    array = real_array(filled, "distances", InvalidOption, ndim=2)
    if not array.size:
        raise InvalidOption(f"distances has shape {array.shape}, expected a matrix [N, M] with at least one entry")
    if unknown.any():
        array[unknown] = np.nan
    return array


def _renamed(table: DistanceTable, names: Names) -> DistanceTable:
    entries = listed(names, "names", "a name")
    pair = len(entries) == 2 and not any(isinstance(part, str) or not isinstance(part, Iterable) for part in entries)
    if not pair and table.values.shape[0] != table.values.shape[1]:
        raise InvalidOption(
            f"names is one list for {table.values.shape[0]} rows and {table.values.shape[1]} columns, "
            "expected two: names=(rows, columns)"
        )
    lists = cast(Any, entries) if pair else (entries, entries)
    rows, columns = (
        ["" if name is None else str(name) for name in one_each(part, "names", "a name", size)]
        for part, size in zip(lists, table.values.shape, strict=True)
    )
    return table._replace(rows=rows, columns=columns, named=True)


def symmetric(table: DistanceTable) -> DistanceTable:
    """The same table, if it is a symmetric matrix of finite distances; its diagonal becomes 0. Raises if it is not."""
    matrix = real_array(table.values, "distances", InvalidOption, ndim=2)
    if matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise InvalidOption(f"distances has shape {matrix.shape}, expected a square matrix [N, N], N ≥ 1")
    np.fill_diagonal(matrix, 0.0)
    if matrix.min() < 0:
        raise InvalidOption(f"distances has a negative entry, {matrix.min():g}, expected distances ≥ 0")
    off = np.abs(matrix - matrix.T).max()
    if off > ASYMMETRY * matrix.max():
        raise InvalidOption(
            f"distances is not symmetric, the largest difference is {off:g}; give (d + d.T)/2 to take the mean"
        )
    return table._replace(values=0.5 * matrix + 0.5 * matrix.T)


def listed(given: Iterable[Given], what: str, entry: str) -> list[Given]:
    """The entries as a list; raises unless they have an order."""
    try:  # mappings and sets have no order that could mean points
        entries = None if isinstance(given, (Mapping, Set, str)) else list(given)
    except TypeError:
        entries = None
    if entries is None:
        raise InvalidOption(f"{what} is a {type(given).__name__}, expected a list with {entry} per point")
    return entries


def one_each(given: Iterable[Given], what: str, entry: str, count: int) -> list[Given]:
    """The entries as a list; raises unless there is one per point."""
    entries = listed(given, what, entry)
    if len(entries) != count:
        raise InvalidOption(f"{what} has {len(entries)} entries, expected {entry} per point: {count}")
    return entries

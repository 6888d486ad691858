"""A table of distances: which pairs of chains are solved for it, and the table itself.

Every distinct question is solved once, the heaviest first. All costs are computed before the first solve. Entries of
the table with equal keys share one answer: (i, j) and (j, i) where the cost is symmetric, c_ij(x, y) = c_ji(y, x), and
entries of equal chains. The gap between rewards and label mismatch are known to be symmetric; an array is compared with
its transpose once; any other function is called both ways.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric import kernels
from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.lazy import method_above
from bisimetric._support.viewed import InNotebooks, PlottedTable
from bisimetric.many.question import Pair, PairQuestion, name_pair_in_errors
from bisimetric.many.store import Numbers
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem
from bisimetric.solving.history import Status

KEPT_BYTES = 2**27  # memory for costs that functions returned, so that the functions are not called again
MANY = 1000  # entries from which kernels are loaded first, which makes each check of the free memory cheaper

MET = (Status.SOLVED, Status.COMPLETED)  # how a solve ends that reaches the solver's default tolerance

Place = tuple[int, int]


class PlannedPair(NamedTuple):
    """A pair to solve."""

    key: bytes
    pair: Pair
    places: list[Place]  # of its answer in the table


class Plan:
    """The pairs to solve for a table; `symmetric` if sources and targets are one list."""

    def __init__(
        self, question: PairQuestion, sources: Sequence[MarkovChain], targets: Sequence[MarkovChain], *, symmetric: bool
    ) -> None:
        self._shape = len(sources), len(targets)
        self._question = question
        self._kept_bytes = 0
        entries: dict[bytes, PlannedPair] = {}
        for number, places in enumerate(self._entries(symmetric)):
            if number == MANY:
                kernels.check  # noqa: B018  loaded by its name
            i, j = places[0]
            self._enter(entries, Pair(i, j, sources[i], targets[j]), places)
        self.entries = sorted(entries.values(), key=_weight, reverse=True)

    def _entries(self, symmetric: bool) -> Iterator[tuple[Place, ...]]:
        """The places of the table, grouped where they are known to have one distance."""
        if symmetric and _is_symmetric(self._question):
            for i in range(self._shape[0]):
                yield ((i, i),)
                for j in range(i + 1, self._shape[1]):
                    yield (i, j), (j, i)
        else:
            for i, j in np.ndindex(self._shape):
                yield ((i, j),)

    def _enter(self, entries: dict[bytes, PlannedPair], pair: Pair, places: Sequence[Place]) -> None:
        with name_pair_in_errors(pair.i, pair.j):
            problem, key, is_zero = self._question.pair_problem(pair.source, pair.target)
        if is_zero:
            return
        if key not in entries:
            entries[key] = PlannedPair(key, pair._replace(problem=self._problem_to_keep(problem)), [])
        entries[key].places.extend(places)

    def _problem_to_keep(self, problem: Problem) -> Problem | None:
        """The problem, if its cost comes from a user's function and fits into the memory for kept costs."""
        is_function = callable(self._question.cost) and not self._question.cost_is_known
        if not is_function or self._kept_bytes + problem.cost.nbytes > KEPT_BYTES:
            return None
        self._kept_bytes += problem.cost.nbytes
        return problem

    def tables(self, numbers: Sequence[Numbers]) -> list[npt.NDArray[Any]]:
        """Value, lower, upper and status [N, M]; entries that are not solved are proved zeros."""
        tables = [*(np.zeros(self._shape) for _ in range(3)), np.full(self._shape, Status.SOLVED, dtype=object)]
        for entry, found in zip(self.entries, numbers, strict=True):
            places = tuple(zip(*entry.places, strict=True))
            for table, number in zip(tables, found, strict=True):
                table[places] = number
        return tables


def _is_symmetric(question: PairQuestion) -> bool:
    """Whether the cost is known to be symmetric; an array has been checked before."""
    if question.cost_is_known or callable(question.cost):
        return question.cost_is_known
    array = np.asarray(question.cost)
    return np.array_equal(array, array.T)


def _weight(entry: PlannedPair) -> int:
    """Roughly the work of a pair: the sizes of the transports of all pairs of states."""
    source, target = entry.pair.source, entry.pair.target
    return int(source.n_states * target.transitions.nnz + target.n_states * source.transitions.nnz)


class TableQuestion(NamedTuple):
    """What `pairwise` was asked, for people to read.

    Attributes
    ----------
    rows, columns : tuple of str
        The chains as they were given, where that was as text; else "chain 1", "other 1" and so on.
    one_list : bool
        Whether `rows` and `columns` are the same list.
    discount, cost, normalised, solver, tol
        As in `pairwise`; the cost as text, empty for an array.
    """

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    one_list: bool
    discount: float
    cost: str
    normalised: bool
    solver: str
    tol: float | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distances(InNotebooks, PlottedTable, Immutable):
    """Distances between the starts of N and M chains, each inside a certified interval; immutable.

    `pairwise` returns it. numpy takes it for an array, which is `value`.

    Attributes
    ----------
    value : [N, M] array
        The best estimates, inside the interval and never negative.
    lower, upper : [N, M] arrays
        Certified bounds.
    status : [N, M] array of `Status`
        How the solve of each pair ended. SOLVED and COMPLETED mean that the solver's default tolerance was reached; the
        bounds hold for every status.
    gap : float
        max(upper - lower).
    question : TableQuestion or None
        What `pairwise` was asked; None in a table that was made in another way.

    Examples
    --------
    >>> import bisimetric as bm
    >>> distances = bm.pairwise(["four-rooms:p0", "four-rooms:p1"], discount=0.9)
    >>> distances.value.round(4)
    array([[0.    , 0.1374],
           [0.1374, 0.    ]])
    """

    value: Floats
    lower: Floats
    upper: Floats
    status: npt.NDArray[np.object_]
    question: TableQuestion | None = None

    def __post_init__(self) -> None:
        for name in ("value", "lower", "upper", "status"):
            array = getattr(self, name)
            object.__setattr__(self, name, frozen(array.copy()) if array.flags.writeable else array)

    @property
    def gap(self) -> float:
        """max(upper - lower)."""
        return float((self.upper - self.lower).max())

    def report(self, path: object, *, names: Sequence[str] | None = None, command: str | None = None) -> None:
        """Write a page to look at: the table as a matrix ordered by likeness, a map, a tree, and pairs that failed.

        One file that needs no network and opens in a browser by double click. The same table gives the same file.

        Parameters
        ----------
        path : str or path
            An `.html` file. It appears complete or not at all; an existing file is replaced.
        names : list of N str, or of N + M for two lists, optional
            The names of the chains; by default as they were given to `pairwise`.
        command : str, optional
            The command that made the table, for the last part of the page.

        Raises
        ------
        InvalidOption
            If the path does not end in `.html`, or there is not one name for every chain.
        FileFormatError
            If the file cannot be written.
        MissingExtra
            If vl-convert-python is missing: `pip install 'bisimetric[plot]'`. Without scikit-learn (`[ml]`) the map is
            classical scaling.

        Examples
        --------
        >>> import bisimetric as bm, os, tempfile
        >>> distances = bm.pairwise(["four-rooms:p0", "four-rooms:p1", "four-rooms:p2"], discount=0.9)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     distances.report(os.path.join(folder, "rooms.html"))
        ...     os.listdir(folder)
        ['rooms.html']
        """
        method_above("Distances.report")(self, path, names=names, command=command)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = self.value if dtype is None else self.value.astype(dtype, copy=False)
        if copy is False and array is not self.value:
            raise ValueError(f"distances are {self.value.dtype}, and {array.dtype} needs a copy; use copy=None")
        return array.copy() if copy and array is self.value else array

    def __repr__(self) -> str:
        n, m = self.value.shape
        return f"Distances({n} x {m} chains, up to {self.value.max():.6g}, gap {self.gap:.1e}, {self.ending()})"

    def ending(self) -> str:
        """The worst status, and how many distances missed the default tolerance."""
        counts = [(status, int((self.status == status).sum())) for status in Status]
        worst = [status for status, count in counts if count][-1]
        missed = sum(count for status, count in counts if status not in MET)
        said = f": {missed} of {self.status.size} miss the default tolerance" if missed else ""
        return f"status {worst.name}{said}"

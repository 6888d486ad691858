"""A table of distances between many models, with certified bounds on every entry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.lazy import method_above
from bisimetric._support.viewed import InNotebooks, PlottedTable
from bisimetric.errors import PairFailed
from bisimetric.models.rows import Floats
from bisimetric.solving.history import Status

MET = (Status.SOLVED, Status.COMPLETED)  # how a solve ends that reaches the solver's default tolerance


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
        bounds hold for every status. TIME_LIMIT is a pair that a time limit left no time for, FAILED one whose solve
        ended with an error. Where nothing was computed the value is NaN; the bounds are 0 and the largest cost forever,
        max c/(1-γ), or infinity where the costs are not known or there is an error.
    gap : float
        max(upper - lower).
    question : TableQuestion or None
        What `pairwise` was asked; None in a table that was made in another way.
    failures : tuple of PairFailed
        Why pairs with the status FAILED have no distance; `error.pair` are the places of the two models.

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
    failures: tuple[PairFailed, ...] = ()

    def __post_init__(self) -> None:
        for name in ("value", "lower", "upper", "status"):
            array = getattr(self, name)
            object.__setattr__(self, name, frozen(array.copy()) if array.flags.writeable else array)

    @property
    def gap(self) -> float:
        """max(upper - lower); infinite where a distance is unknown."""
        return float((self.upper - self.lower).max())

    @property
    def unknown(self) -> int:
        """How many entries have no distance."""
        return int(np.isnan(self.value).sum())

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
        known = self.value[~np.isnan(self.value)]
        largest = f"up to {known.max():.6g}, gap {self.gap:.1e}" if known.size else "none known"
        return f"Distances({n} x {m} chains, {largest}, {self.ending()})"

    def ending(self) -> str:
        """The worst status, and how many distances missed the default tolerance."""
        counts = [(status, int((self.status == status).sum())) for status in Status]
        worst = [status for status, count in counts if count][-1]
        missed = sum(count for status, count in counts if status not in MET)
        said = f": {missed} of {self.status.size} miss the default tolerance" if missed else ""
        unknown = f", {self.unknown} are unknown" if self.unknown else ""
        return f"status {worst.name}{said}{unknown}"

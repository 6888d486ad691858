"""A table of distances between many chains, which `pairwise` returns."""

from __future__ import annotations

from dataclasses import dataclass, fields
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric._support.frozen import frozen
from bisimetric.models.rows import Floats
from bisimetric.solving.solution import Status


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Distances:
    """Distances between the starts of N and M chains, each inside a certified interval; immutable, as its copies are.

    It serves as an array, which is `value`.

    Attributes
    ----------
    value : [N, M] array
        The best estimates, inside the interval and never negative.
    lower, upper : [N, M] arrays
        Certified bounds.
    status : [N, M] array of `Status`
        How the solve of each pair ended. All but SOLVED and COMPLETED mean that the solver's default tolerance was
        missed; bounds hold for every status.
    """

    value: Floats
    lower: Floats
    upper: Floats
    status: npt.NDArray[np.object_]

    def __post_init__(self) -> None:
        for field in fields(self):
            array = getattr(self, field.name)
            object.__setattr__(self, field.name, frozen(array.copy()) if array.flags.writeable else array)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.value, self.lower, self.upper, self.status)  # copies come to be as the first one did

    @property
    def gap(self) -> float:
        """max(upper - lower)."""
        return float((self.upper - self.lower).max())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        array = self.value if dtype is None else self.value.astype(dtype, copy=False)
        if copy is False and array is not self.value:
            raise ValueError(f"distances are {self.value.dtype}, and {array.dtype} needs a copy; use copy=None")
        return array.copy() if copy and array is self.value else array

    def __repr__(self) -> str:
        n, m = self.value.shape
        return f"Distances({n} x {m} chains, up to {self.value.max():.6g}, gap {self.gap:.1e}, {self._ending()})"

    def _ending(self) -> str:
        """The worst status, and how many distances missed the default tolerance."""
        counts = [(status, int((self.status == status).sum())) for status in Status]
        worst = [status for status, count in counts if count][-1]
        missed = sum(count for status, count in counts if status not in (Status.SOLVED, Status.COMPLETED))
        said = f": {missed} of {self.status.size} miss the default tolerance" if missed else ""
        return f"status {worst.name}{said}"

    def _repr_html_(self) -> str:
        return f"<code>{escape(repr(self))}</code>"

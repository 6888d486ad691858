"""Values of a column, numbered in the order in which they first appear.

All are of one kind. 1 and 1.0 are one value: pandas makes floats of whole numbers where a column once had gaps. 1, "1"
and True are three, of three kinds, though Python finds 1 and True equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from bisimetric._support.options import shown
from bisimetric.errors import InvalidData
from bisimetric.models.rows import Ints

VALUE_KINDS: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("true or false", (bool, np.bool_)),
    ("whole numbers", (int, np.integer, float, np.floating)),
    ("text", (str,)),
    ("tuples", (tuple,)),
)
MIXED = "convert them to one type, as with .astype(str)"


class Codes:
    """The numbers of values; `most` bounds how many there may be."""

    def __init__(self, what: str, most: int | None = None, remedy: str = "") -> None:
        self.what = what
        self._most = most
        self._remedy = remedy
        self._known: dict[Hashable, int] = {}
        self._kind = ""
        self._types: set[type] = set()  # that were met

    def __len__(self) -> int:
        return len(self._known)

    @property
    def values(self) -> list[Any]:
        """All values, in the order of their numbers."""
        return list(self._known)

    def of(self, values: Iterable[Any]) -> Ints:
        """The numbers of values, of which there are few or which come one by one."""
        known, values = self._known, list(values)
        for kind in dict.fromkeys(map(type, values)):
            if kind not in self._types:
                self._check_kind(next(value for value in values if type(value) is kind))
        found = [known[value] if value in known else self._new(value) for value in values]
        return np.array(found, np.int64)

    def _check_kind(self, value: Any) -> None:
        """Refuse values of another kind than those before; equal ones too, as True is to 1."""
        kind = next((name for name, types in VALUE_KINDS if isinstance(value, types)), None)
        if kind is None:
            raise self._odd(value)
        if self._kind not in ("", kind):
            raise InvalidData(f"{self.what} holds both {self._kind} and {kind}, expected one of them; {MIXED}")
        self._kind = kind
        self._types.add(type(value))

    def _odd(self, value: Any) -> InvalidData:
        return InvalidData(
            f"{self.what} holds {shown(value)} ({type(value).__name__}), expected text or whole numbers; group other "
            "values first, or convert them with .astype(str)"
        )

    def _new(self, value: Any) -> int:
        plain = value.item() if isinstance(value, np.generic) else value
        if isinstance(plain, float):
            if not plain.is_integer():
                raise self._odd(plain)
            plain = int(plain)
        number = self._known.setdefault(plain, len(self._known))
        if self._most is not None and len(self._known) > self._most:
            raise InvalidData(f"{self.what} holds more than {self._most} different values; {self._remedy}")
        return number

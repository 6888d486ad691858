"""A document: nested objects whose leaves are JSON values or arrays.

Writers get an array as a `Stream`, which knows its type and shape and yields blocks, so that no array is in memory
twice. Readers access an object through `Fields`, which checks the kind and shape of every field: anything in a file may
be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from bisimetric.errors import FileFormatError
from bisimetric.models.rows import Floats

Document = dict[str, Any]  # leaves: JSON values, and Streams (to be written) or arrays (that were read)

ENTRIES_AT_ONCE = 2**18  # entries of an array that are turned into text or compressed in one block
KIND_NAMES = {
    dict: "an object", list: "a list", str: "text", bool: "true or false", int: "a whole number",
    float: "a number", type(None): "null", np.ndarray: "an array",
}  # fmt: skip
TYPE_NAMES = {"f": "numbers", "i": "whole numbers", "b": "true and false"}
LIST_TYPES: dict[str, set[type]] = {"f": {int, float}, "i": {int}, "b": {bool}}
DTYPES: dict[str, type] = {"f": np.float64, "i": np.int64, "b": np.bool_}
Shape = tuple[int | None, ...]  # None: any length


class Stream(NamedTuple):
    """An array to be written, in blocks along its first axis."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    blocks: Callable[[], Iterator[npt.NDArray[Any]]]

    @property
    def nbytes(self) -> int:
        """Bytes of the whole array."""
        return int(np.prod(self.shape, dtype=object)) * self.dtype.itemsize


def stream(array: npt.NDArray[Any], dtype: str) -> Stream:
    """The stream of an array in memory, as `dtype`."""
    rows = max(1, ENTRIES_AT_ONCE // int(np.prod(array.shape[1:])))
    kind = np.dtype(dtype)

    def blocks() -> Iterator[npt.NDArray[Any]]:
        for first in range(0, len(array), rows):
            yield array[first : first + rows].astype(kind, copy=False)

    return Stream(kind, array.shape, blocks)


def without_arrays(document: Document, prefix: str = "") -> tuple[Document, dict[str, Stream]]:
    """The document's objects and JSON values, and its arrays by their place (`problem.cost`)."""
    rest: Document = {}
    arrays: dict[str, Stream] = {}
    for key, node in document.items():
        if isinstance(node, Stream):
            arrays[prefix + key] = node
        elif isinstance(node, dict):
            rest[key], inside = without_arrays(node, f"{prefix}{key}.")
            arrays |= inside
        else:
            rest[key] = node
    return rest, arrays


class Fields:
    """One object of a document; a key that is missing or null is absent."""

    def __init__(self, node: object, place: str, known: tuple[str, ...]) -> None:
        if not isinstance(node, dict):
            raise FileFormatError(
                f"{place or 'the file'} is {kind_of(node)}, expected an object with {', '.join(known)}"
            )
        self._node = node
        self.place = place  # "" at the top
        for key in node:
            if key not in known:
                close = get_close_matches(key[:50], known, 1)
                remedy = f"did you mean {close[0]!r}?" if close else f"known are {', '.join(known)}"
                raise FileFormatError(f"unknown key {self.name(key)!r}; {remedy}")

    def name(self, key: str) -> str:
        """The key with its place in the document, as errors show it."""
        return f"{self.place}.{key}" if self.place else key

    def has(self, key: str) -> bool:
        """Whether the field is present."""
        return self._node.get(key) is not None

    def get(self, key: str) -> Any:
        """The field as it is."""
        if not self.has(key):
            raise FileFormatError(f"{self.name(key)} is missing")
        return self._node[key]

    def of_kind(self, key: str, *kinds: type) -> Any:
        """The field if its type is one of these (a bool is not an int)."""
        node = self.get(key)
        if type(node) not in kinds:
            wanted = " or ".join(KIND_NAMES[kind] for kind in kinds)
            raise FileFormatError(f"{self.name(key)} is {kind_of(node)}, expected {wanted}")
        return node

    def number(self, key: str) -> float:
        """One number, whole or not."""
        try:
            return float(self.of_kind(key, float, int))
        except OverflowError:
            raise FileFormatError(f"{self.name(key)} is too large") from None

    def inside(self, key: str, known: tuple[str, ...]) -> Fields:
        """The object in a field."""
        return Fields(self.get(key), self.name(key), known)

    def floats(self, key: str, *shape: int | None, least: float = -np.inf) -> Floats:
        """Finite numbers of this shape, none below `least`."""
        array: Floats = self._array(key, "f", shape)
        for wrong, expected in (
            (~np.isfinite(array), "a finite number"),
            (array < least, f"at least {least:g}"),
        ):
            if wrong.any():
                at = np.unravel_index(int(wrong.argmax()), array.shape)
                where = ", ".join(str(int(i)) for i in at)
                raise FileFormatError(f"{self.name(key)}[{where}] is {array[at]}, expected {expected}")
        return array

    def whole(self, key: str, length: int | None) -> npt.NDArray[Any]:
        """A list of whole numbers."""
        return self._array(key, "i", (length,))

    def mask(self, key: str, *shape: int) -> npt.NDArray[np.bool_]:
        """True and false in this shape."""
        return self._array(key, "b", shape)

    def offsets(self, key: str, groups: int, entries: int) -> npt.NDArray[np.int64]:
        """Where each of the groups begins in a list of that many entries, and where the last ends."""
        array = self.whole(key, groups + 1).astype(np.int64)
        if array[0] != 0 or array[-1] != entries or (array[1:] < array[:-1]).any():
            raise FileFormatError(
                f"{self.name(key)} goes from {array[0]} to {array[-1]}, expected to ascend from 0 to {entries}"
            )
        return array

    def _array(self, key: str, kind: str, shape: Shape) -> npt.NDArray[Any]:
        node = self.get(key)
        array = self._from_list(key, node, kind, len(shape)) if isinstance(node, list) else node
        if not isinstance(array, np.ndarray) or array.dtype.kind != kind:
            came = f"of type {array.dtype}" if isinstance(array, np.ndarray) else kind_of(node)
            raise FileFormatError(f"{self.name(key)} is {came}, expected a list of {TYPE_NAMES[kind]}")
        if array.ndim != len(shape) or any(
            want not in (None, got) for want, got in zip(shape, array.shape, strict=True)
        ):
            raise FileFormatError(
                f"{self.name(key)} has shape {_shape_text(array.shape)}, expected {_shape_text(shape)}"
            )
        return array

    def _from_list(self, key: str, node: list[Any], kind: str, ndim: int) -> npt.NDArray[Any]:
        """Make an array of a list; checks every entry first, since numpy makes huge arrays of texts and objects."""
        rows = node if ndim == 2 else [node]
        for k, row in enumerate(rows):
            where = self.name(key) + (f"[{k}]" if ndim == 2 else "")
            if not isinstance(row, list):
                raise FileFormatError(f"{where} is {kind_of(row)}, expected a list of {TYPE_NAMES[kind]}")
            strange = set(map(type, row)) - LIST_TYPES[kind]
            if strange:
                at = next(i for i, entry in enumerate(row) if type(entry) in strange)
                raise FileFormatError(f"{where}[{at}] is {kind_of(row[at])}, expected {TYPE_NAMES[kind]}")
            if len(row) != len(rows[0]):
                raise FileFormatError(f"{where} has {len(row)} entries, expected {len(rows[0])} as in row 0")
        try:
            array: npt.NDArray[Any] = np.array(node, DTYPES[kind])
        except OverflowError:
            raise FileFormatError(f"{self.name(key)} holds a number that is too large") from None
        return array if rows else array.reshape(0, 0)


def kind_of(node: object) -> str:
    """The kind of a JSON value in words."""
    return KIND_NAMES.get(type(node), type(node).__name__)


def _shape_text(shape: Shape) -> str:
    return f"[{', '.join('any' if length is None else str(length) for length in shape)}]"

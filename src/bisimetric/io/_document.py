"""A document: nested objects whose leaves are JSON values or arrays that come in blocks.

Writers never hold an array twice: a `Stream` says its type and shape, and hands out the blocks as often as it
is asked to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

Document = dict[str, Any]  # leaves: JSON values, and Streams (to be written) or arrays (that were read)

ENTRIES_AT_ONCE = 2**18  # of an array that is turned into text or compressed


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
    """An array at hand, as `dtype`."""
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

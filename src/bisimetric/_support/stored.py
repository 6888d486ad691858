"""What models and solutions have in common: they can be written to files and dicts, and read from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

from bisimetric._support.lazy import method_above


class Stored:
    """An object that `bisimetric.io` has a format for."""

    __slots__ = ()

    def save(self, path: object, *, format: Literal["json", "npz"] | None = None) -> None:
        """Write this to a `.npz` or `.json` file, or to an open file; `bisimetric.load` reads it.

        Parameters
        ----------
        path : str, Path or file object
            As in `bisimetric.save`.
        format : "json" or "npz", optional
            For file objects, as in `bisimetric.save`.
        """
        method_above("Stored.save")(self, path, format=format)

    def to_dict(self) -> dict[str, Any]:
        """Return this as a dict of texts, numbers and lists, which `json.dumps` takes and `from_dict` reads.

        It is the content of a `.json` file; `help(bisimetric.io)` describes its keys.
        """
        document: dict[str, Any] = method_above("Stored.to_dict")(self)
        return document

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Self:
        """Make an object of what `to_dict` returned, or of a dict written by hand.

        Parameters
        ----------
        document : dict
            The keys of a `.json` file; `help(bisimetric.io)` describes them. A model needs `transitions` (and
            `rewards`), all else may be missing. Arrays may be numpy's.

        Raises
        ------
        InvalidChain
            A key of a model is unknown, or its value does not fit; the message says which.
        FileFormatError
            The same for a solution, or its bounds are not supported by its couplings and potentials.
        """
        found: Self = method_above("Stored.from_dict")(document, cls)
        return found

"""Models and solutions as dicts: the documents of `.json` files, without a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

import numpy as np

from bisimetric._support.options import check_kind
from bisimetric.errors import FileFormatError, InvalidChain
from bisimetric.io.document import Stream
from bisimetric.io.save_load import decode, encode
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP

StoredT = TypeVar("StoredT")


def to_dict(obj: object) -> dict[str, Any]:
    """The document of a model or a solution, with lists in place of arrays."""
    document: dict[str, Any] = _with_lists(encode(obj))
    return document


def from_dict(document: Mapping[str, Any], kind: type[StoredT]) -> StoredT:
    """The object of this kind that a document describes; models raise InvalidChain as their constructors do."""
    check_kind(document, "document", Mapping, f"a dict as {kind.__name__}.to_dict returns it")
    wrong = InvalidChain if kind in (MarkovChain, MDP) else FileFormatError
    try:
        found = decode(_plain(document), expected=kind)
    except RecursionError:
        raise wrong(f"the dict is nested too deeply, expected one as {kind.__name__}.to_dict returns it") from None
    except FileFormatError as error:
        raise wrong(f"the dict describes no {kind.__name__}: {error}") from None
    if not isinstance(found, kind):
        other = type(found).__name__
        raise wrong(f"the dict describes a {other}, expected a {kind.__name__}; {other}.from_dict reads it")
    return found


def is_mdp(document: Mapping[str, Any]) -> bool:
    """Whether a dict of a model, written by hand or not, describes a decision process and not a chain."""
    if "format" in document:
        return isinstance(document["format"], str) and document["format"] == "bisimetric mdp"
    return "actions" in document or "available" in document or np.ndim(_plain_or_none(document.get("rewards"))) == 2


def _plain_or_none(node: Any) -> Any:
    try:
        return np.asarray(node)
    except (ValueError, TypeError, RuntimeError):  # ragged
        return None


def _with_lists(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _with_lists(value) for key, value in node.items()}
    return list(_entries(node)) if isinstance(node, Stream) else node


def _entries(array: Stream) -> Iterator[Any]:
    for block in array.blocks():
        yield from block.tolist()


def _plain(node: Any) -> Any:
    """The same with lists in place of tuples and arrays, and Python's numbers in place of numpy's."""
    if isinstance(node, Mapping):
        return {key if isinstance(key, str) else repr(key): _plain(value) for key, value in node.items()}
    if isinstance(node, (list, tuple)):
        return [_plain(value) for value in node]
    return node.tolist() if isinstance(node, (np.ndarray, np.generic)) else node

"""`save` and `load`: which format, which container, and one kind of error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import IO

from bisimetric.errors import BisimetricError, FileFormatError, InvalidOption, NotEnoughMemory
from bisimetric.io import _json, _npz
from bisimetric.io._chains import CHAIN_ARRAYS, CHAIN_KEYS, chain_document, chain_from
from bisimetric.io._document import Document
from bisimetric.io._fields import Fields, kind_of
from bisimetric.io._files import checked_path, described, open_regular, write_file
from bisimetric.io._solutions import SOLUTION_ARRAYS, SOLUTION_KEYS, solution_document, solution_from
from bisimetric.models.chain import MarkovChain
from bisimetric.solving.solution import Solution

VERSION = 1
CHAIN, SOLUTION = "bisimetric chain", "bisimetric solution"


def save(obj: MarkovChain | Solution, path: object) -> None:
    """Write a chain or a solution to a `.npz` or `.json` file, which appears complete or not at all.

    JSON is for people and small models; `.npz` is smaller and faster.
    """
    place = checked_path(path)
    write: Callable[[IO[bytes], Document], None] = _json.write if place.suffix.lower() == ".json" else _npz.write
    document: Document
    if isinstance(obj, MarkovChain):
        document = {"format": CHAIN, "version": VERSION, **chain_document(obj)}
    elif isinstance(obj, Solution):
        document = {"format": SOLUTION, "version": VERSION, **solution_document(obj)}
    else:
        raise InvalidOption(f"cannot save a {type(obj).__name__}, expected a MarkovChain or a Solution")
    write_file(place, lambda file: write(file, document))


def load(path: object) -> MarkovChain | Solution:
    """Read what `save` wrote, or a chain in JSON written by hand; a solution's bounds are proved again.

    Whatever is wrong with the file is a `FileFormatError` of one line.
    """
    place = checked_path(path)
    try:
        return _decoded(_document(place))
    except NotEnoughMemory as error:
        raise NotEnoughMemory(described(place, error)) from None
    except BisimetricError as error:
        raise FileFormatError(described(place, error)) from None
    except OSError as error:
        raise FileFormatError(described(place, f"cannot be read: {error.strerror or error}")) from None
    except MemoryError:
        raise NotEnoughMemory(described(place, "reading it needs more memory than there is")) from None


def _document(place: Path) -> object:
    file, size = open_regular(place)
    with file:
        if place.suffix.lower() == ".json":
            return _json.read(file, size)
        return _npz.read(file, size, {*CHAIN_ARRAYS, *SOLUTION_ARRAYS})


def _decoded(document: object) -> MarkovChain | Solution:
    if not isinstance(document, dict):
        raise FileFormatError(f"holds {kind_of(document)}, expected an object with transitions, reward, start, …")
    by_hand = "format" not in document and "transitions" in document
    kind = document.get("format", CHAIN if by_hand else None)
    if kind not in (CHAIN, SOLUTION):
        raise FileFormatError(f"format is {kind!r}, expected {CHAIN!r} or {SOLUTION!r}")
    version = document.get("version", VERSION if by_hand else None)
    if type(version) is not int or version < 1:
        raise FileFormatError(f"version is {version!r}, expected {VERSION}")
    if version > VERSION:
        raise FileFormatError(
            f"has version {version} of its format, this bisimetric reads up to {VERSION}; install a newer one"
        )
    fields = {key: node for key, node in document.items() if key not in ("format", "version")}
    if kind == CHAIN:
        return chain_from(Fields(fields, "", CHAIN_KEYS))
    return solution_from(Fields(fields, "", SOLUTION_KEYS))

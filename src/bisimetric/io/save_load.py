"""`save` and `load`: which format, which container, and one kind of error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bisimetric.errors import BisimetricError, FileFormatError, InvalidOption, NotEnoughMemory
from bisimetric.io import archive, json_text
from bisimetric.io.document import Document, Fields, kind_of
from bisimetric.io.files import checked_path, described, open_regular, write_file
from bisimetric.io.game_solutions import (
    MDP_SOLUTION_ARRAYS,
    MDP_SOLUTION_KEYS,
    mdp_solution_document,
    mdp_solution_from,
)
from bisimetric.io.models import (
    CHAIN_ARRAYS,
    CHAIN_KEYS,
    MDP_ARRAYS,
    MDP_KEYS,
    chain_document,
    chain_from,
    mdp_document,
    mdp_from,
)
from bisimetric.io.solutions import SOLUTION_ARRAYS, SOLUTION_KEYS, solution_document, solution_from
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.solution import Solution

VERSION = 1


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of object that files hold."""

    kind: type
    keys: tuple[str, ...]
    arrays: tuple[str, ...]  # members of an archive, by their place in the document
    document: Callable[[Any], Document]
    read: Callable[[Fields], Any]


FORMATS = {
    "bisimetric chain": Format(MarkovChain, CHAIN_KEYS, CHAIN_ARRAYS, chain_document, chain_from),
    "bisimetric mdp": Format(MDP, MDP_KEYS, MDP_ARRAYS, mdp_document, mdp_from),
    "bisimetric solution": Format(Solution, SOLUTION_KEYS, SOLUTION_ARRAYS, solution_document, solution_from),
    "bisimetric mdp solution": Format(
        MDPSolution, MDP_SOLUTION_KEYS, MDP_SOLUTION_ARRAYS, mdp_solution_document, mdp_solution_from
    ),
}


def save(obj: MarkovChain | MDP | Solution | MDPSolution, path: object) -> None:
    """Write a model or a solution to a file, which appears complete or not at all.

    Parameters
    ----------
    obj : MarkovChain, MDP, Solution or MDPSolution
    path : str or Path
        A name that ends in `.npz` or `.json`. JSON is for people and small models; `.npz` is smaller and faster. A file
        of that name is replaced.

    Raises
    ------
    InvalidOption
        The object is something else, or the name has another ending.
    FileFormatError
        The file cannot be written; a file that was there before is as it was.

    Examples
    --------
    >>> import bisimetric as bm, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chain.json"
    >>> bm.save(bm.MarkovChain([[1.0]], names=["only"]), path)
    >>> bm.load(path)
    MarkovChain(1 states, 1 transitions, names)
    """
    place = checked_path(path)
    write: Callable[[IO[bytes], Document], None] = json_text.write if place.suffix.lower() == ".json" else archive.write
    document = _encode(obj)
    write_file(place, lambda file: write(file, document))


def load(path: object) -> MarkovChain | MDP | Solution | MDPSolution:
    """Read what `save` wrote, or a model in JSON written by hand.

    The bounds of a solution are proved again from its couplings and potentials, so that a damaged or forged file gives
    no wrong answer. Nothing in a file is ever executed.

    Parameters
    ----------
    path : str or Path
        A file that ends in `.npz` or `.json`.

    Returns
    -------
    MarkovChain, MDP, Solution or MDPSolution

    Raises
    ------
    FileFormatError
        The file cannot be read, or something is wrong in it; the message is one line that says what.
    NotEnoughMemory
        The content takes more memory than is available.

    Examples
    --------
    >>> import tempfile
    >>> import bisimetric as bm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bm.MarkovChain([[0.5, 0.5], [0, 1]]).save(f"{folder}/chain.json")
    ...     bm.load(f"{folder}/chain.json")
    MarkovChain(2 states, 3 transitions)
    """
    place = checked_path(path)
    try:
        return _decode(_document(place))
    except NotEnoughMemory as error:
        raise NotEnoughMemory(described(place, error)) from None
    except BisimetricError as error:
        raise FileFormatError(described(place, error)) from None
    except OSError as error:
        raise FileFormatError(described(place, f"cannot be read: {error.strerror or error}")) from None
    except MemoryError:
        raise NotEnoughMemory(described(place, "reading it needs more memory than there is")) from None


def _encode(obj: object) -> Document:
    for name, form in FORMATS.items():
        if isinstance(obj, form.kind):
            return {"format": name, "version": VERSION, **form.document(obj)}
    *most, last = (form.kind.__name__ for form in FORMATS.values())
    raise InvalidOption(f"cannot save a {type(obj).__name__}, expected a {', '.join(most)} or {last}")


def _document(place: Path) -> object:
    file, size = open_regular(place)
    with file:
        if place.suffix.lower() == ".json":
            return json_text.read(file, size)
        return archive.read(file, size, {name for form in FORMATS.values() for name in form.arrays})


def _format_by_hand(document: Document) -> str:
    """Rows of rewards make a decision process; anything else is a chain."""
    rewards = document.get("rewards")
    rows = isinstance(rewards, list) and len(rewards) > 0 and isinstance(rewards[0], list)
    return "bisimetric mdp" if rows else "bisimetric chain"


def _decode(document: object) -> MarkovChain | MDP | Solution | MDPSolution:
    if not isinstance(document, dict):
        raise FileFormatError(f"holds {kind_of(document)}, expected an object with transitions, reward, start, …")
    by_hand = "format" not in document and "transitions" in document
    name = document.get("format", _format_by_hand(document) if by_hand else None)
    if not isinstance(name, str) or name not in FORMATS:
        raise FileFormatError(f"format is {name!r}, expected one of {', '.join(map(repr, FORMATS))}")
    version = document.get("version", VERSION if by_hand else None)
    if type(version) is not int or version < 1:
        raise FileFormatError(f"version is {version!r}, expected {VERSION}")
    if version > VERSION:
        raise FileFormatError(
            f"has version {version} of its format, this bisimetric reads up to {VERSION}; install a newer one"
        )
    form = FORMATS[name]
    fields = {key: node for key, node in document.items() if key not in ("format", "version")}
    found: MarkovChain | MDP | Solution | MDPSolution = form.read(Fields(fields, "", form.keys))
    return found

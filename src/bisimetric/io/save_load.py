"""`save` and `load`: which format, which container, and one kind of error."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Any, Literal

from bisimetric._support.options import check_kind, one_of
from bisimetric.errors import BisimetricError, FileFormatError, InvalidOption, NotEnoughMemory
from bisimetric.io import archive, json_text
from bisimetric.io.average_solutions import AVERAGE_ARRAYS, AVERAGE_KEYS, average_document, average_from
from bisimetric.io.document import Document, Fields, kind_of
from bisimetric.io.drn import write_drn
from bisimetric.io.explicit import write_explicit
from bisimetric.io.files import (
    SUFFIXES,
    checked_path,
    described,
    is_open_file,
    open_regular,
    read_open,
    takes_text,
    write_file,
    write_to_open,
)
from bisimetric.io.game_solutions import (
    MDP_SOLUTION_ARRAYS,
    MDP_SOLUTION_KEYS,
    mdp_solution_document,
    mdp_solution_from,
)
from bisimetric.io.horizon_solutions import HORIZON_ARRAYS, HORIZON_KEYS, horizon_document, horizon_from
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
from bisimetric.solving.average_solution import AverageSolution
from bisimetric.solving.game_solution import MDPSolution
from bisimetric.solving.horizon_solution import HorizonSolution
from bisimetric.solving.solution import Solution

VERSION = 1
Storable = MarkovChain | MDP | Solution | MDPSolution | HorizonSolution | AverageSolution


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of object that files hold."""

    kind: type
    keys: tuple[str, ...]
    arrays: tuple[str, ...]  # members of an archive, by their place in the document
    document: Callable[[Any], Document]
    read: Callable[[Fields], Any]


@dataclass(frozen=True, slots=True)
class Container:
    """A kind of file."""

    write: Callable[[IO[bytes], Document], None]
    read: Callable[[IO[bytes], int], object]


FORMATS = {
    "bisimetric chain": Format(MarkovChain, CHAIN_KEYS, CHAIN_ARRAYS, chain_document, chain_from),
    "bisimetric mdp": Format(MDP, MDP_KEYS, MDP_ARRAYS, mdp_document, mdp_from),
    "bisimetric solution": Format(Solution, SOLUTION_KEYS, SOLUTION_ARRAYS, solution_document, solution_from),
    "bisimetric mdp solution": Format(
        MDPSolution, MDP_SOLUTION_KEYS, MDP_SOLUTION_ARRAYS, mdp_solution_document, mdp_solution_from
    ),
    "bisimetric horizon solution": Format(
        HorizonSolution, HORIZON_KEYS, HORIZON_ARRAYS, horizon_document, horizon_from
    ),
    "bisimetric average solution": Format(
        AverageSolution, AVERAGE_KEYS, AVERAGE_ARRAYS, average_document, average_from
    ),
}

ARRAYS = {name for form in FORMATS.values() for name in form.arrays}
CONTAINERS = {  # by ending
    "npz": Container(archive.write, lambda file, size: archive.read(file, size, ARRAYS)),
    "json": Container(json_text.write, json_text.read),
}
EXPORTS: dict[str, Callable[[MarkovChain | MDP, Path], None]] = {".tra": write_explicit, ".drn": write_drn}
ZIP = b"PK"  # first bytes of an archive


def save(
    obj: Storable,
    path: object,
    *,
    format: Literal["json", "npz"] | None = None,
) -> None:
    """Write a model or a solution to a file, which appears complete or not at all.

    Parameters
    ----------
    obj : MarkovChain, MDP, Solution, MDPSolution, HorizonSolution or AverageSolution
        Of a chain that was estimated from a log the chain is written; its counts are in the log.
    path : str, Path or file object
        A name that ends in `.npz` or `.json`. JSON is for people and small models; `.npz` is smaller and faster. A file
        of that name is replaced. Models also go to model checkers: `.drn` for Storm, `.tra` for PRISM, with labels,
        rewards and names in the files `.lab`, `.srew`, `.trew` and `.sta` beside it; `as_chain` and `as_mdp` read them.
        Or an open file, binary or text, which gets everything in one piece.
    format : "json" or "npz", optional
        For file objects: by default text files get JSON and binary files npz. A name has its ending for that.

    Raises
    ------
    InvalidOption
        The object is something else, the name has another ending, or the format does not fit the file.
    FileFormatError
        The file cannot be written; a file that was there before is as it was.

    Examples
    --------
    >>> import bisimetric as bm, io, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "chain.json"
    >>> bm.save(bm.MarkovChain([[1.0]], names=["only"]), path)
    >>> bm.load(path)
    MarkovChain(1 states, 1 transitions, names)
    >>> file = io.StringIO()
    >>> bm.save(bm.load(path), file)
    """
    known = None if format is None else one_of(format, "format", CONTAINERS)
    if is_open_file(path):
        text = takes_text(path)
        container = CONTAINERS[known or ("json" if text else "npz")]
        if text and known == "npz":
            raise InvalidOption("format is 'npz', but the file takes text; open it in binary mode, or take 'json'")
        inside = io.BytesIO()
        container.write(inside, encode(obj))
        write_to_open(path, inside.getvalue())
        return
    place = checked_path(path, (*SUFFIXES, *EXPORTS))
    ending = place.suffix.lower().removeprefix(".")
    if known not in (None, ending):
        raise InvalidOption(f"format is {known!r}, but the name ends in .{ending}; leave format= out for names")
    if place.suffix.lower() in EXPORTS:
        check_kind(obj, "what goes to a model checker", (MarkovChain, MDP), "a MarkovChain or an MDP")
        EXPORTS[place.suffix.lower()](obj, place)  # type: ignore[arg-type]
        return
    document = encode(obj)
    write_file(place, lambda file: CONTAINERS[ending].write(file, document))


def load(path: object) -> Storable:
    """Read what `save` wrote, or a model in JSON written by hand.

    The bounds of a solution are proved again from its couplings and potentials, so that a damaged or forged file gives
    no wrong answer. For an average cost that takes one sweep of transports, for a finite horizon one for each step.
    Nothing in a file is ever executed.

    Parameters
    ----------
    path : str, Path or file object
        A file that ends in `.npz` or `.json`, or an open one, binary or text, of either kind: the first bytes tell.

    Returns
    -------
    MarkovChain, MDP, Solution, MDPSolution, HorizonSolution or AverageSolution

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
    if isinstance(path, (str, os.PathLike)) and os.fspath(path).lower().endswith(tuple(EXPORTS)):
        raise InvalidOption(f"path is {os.fspath(path)!r}, a file of a model checker; as_chain or as_mdp reads it")
    name: object = getattr(path, "name", "the open file") if is_open_file(path) else checked_path(path)
    with errors_about(name):
        return decode(document_in(path))


@contextmanager
def errors_about(name: object) -> Iterator[None]:
    """Turn every error of reading a file into one line that begins with its name."""
    try:
        yield
    except NotEnoughMemory as error:
        raise NotEnoughMemory(described(name, error)) from None
    except BisimetricError as error:
        raise FileFormatError(described(name, error)) from None
    except OSError as error:
        raise FileFormatError(described(name, f"cannot be read: {error.strerror or error}")) from None
    except MemoryError:
        raise NotEnoughMemory(described(name, "reading it needs more memory than there is")) from None


def encode(obj: object) -> Document:
    """The document of a model or a solution."""
    for name, form in FORMATS.items():
        if isinstance(obj, form.kind):
            return {"format": name, "version": VERSION, **form.document(obj)}
    *most, last = (form.kind.__name__ for form in FORMATS.values())
    held = (
        "; save its .model" if hasattr(obj, "model") else "; np.save keeps its .value" if hasattr(obj, "value") else ""
    )
    raise InvalidOption(f"cannot save a {type(obj).__name__}, expected a {', '.join(most)} or {last}{held}")


def document_in(path: object) -> object:
    """The document in a file, or in an open one; what is open may be a pipe, so it is read to its end first."""
    if is_open_file(path):
        data = read_open(path)
        return CONTAINERS["npz" if data.startswith(ZIP) else "json"].read(io.BytesIO(data), len(data))
    place = checked_path(path)
    file, size = open_regular(place)
    with file:
        return CONTAINERS[place.suffix.lower().removeprefix(".")].read(file, size)


def _format_by_hand(document: Document) -> str:
    """Rows of rewards make a decision process; anything else is a chain."""
    rewards = document.get("rewards")
    rows = isinstance(rewards, list) and len(rewards) > 0 and isinstance(rewards[0], list)
    return "bisimetric mdp" if rows else "bisimetric chain"


def _near(document: Document) -> str:
    """The key that may be meant to be the transitions."""
    close = get_close_matches("transitions", [key for key in document if isinstance(key, str)], 1, 0.5)
    return f"; it has {close[0]!r}, did you mean 'transitions'?" if close else ""


def decode(document: object, expected: type | None = None) -> Storable:
    """The model or solution that a document describes; without a format it is of the kind that is expected."""
    if not isinstance(document, dict):
        raise FileFormatError(f"holds {kind_of(document)}, expected an object with transitions, reward, start, …")
    name, by_hand = document.get("format"), False
    if "format" not in document and (expected in (MarkovChain, MDP) or "transitions" in document):
        named = (known for known, form in FORMATS.items() if form.kind is expected)
        name, by_hand = next(named, None) or _format_by_hand(document), True
    if "format" not in document and not by_hand:
        raise FileFormatError(
            f"has no transitions, expected an object with transitions, reward, start, …{_near(document)}"
        )
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
    found: Storable = form.read(Fields(fields, "", form.keys))
    return found

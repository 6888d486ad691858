"""Instances from a folder: every .json, .npz and .txt file in it is one, in the order of their names.

    .json    as the authors published theirs: {"transition_function": [[…], …], "reward": […], "nu_0": […]}, rows and
             start rescaled to sum to one as their scripts do; or a chain file of this package
    .npz     a chain file of this package
    .txt     a map of cells (# . D G S), walked by its optimal policy as in environments/obstacles

Other files are left alone. Every instance needs rewards and a start.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bisimetric.environments.obstacles import optimal_walk
from bisimetric.errors import BisimetricError, FileFormatError, InvalidChain, InvalidOption
from bisimetric.io.files import described, open_regular, usable_path
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import real_array
from bisimetric.readers.convert import as_chain

AUTHORS_KEYS = ("transition_function", "reward", "nu_0")
FEWEST = 3  # instances of which a picture can be made
LARGEST_SLIP = 1e-6  # rows that sum to one up to this are rescaled, others are refused
AGAIN = "download the file again, or move it out of the folder"


class NamedInstance(NamedTuple):
    """A chain with rewards and a start, the name of its file, and its map if it has one."""

    name: str
    chain: MarkovChain
    map: list[str] | None = None


def read_instances(folder: str) -> list[NamedInstance]:
    """The instances in a folder, in the order of their names, numbers by size."""
    place = usable_path(folder, "--instances")
    if not folder or not place.is_dir():
        raise InvalidOption(f"--instances is {folder!r}, which is no folder; give the folder with the files")
    files = sorted((file for file in place.iterdir() if file.suffix.lower() in INSTANCE_READERS), key=_natural)
    if len(files) < FEWEST:
        raise InvalidOption(
            f"--instances is {folder!r}, which has {len(files)} files that end in {', '.join(INSTANCE_READERS)}, "
            f"expected at least {FEWEST}{_hint(place)}"
        )
    return [_read(file) for file in files]


def _natural(file: Path) -> list[tuple[bool, int, str]]:
    """A key that puts p2 before p10."""
    parts = re.split(r"(\d+)", file.name)
    return [(part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]


def _hint(place: Path) -> str:
    """Where instances may be instead: below the folder."""
    below = sorted({file.parent.name for suffix in INSTANCE_READERS for file in place.glob(f"*/*{suffix}")})
    return f"; there are some in its folders {', '.join(below[:4])}: give one of those" if below else ""


def _read(file: Path) -> NamedInstance:
    try:
        instance = INSTANCE_READERS[file.suffix.lower()](file)
        _check(instance.chain)
    except (BisimetricError, OSError) as error:
        text = str(error).removeprefix(f"{file}: ")
        raise FileFormatError(described(file, f"{text}; {AGAIN}")) from None
    return instance


def _check(chain: MarkovChain) -> None:
    for part in ("reward", "start"):
        if getattr(chain, part) is None:
            raise InvalidChain(f"the chain has no {part}, expected rewards and a start")


def _read_json(file: Path) -> NamedInstance:
    document = _document(file)
    if "transitions" in document:
        return NamedInstance(file.stem, as_chain(file))
    missing = [key for key in AUTHORS_KEYS if key not in document]
    if missing:
        raise FileFormatError(f"lacks {' and '.join(missing)}, expected the keys {', '.join(AUTHORS_KEYS)}")
    rows, reward, start = (
        real_array(document[key], key, FileFormatError, ndim=ndim)
        for key, ndim in zip(AUTHORS_KEYS, (2, 1, 1), strict=True)
    )
    if not rows.shape == (len(reward), len(reward)) == (len(start), len(start)):
        raise FileFormatError(
            f"has transition_function of shape {rows.shape}, reward of {len(reward)} and nu_0 of {len(start)} entries, "
            "expected [n, n], n and n"
        )
    return NamedInstance(
        file.stem, MarkovChain(_rescaled(rows, "transition_function"), reward=reward, start=_rescaled(start, "nu_0"))
    )


def _document(file: Path) -> Mapping[str, Any]:
    opened, _ = open_regular(file)
    try:
        with opened:
            document = json.load(opened)
    except (ValueError, RecursionError) as error:
        raise FileFormatError(f"is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise FileFormatError(f"holds a {type(document).__name__}, expected an object with {', '.join(AUTHORS_KEYS)}")
    return document


def _rescaled(rows: Any, what: str) -> Any:
    """Probabilities divided by their sums, which have to be nearly one."""
    sums = rows.sum(axis=-1, keepdims=True)
    worst = float(np.abs(sums - 1.0).max())
    if rows.min() < 0.0 or not worst <= LARGEST_SLIP:
        raise FileFormatError(
            f"has {what} with entries down to {rows.min():g} and sums up to {worst:.2g} off 1, expected probabilities"
        )
    return rows / sums


def _read_map(file: Path) -> NamedInstance:
    opened, _ = open_regular(file)
    with opened:
        data = opened.read()
    try:
        drawn = data.decode().strip("\n")
    except UnicodeDecodeError:
        raise FileFormatError("is not text, expected a map drawn with # . D G S") from None
    return NamedInstance(file.stem, optimal_walk(drawn), drawn.splitlines())


INSTANCE_READERS: Mapping[str, Callable[[Path], NamedInstance]] = {
    ".json": _read_json,
    ".npz": lambda file: NamedInstance(file.stem, as_chain(file)),
    ".txt": _read_map,
}

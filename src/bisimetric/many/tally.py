"""What the files of a store hold besides usable pairs, in words.

Keys tell what numbers depend on, so no call ever uses the numbers of another one: several tables may share a store, and
pairs of another version lie in it unused. Files that were damaged, are something else, or are of another version are
named once, when a run has read them, so that nobody wonders why pairs are computed again.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from bisimetric._support.text import printable

FILES_NAMED = 3  # files in a note


@dataclass(slots=True)
class Tally:
    """What has been read of one journal."""

    read: int = 0  # records
    lost: int = 0  # of them with a wrong checksum
    codes: Counter[bytes] = field(default_factory=Counter)  # of pairs, by what computed their numbers


def notes(folder: Path, tallies: Mapping[str, Tally], code: bytes, record_bytes: int) -> Iterator[str]:
    """Yield a line for each kind of what should not be there; none in an ordinary store."""
    damaged, others, older = [], [], []
    for name, tally in sorted(tallies.items()):
        size = _size(folder / name)
        called, pairs = printable(name), sum(tally.codes.values())
        if tally.read == tally.lost:
            if size != 0 and os.path.lexists(folder / name):
                others.append(called)
            continue
        torn = size is not None and size % record_bytes > 0
        if tally.lost or torn:
            damaged.append(f"{called} ({tally.lost + torn} of {tally.read + torn} records)")
        if pairs > tally.codes[code]:
            older.append(f"{called} ({pairs - tally.codes[code]} of {pairs} pairs)")
    store = f"store {printable(str(folder), None)}"
    if damaged:
        yield f"{store}: damaged are {_named(damaged)}; the lost pairs are computed again"
    if others:
        yield f"{store}: no pairs can be read in {_named(others)}; skipped"
    if older:
        yield f"{store}: of another version of bisimetric, numpy, scipy or numba are {_named(older)}; they are not used"


def _size(path: Path) -> int | None:
    """The size of an ordinary file."""
    with suppress(OSError):
        if path.is_file():
            return path.stat().st_size
    return None


def _named(files: list[str]) -> str:
    more = len(files) - FILES_NAMED
    return ", ".join(files[:FILES_NAMED]) + (f" and {more} more" if more > 0 else "")

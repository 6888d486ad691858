"""One journal instead of many, for a store that many runs have written.

All valid records of journals that nobody writes go into one new file, each once. That file gets its name when it is
complete, and only then the old ones are removed, so an end at any instant leaves every record in at least one file. A
journal whose last record says that its run has ended is written by nobody. Of others nothing tells whether the run is
alive on another machine, so those that were changed within the last minute, by the clock of the folder, stay; a run
whose journal is removed all the same makes it again (`store`).
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

from bisimetric.errors import FileFormatError
from bisimetric.io.files import SIZE_LIMIT, described, write_file
from bisimetric.many.store import (
    CLAIM,
    END_RECORD,
    KEY_BYTES,
    RECORD_BYTES,
    PairStore,
    has_ended,
    journals_in,
    new_journal,
    numbers_of,
    records_of,
    status_of,
    sync_folder,
)

IN_USE_SECONDS = 60.0  # a journal without an end that was changed this recently may have a run that writes it


class Compaction(NamedTuple):
    """What `compact_store` did.

    Attributes
    ----------
    pairs : int
        Finished pairs in the new file.
    merged : int
        Files that it replaces.
    left : int
        Files of runs that may be at work, which have not ended and were changed within the last minute, and files that
        hold nothing that can be read; they stay as they are.
    dropped : int
        Records that are not in the new file: copies, damaged ones, and notes of what a run was at.
    """

    pairs: int
    merged: int
    left: int
    dropped: int


def compact_store(store: object) -> Compaction:
    """Merge the files of a store of `pairwise` into one; other runs may go on meanwhile.

    Every run leaves a file in its store. After hundreds of runs it takes long to read them all, above all on a disk
    that several machines share.

    Parameters
    ----------
    store : path
        The folder that `pairwise` was given as `store`. It has to exist.

    Returns
    -------
    Compaction
        How many pairs and files there were.

    Raises
    ------
    FileFormatError
        The folder does not exist, is no store, or cannot be written.

    Examples
    --------
    >>> import bisimetric as bm, tempfile
    >>> with tempfile.TemporaryDirectory() as store:
    ...     _ = bm.pairwise(["grid-3x3", "four-rooms:p1"], discount=0.9, store=store)
    ...     bm.compact_store(store)
    Compaction(pairs=1, merged=1, left=0, dropped=1)
    """
    folder = PairStore(store, make=False).folder
    try:
        now = _clock_of(folder)
        journals = journals_in(folder)
        records: dict[bytes, bytes] = {}
        merged, read = [], 0
        for path in journals:
            with suppress(OSError):  # removed meanwhile, or not to be read
                if now - path.stat().st_mtime < IN_USE_SECONDS and not has_ended(path):
                    continue
                count = known = 0
                for record in records_of(path):
                    if record == END_RECORD:
                        continue
                    count += 1
                    if numbers_of(record) is not None:
                        records.setdefault(record[:KEY_BYTES], record)
                        known += 1
                    else:
                        known += status_of(record) == CLAIM
                if known:
                    merged.append(path)
                    read += count
        if len(merged) < 2 and read == len(records):
            return Compaction(0, 0, len(journals), 0)
        _write(folder, records.values())
        for path in merged:
            path.unlink(missing_ok=True)
        sync_folder(folder)
    except OSError as error:
        raise FileFormatError(described(folder, f"cannot be compacted: {error.strerror or error}")) from None
    return Compaction(len(records), len(merged), len(journals) - len(merged), read - len(records))


def _write(folder: Path, records: Iterable[bytes]) -> None:
    """Write the records to a new journal, or to several if one would be too large to be read."""
    waiting = iter(records)
    while block := list(islice(waiting, SIZE_LIMIT // RECORD_BYTES - 1)):

        def write(file: IO[bytes], block: list[bytes] = block) -> None:
            file.write(b"".join([*block, END_RECORD]))

        write_file(new_journal(folder), write)
    sync_folder(folder)


def _clock_of(folder: Path) -> float:
    """What time it is for the files of a folder, which may be on another machine."""
    probe = folder / f".{new_journal(folder).stem}.tmp"
    os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    try:
        return probe.stat().st_mtime
    finally:
        probe.unlink(missing_ok=True)

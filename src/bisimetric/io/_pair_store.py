"""A folder of finished pairs, from which a run that was ended at any instant goes on.

Every run appends to a journal of its own, `<random>.pairs`, so that runs at the same time do not disturb one another,
and reads all journals that it finds. A journal is a row of records of 64 bytes:

    key        32    a digest of everything that the numbers depend on (`_pair_question`)
    numbers    24    distance, lower and upper bound, as little-endian float64
    checksum    8    of those 56 bytes

A record is written by one call, so a killed run leaves at most one torn record, at the end. What is torn, damaged or
strange in any other way is passed over, and its pair is computed again. Records are forced to the disk with the first
that comes a second or more after the last time, and at the end of a run; so a power failure loses at most the records
of one second.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import struct
import time
from collections.abc import Container, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from bisimetric._errors import FileFormatError
from bisimetric.io._files import SIZE_LIMIT, described, usable_path

SUFFIX = ".pairs"
NUMBERS = struct.Struct("<3d")
KEY_BYTES = 32
CHECKSUM_BYTES = 8
CONTENT_BYTES = KEY_BYTES + NUMBERS.size
RECORD_BYTES = CONTENT_BYTES + CHECKSUM_BYTES
RECORDS_AT_ONCE = 4096  # that are read
SYNC_SECONDS = 1.0  # at most between two times that records are forced to the disk


class Numbers(NamedTuple):
    """The distance between two starts, and its certified bounds."""

    value: float
    lower: float
    upper: float


class PairStore:
    """The folder; made with its parents if there is none."""

    def __init__(self, folder: object) -> None:
        self._folder = usable_path(folder, "store")
        self._journal: int | None = None  # a file descriptor, once there is something to write
        self._synced = 0.0
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            inside = [path for path in self._folder.iterdir() if not path.name.startswith(".")]
        except (FileExistsError, NotADirectoryError):
            raise FileFormatError(described(self._folder, "is not a folder, expected one for finished pairs")) from None
        except OSError as error:
            raise self._refused("cannot be a store", error) from None
        if inside and not any(path.suffix == SUFFIX for path in inside):
            raise FileFormatError(
                described(
                    self._folder,
                    f"holds {min(path.name for path in inside)!r} and no finished pairs; "
                    "choose an empty folder, or one that pairwise made",
                )
            )

    def found(self, wanted: Container[bytes]) -> dict[bytes, Numbers]:
        """The numbers of the wanted keys that some run has finished."""
        found: dict[bytes, Numbers] = {}
        try:
            for path in sorted(self._folder.glob(f"*{SUFFIX}")):
                for record in _records(path):
                    key = record[:KEY_BYTES]
                    if key in wanted and key not in found and _is_whole(record):
                        found[key] = Numbers(*NUMBERS.unpack(record[KEY_BYTES:CONTENT_BYTES]))
        except OSError as error:
            raise self._refused("cannot be read", error) from None
        return found

    def keep(self, key: bytes, numbers: Numbers) -> None:
        """Write one record."""
        content = key + NUMBERS.pack(*numbers)
        try:
            journal = self._opened()
            if os.write(journal, content + _checksum(content)) != RECORD_BYTES:
                raise OSError("the disk is full")
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self._sync(journal)
        except OSError as error:
            raise self._refused("cannot be written", error) from None

    def close(self) -> None:
        """Force all records to the disk; also after an error or Ctrl-C."""
        journal, self._journal = self._journal, None
        if journal is None:
            return
        try:
            self._sync(journal)
        except OSError as error:
            raise self._refused("cannot be written", error) from None
        finally:
            os.close(journal)

    def _opened(self) -> int:
        if self._journal is None:
            path = self._folder / f"{secrets.token_hex(8)}{SUFFIX}"
            self._journal = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
            for folder in (self._folder, self._folder.absolute().parent):  # so that the names last, too
                _sync_folder(folder)
        return self._journal

    def _sync(self, journal: int) -> None:
        os.fsync(journal)
        self._synced = time.monotonic()

    def _refused(self, what: str, error: OSError) -> FileFormatError:
        return FileFormatError(described(self._folder, f"{what}: {error.strerror or error}; choose another folder"))


def _records(path: Path) -> Iterator[bytes]:
    """The whole records of a journal, valid or not; a torn one at the end is left out."""
    status = os.stat(path)  # first, since opening a pipe would block
    if not stat.S_ISREG(status.st_mode) or status.st_size > SIZE_LIMIT:
        raise FileFormatError(
            described(path, f"is no journal of pairs, expected a file of at most {SIZE_LIMIT} bytes; move it away")
        )
    with open(path, "rb") as file:
        left = status.st_size // RECORD_BYTES  # another run may be adding more
        while left > 0:
            block = file.read(RECORD_BYTES * min(left, RECORDS_AT_ONCE))
            whole = len(block) // RECORD_BYTES
            if whole == 0:
                return
            left -= whole
            for k in range(whole):
                yield block[k * RECORD_BYTES : (k + 1) * RECORD_BYTES]


def _is_whole(record: bytes) -> bool:
    """Whether a record is as it was written, and says something possible."""
    if _checksum(record[:CONTENT_BYTES]) != record[CONTENT_BYTES:]:
        return False
    value, lower, upper = NUMBERS.unpack(record[KEY_BYTES:CONTENT_BYTES])
    return bool(0.0 <= lower <= value <= upper < float("inf"))


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system can
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

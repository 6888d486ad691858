"""A folder of finished pairs, from which a run can continue after it was ended at any instant.

Every run appends to its own journal, `<random>.pairs`, so that simultaneous runs do not disturb one another, and reads
all journals that it finds. A journal is a sequence of records of 64 bytes:

    key        32    a digest of everything that the numbers depend on (`question`); the first 8 bytes tell the code
    numbers    24    distance, lower and upper bound, as little-endian float64
    status      1    its place in the list of all statuses; the key covers the source of that list
    checksum    7    of those 57 bytes

A record with the status CLAIM has no numbers: its run has begun to solve the chunk of which this is the first pair.
Other runs take such chunks last, so that simultaneous runs share the work; a run that dies blocks nothing. The last
record of a run that came to its end has the status ENDED, and no numbers either: nobody writes that journal any more.

A record is written by one call, so a killed run leaves at most one torn record, at the end. Torn and damaged records
are skipped, and their pairs are computed again; `notes` says how many. Anything called `<name>.pairs` that is not a
journal is skipped too: folders, pipes, broken links, files that cannot be read or are too large.

Records are forced to the disk about once a second and at the end of a run, so a power failure loses at most the records
of one second. At the same moments a run checks that its journal is still in its place. If the folder or the journal has
been removed or moved, the run makes them again, with all records that it has found or written. Nothing is locked, no
file has two writers, and names are random, so several machines can share one folder.
"""

from __future__ import annotations

import errno
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

from bisimetric.errors import FileFormatError
from bisimetric.io.files import SIZE_LIMIT, described, usable_path
from bisimetric.many.tally import Tally, notes
from bisimetric.solving.history import Status

SUFFIX = ".pairs"
STATUSES = tuple(Status)
NUMBERS = struct.Struct("<3dB")
KEY_BYTES = 32
CODE_BYTES = 8  # at the beginning of a key: a digest of the code that computed the numbers
CLAIM, ENDED = 255, 254  # status of a record that says what a run is at, and of the last one of a run
CHECKSUM_BYTES = 7
CONTENT_BYTES = KEY_BYTES + NUMBERS.size
RECORD_BYTES = CONTENT_BYTES + CHECKSUM_BYTES
RECORDS_AT_ONCE = 4096  # records read in one call
SYNC_SECONDS = 1.0  # time between two writes of all records to the disk


class Numbers(NamedTuple):
    """The distance between two starts, its certified bounds, and how the solve ended."""

    value: float
    lower: float
    upper: float
    status: Status


class PairStore:
    """The folder of finished pairs; made with its parents if it is missing, unless `make` is false."""

    def __init__(self, folder: object, *, make: bool = True) -> None:
        self._folder = usable_path(folder, "store")
        self.seed = secrets.randbits(64)  # of the order in which this run solves
        self._journal: _Journal | None = None  # opened with the first record to write
        self._records: dict[bytes, bytes] = {}  # records found or written, by their key
        self._tallies: dict[str, Tally] = {}  # of every journal, as far as it has been read
        self._claimed: set[bytes] = set()  # by other runs
        self._synced = 0.0
        try:
            self._folder = self._folder.absolute()  # the working directory may change during a run
            if make:
                self._folder.mkdir(parents=True, exist_ok=True)
            inside = [path for path in self._folder.iterdir() if not path.name.startswith(".")]
        except (FileExistsError, NotADirectoryError):
            raise FileFormatError(described(self._folder, "is not a folder, expected one for finished pairs")) from None
        except OSError as error:
            raise self._refusal("cannot be a store", error) from None
        if inside and not any(path.suffix == SUFFIX for path in inside):
            raise FileFormatError(
                described(
                    self._folder,
                    f"holds {min(path.name for path in inside)!r} and no finished pairs; "
                    "choose an empty folder, or one that pairwise made",
                )
            )

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self._folder

    def found(self, wanted: Container[bytes]) -> dict[bytes, Numbers]:
        """The numbers of the wanted keys that some run has finished; later calls return only what is new."""
        found: dict[bytes, Numbers] = {}
        for path in self._journals():
            tally = self._tallies.setdefault(path.name, Tally())
            with suppress(OSError):  # a journal that cannot be read to its end
                for record in records_of(path, tally.read):
                    tally.read += 1
                    key, status = record[:KEY_BYTES], status_of(record)
                    if status is None:
                        tally.lost += 1
                    elif status == CLAIM and key in wanted:
                        self._claimed.add(key)
                    elif status not in (CLAIM, ENDED):
                        tally.codes[key[:CODE_BYTES]] += 1
                        if key in wanted and key not in found and key not in self._records:
                            numbers = numbers_of(record)
                            if numbers is not None:
                                found[key], self._records[key] = numbers, record
        return found

    def notes(self, code: bytes) -> list[str]:
        """What should be told about the files that have been read; `code` is the beginning of this version's keys."""
        return list(notes(self._folder, self._tallies, code, RECORD_BYTES))

    def _journals(self) -> list[Path]:
        """The files of all other runs."""
        mine = None if self._journal is None else self._journal.name
        try:
            return journals_in(self._folder, but=mine)
        except OSError as error:
            raise self._refusal("cannot be read", error) from None

    def is_claimed(self, key: bytes) -> bool:
        """Whether another run has begun to solve this; as far as `found` has read."""
        return key in self._claimed

    def claim(self, key: bytes) -> None:
        """Tell other runs that this one begins to solve this."""
        self._append(_without_numbers(key, CLAIM))

    def check_writable(self) -> None:
        """Raise if the folder is not writable, before the work begins."""
        if not os.access(self._folder, os.W_OK | os.X_OK):
            raise self._refusal("cannot be written", OSError("no permission"))

    def keep(self, key: bytes, numbers: Numbers) -> None:
        """Write one record."""
        record = _record(key, NUMBERS.pack(*numbers[:3], STATUSES.index(numbers.status)))
        self._records[key] = record
        self._append(record)
        try:
            if time.monotonic() - self._synced >= SYNC_SECONDS:
                self._sync()
        except OSError as error:
            raise self._refusal("cannot be written", error) from None

    def _append(self, record: bytes) -> None:
        try:
            if self._journal is None:
                self._journal = _Journal(self._folder)
            try:
                self._journal.write(record)
            except OSError as error:
                if error.errno != errno.ESTALE:  # removed by another machine
                    raise
                self._sync()
        except OSError as error:
            raise self._refusal("cannot be written", error) from None

    def close(self) -> None:
        """Mark the end and force all records to the disk; also after an error or Ctrl-C."""
        if self._journal is None:
            return
        try:
            self._sync()
            with suppress(OSError):  # the disk may be full
                self._journal.write(END_RECORD)
        except OSError as error:
            raise self._refusal("cannot be written", error) from None
        finally:
            self._journal.close()
            self._journal = None

    def _sync(self) -> None:
        assert self._journal is not None
        if not self._journal.is_in_place():
            lost, self._journal = self._journal, self._remake_journal()
            lost.close()
        self._journal.sync()
        self._synced = time.monotonic()

    def _remake_journal(self) -> _Journal:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            journal = _Journal(self._folder)
        except OSError as error:
            raise self._refusal("was removed during the run, and cannot be made again", error) from None
        journal.write(b"".join(self._records.values()))
        return journal

    def _refusal(self, what: str, error: OSError) -> FileFormatError:
        return FileFormatError(described(self._folder, f"{what}: {error.strerror or error}; choose another folder"))


class _Journal:
    """The file that one run appends to."""

    def __init__(self, folder: Path) -> None:
        self._path = new_journal(folder)
        self.name = self._path.name
        self._file = os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
        for parent in self._path.parents[:2]:  # the names must reach the disk too
            sync_folder(parent)

    def write(self, records: bytes) -> None:
        if os.write(self._file, records) != len(records):
            raise OSError("the disk is full")

    def is_in_place(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ESTALE):
                return False
            raise

    def sync(self) -> None:
        os.fsync(self._file)

    def close(self) -> None:
        os.close(self._file)


def new_journal(folder: Path) -> Path:
    """The name of a journal that nobody has."""
    return folder / f"{secrets.token_hex(8)}{SUFFIX}"


def journals_in(folder: Path, *, but: str | None = None) -> list[Path]:
    """All files that may be journals, without one."""
    return sorted(path for path in folder.iterdir() if path.suffix == SUFFIX and path.name != but)


def records_of(path: Path, first: int = 0) -> Iterator[bytes]:
    """The complete records of a journal from a number on, valid or not."""
    status = os.stat(path)  # first, since opening a pipe would block
    if not stat.S_ISREG(status.st_mode) or status.st_size > SIZE_LIMIT:
        return
    left = status.st_size // RECORD_BYTES - first  # another run may be adding more
    if left <= 0:
        return
    with open(path, "rb") as file:
        file.seek(first * RECORD_BYTES)
        while left > 0:
            block = file.read(RECORD_BYTES * min(left, RECORDS_AT_ONCE))
            whole = len(block) // RECORD_BYTES
            if whole == 0:
                return
            left -= whole
            for k in range(whole):
                yield block[k * RECORD_BYTES : (k + 1) * RECORD_BYTES]


def _record(key: bytes, numbers: bytes) -> bytes:
    return key + numbers + _checksum(key + numbers)


def _without_numbers(key: bytes, status: int) -> bytes:
    return _record(key, NUMBERS.pack(0.0, 0.0, 0.0, status))


def status_of(record: bytes) -> int | None:
    """The status of a record: a place in the list of all statuses, CLAIM or ENDED; None if its checksum is wrong."""
    return record[CONTENT_BYTES - 1] if _checksum(record[:CONTENT_BYTES]) == record[CONTENT_BYTES:] else None


def numbers_of(record: bytes) -> Numbers | None:
    """The numbers of a record; None if its checksum is wrong, or its numbers are impossible or none."""
    if status_of(record) is None:
        return None
    value, lower, upper, status = NUMBERS.unpack(record[KEY_BYTES:CONTENT_BYTES])
    if not 0.0 <= lower <= value <= upper < float("inf") or status >= len(STATUSES):
        return None
    return Numbers(value, lower, upper, STATUSES[status])


def has_ended(path: Path) -> bool:
    """Whether the last record of a journal says that its run has ended."""
    size = path.stat().st_size
    return size % RECORD_BYTES == 0 and [*records_of(path, size // RECORD_BYTES - 1)] == [END_RECORD]


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=CHECKSUM_BYTES).digest()


END_RECORD = _without_numbers(bytes(KEY_BYTES), ENDED)


def sync_folder(folder: Path) -> None:
    """Force the names of its files to the disk."""
    with suppress(OSError):  # not every system supports this
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

"""Documents as zip archives: `meta.json` for everything but the arrays, and one `.npy` member per array.

Reading checks, in this order, the archive's directory, the names and sizes of its members, the header of every array,
and then the data, whose checksum zipfile verifies at the last byte. Memory is allocated only when all declared sizes
agree. Array headers are matched against the one form that numpy writes for these arrays, and never evaluated.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import prod
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.lib import format as npy

from bisimetric._support import memory
from bisimetric.errors import FileFormatError
from bisimetric.io import json_text
from bisimetric.io.document import Document, Stream, without_arrays
from bisimetric.io.files import SIZE_LIMIT

META = "meta.json"
COMPRESSION = 1  # level, of 9: the last digits of floats do not compress, and level 1 compresses the rest well
RATIO_LIMIT = 400  # largest ratio of unpacked to packed size; level 1 reaches 230
RATIO_FREE = 2**20  # bytes that a member may unpack to at any ratio
DIRECTORY_LIMIT = 2**16  # bytes of the archive's directory, which holds a few dozen names
CHUNK = 2**20  # bytes read at once

HEADER_LENGTH = 128  # numpy pads the header of a small shape to this
HEADER = re.compile(
    rb"\x93NUMPY\x01\x00\x76\x00"
    rb"\{'descr': '(<f8|<i8|<i4|\|b1)', 'fortran_order': False, 'shape': \(([0-9]{1,16}), ?([0-9]{1,16})?\), \} *\n"
)
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, RuntimeError,
          ArithmeticError, LookupError)  # fmt: skip


class _Array(NamedTuple):
    """A member that claims to be an array."""

    info: zipfile.ZipInfo
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


def write(file: IO[bytes], document: Document) -> None:
    """Write the document as a zip archive."""
    rest, arrays = without_arrays(document)
    meta = io.BytesIO()
    json_text.write(meta, rest)
    size = meta.tell() + sum(HEADER_LENGTH + array.nbytes for array in arrays.values())
    if size > SIZE_LIMIT:
        raise FileFormatError(
            f"needs {memory.in_words(size)}, a file holds at most {memory.in_words(SIZE_LIMIT)}; "
            "save the arrays that you need with numpy.save"
        )
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=COMPRESSION) as archive:
        with archive.open(META, "w", force_zip64=True) as member:  # writestr would store the current time
            member.write(meta.getvalue())
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                member.write(_header(array))
                for block in array.blocks():
                    member.write(np.ascontiguousarray(block).data)


def _header(array: Stream) -> bytes:
    header = io.BytesIO()
    npy.write_array_header_1_0(header, {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape})
    return header.getvalue()


def read(file: IO[bytes], size: int, array_names: Collection[str]) -> Document:
    """The document in an archive of `size` bytes, which may hold arrays of these names."""
    count = _checked_directory(file, size)
    with _damage("the archive"):
        archive = zipfile.ZipFile(file)
    with archive:
        if len(archive.infolist()) != count:
            raise FileFormatError(
                f"lists {len(archive.infolist())} members instead of {count}: it is damaged; copy or save it again"
            )
        members = _checked_members(archive, size, {META, *(f"{name}.npy" for name in array_names)})
        if META not in members:
            raise FileFormatError(
                f"has no member {META}, expected a file that bisimetric.save wrote; MarkovChain(...) takes arrays"
            )
        needed = sum(info.file_size for info in members.values())
        memory.require(needed, "reading it", "use a machine with more memory")
        info = members.pop(META)
        meta = json_text.parse(b"".join(_chunks(archive, info)))
        if not isinstance(meta, dict):
            raise FileFormatError(f"{META} is not an object, expected format, version and fields")
        arrays = [_checked_array(archive, info) for info in members.values()]
        for array in arrays:
            _insert(meta, array.info.filename.removesuffix(".npy"), _data(archive, array))
    return meta


@contextmanager
def _damage(what: str) -> Iterator[None]:
    """Turn every error of zipfile into a `FileFormatError`."""
    try:
        yield
    except DAMAGE as error:
        raise FileFormatError(f"{what} is damaged: {error or type(error).__name__}; copy or save it again") from None


def _checked_directory(file: IO[bytes], size: int) -> int:
    """The number of members by the end record; raises if it, or its 64-bit version, declares a huge directory."""
    file.seek(max(0, size - 98))
    tail = file.read(98).rjust(98, b"\0")
    end, locator, end64 = tail[-22:], tail[-42:-22], tail[:-42]
    if not (end.startswith(b"PK\5\6") and end.endswith(b"\0\0")):
        raise FileFormatError(
            "does not end as a zip archive does: it is cut off, or not an .npz file at all; copy or save it again"
        )
    count, length = struct.unpack_from("<HL", end, 10)
    if locator.startswith(b"PK\6\7"):
        length = max(length if length < 2**32 - 1 else 0, struct.unpack_from("<Q", end64, 40)[0])
    if length > DIRECTORY_LIMIT:
        raise FileFormatError(f"lists {length} bytes of members, expected at most {DIRECTORY_LIMIT}")
    return int(count)


def _checked_members(archive: zipfile.ZipFile, size: int, expected: Collection[str]) -> dict[str, zipfile.ZipInfo]:
    members: dict[str, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = info.orig_filename
        if name not in expected:
            raise FileFormatError(f"has a member {name!r}, which no model and no solution has")
        if name in members:
            raise FileFormatError(f"has two members {name!r}, expected one")
        if info.flag_bits & 1:
            raise FileFormatError(f"{name} is encrypted; decrypt the archive before")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise FileFormatError(f"{name} is compressed by method {info.compress_type}, expected deflate")
        if info.compress_size > size:
            raise FileFormatError(f"{name} claims {info.compress_size} bytes of a file of {size}; it is cut off")
        if info.file_size > RATIO_FREE + RATIO_LIMIT * info.compress_size:
            raise FileFormatError(
                f"{name} claims to unpack from {info.compress_size} bytes to {info.file_size}, "
                f"expected at most {RATIO_LIMIT} times as many"
            )
        members[name] = info
    total = sum(info.file_size for info in members.values())
    if total > SIZE_LIMIT:
        raise FileFormatError(f"claims to unpack to {total} bytes, expected at most {SIZE_LIMIT}")
    return members


def _checked_array(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> _Array:
    """The array that the header describes; raises unless it agrees with the size of the member."""
    with _damage(info.filename), archive.open(info) as member:
        header = member.read(HEADER_LENGTH)
    match = HEADER.fullmatch(header)
    if match is None:
        raise FileFormatError(
            f"{info.filename} has an unknown header, expected numbers of type <f8, <i8, <i4 or |b1 "
            "in one or two dimensions; objects (pickles) are never read"
        )
    dtype = np.dtype(match[1].decode("ascii"))
    shape = tuple(int(length) for length in match.groups()[1:] if length is not None)
    claimed, there = prod(shape) * dtype.itemsize, info.file_size - HEADER_LENGTH
    if claimed != there:
        raise FileFormatError(f"{info.filename} claims shape {shape}, which takes {claimed} bytes, but has {there}")
    return _Array(info, dtype, shape)


def _data(archive: zipfile.ZipFile, array: _Array) -> npt.NDArray[Any]:
    flat = np.empty(array.info.file_size - HEADER_LENGTH, np.uint8)
    at = -HEADER_LENGTH
    for chunk in _chunks(archive, array.info):
        begin = max(0, -at)  # where the header ends
        flat[max(at, 0) : at + len(chunk)] = np.frombuffer(chunk, np.uint8)[begin:]
        at += len(chunk)
    if array.dtype.kind == "b" and flat.max(initial=0) > 1:
        raise FileFormatError(f"{array.info.filename} holds a byte {flat.max()}, expected 0 or 1")
    return flat.view(array.dtype).reshape(array.shape)


def _chunks(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    """All bytes of a member; at the last one zipfile compares the checksum."""
    read = 0
    with _damage(info.filename), archive.open(info) as member:
        while chunk := member.read(CHUNK):
            read += len(chunk)
            yield chunk
    if read != info.file_size:
        raise FileFormatError(f"{info.filename} has {read} bytes, expected {info.file_size}; it is cut off")


def _insert(meta: Document, name: str, array: npt.NDArray[Any]) -> None:
    *parents, key = name.split(".")
    node = meta
    for parent in parents:
        node = node.setdefault(parent, {})
        if not isinstance(node, dict):
            raise FileFormatError(f"{META} has no object at {'.'.join(parents)}, where {name}.npy belongs")
    if key in node:
        raise FileFormatError(f"{name} is both in {META} and an array of its own; keep one of them")
    node[key] = array

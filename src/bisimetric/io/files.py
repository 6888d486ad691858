"""Safe access to files: open only regular files, and replace files completely or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from bisimetric.errors import FileFormatError, InvalidOption

SIZE_LIMIT = 4 * 2**30  # bytes of a file, and of everything in it when unpacked
SUFFIXES = (".npz", ".json")
LONGEST_ERROR = 600  # characters of an error's text


def checked_path(path: object, suffixes: tuple[str, ...] = SUFFIXES) -> Path:
    """A path that ends in one of the suffixes."""
    found = usable_path(path, "path")
    if found.suffix.lower() not in suffixes:
        raise InvalidOption(f"path is {str(found)!r}, expected a name that ends in {' or '.join(suffixes)}")
    return found


def usable_path(path: object, what: str) -> Path:
    """A path that the system can use; the error calls it `what`."""
    text = os.fspath(path) if isinstance(path, (str, os.PathLike)) else path
    if not isinstance(text, str):
        raise InvalidOption(f"{what} is a {type(text).__name__}, expected text or a Path")
    try:
        usable = b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise InvalidOption(f"{what} is {text!r}, which no file can be called")
    return Path(text)


def described(path: object, problem: object) -> str:
    """`path: problem` as one line, with special characters escaped."""
    text = str(problem)
    if len(text) > LONGEST_ERROR:
        text = f"{text[: LONGEST_ERROR // 2]} … {text[-LONGEST_ERROR // 2 :]}"
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in f"{path}: {text}")


def open_regular(path: Path, expected: str = "a file that bisimetric.save wrote") -> tuple[IO[bytes], int]:
    """Open a regular file for reading; returns it and its size. Nothing else is opened: opening a pipe would block."""
    try:
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):
            kind = "a folder" if stat.S_ISDIR(mode) else "a pipe or device"
            raise FileFormatError(f"is {kind}, expected {expected}")
        file = open(path, "rb")  # noqa: SIM115
    except FileNotFoundError:
        raise FileFormatError("no such file") from None
    size = os.fstat(file.fileno()).st_size
    if 0 < size <= SIZE_LIMIT:
        return file, size
    file.close()
    if size == 0:
        raise FileFormatError(f"is empty, expected {expected}")
    raise FileFormatError(f"has {size} bytes, expected at most {SIZE_LIMIT}")


def is_open_file(path: object) -> bool:
    """Whether this is an open file, or behaves like one, rather than a name."""
    return not isinstance(path, (str, os.PathLike)) and (hasattr(path, "read") or hasattr(path, "write"))


def takes_text(file: object) -> bool:
    """Whether an open file is for text; temporary files are of no common type, but have its encoding."""
    return hasattr(file, "encoding")


def read_open(file: Any) -> bytes:
    """Everything in an open file, text as UTF-8."""
    try:
        data = file.read(SIZE_LIMIT + 1)
    except (ValueError, AttributeError) as error:  # closed, opened for writing, or not UTF-8
        raise FileFormatError(f"cannot be read: {error}; open it for reading, best in binary mode") from None
    if isinstance(data, str):
        data = data.encode("utf-8", "surrogatepass")
    if not isinstance(data, bytes):
        raise FileFormatError(f"its read() returned a {type(data).__name__}, expected bytes or text")
    if not data:
        raise FileFormatError("is empty, or was read to its end before; file.seek(0) goes back")
    if len(data) > SIZE_LIMIT:
        raise FileFormatError(f"has more than {SIZE_LIMIT} bytes, the most that is read")
    return data


def write_to_open(file: Any, data: bytes) -> None:
    """Write everything to an open file, as text if it takes text."""
    try:
        file.write(data.decode("utf-8", "surrogatepass") if takes_text(file) else data)
    except (OSError, ValueError, AttributeError, TypeError) as error:
        name = getattr(file, "name", "the open file")
        raise FileFormatError(
            described(name, f"cannot be written: {error}; open it for writing, best in binary mode")
        ) from None


def write_file(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    """Let `write` fill a new file, then move that to `path`; on any failure `path` stays as it was.

    If the system refuses, the error is a `FileFormatError` that names the file.
    """
    try:
        _write_atomically(path, write)
    except FileFormatError as error:
        raise FileFormatError(described(path, error)) from None
    except OSError as error:
        raise FileFormatError(
            described(path, f"cannot be written: {error.strerror or error}; choose another place")
        ) from None


def _write_atomically(path: Path, write: Callable[[IO[bytes]], None]) -> None:
    check_destination(path)
    temporary = path.parent / f".bisimetric-{secrets.token_hex(8)}.tmp"
    try:
        with open(temporary, "xb") as file:
            write(file)
            if file.tell() > SIZE_LIMIT:
                raise FileFormatError(f"has {file.tell()} bytes when written, expected at most {SIZE_LIMIT}")
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            shutil.copymode(path, temporary)
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C too
        with suppress(OSError):
            os.unlink(temporary)
        raise


def check_destination(path: Path) -> None:
    """Raise if no file can be written at `path`, or the existing file must not be replaced."""
    if not path.parent.is_dir():
        raise FileFormatError(f"there is no folder {str(path.parent)!r}; create it first")
    if path.is_symlink():
        raise FileFormatError(f"is a symbolic link to {os.readlink(path)!r}; save to that path, or remove the link")
    if path.exists() and not path.is_file():
        raise FileFormatError("exists and is not a file; choose another name")
    if path.exists() and not os.access(path, os.W_OK):
        raise FileFormatError("is write-protected; make it writable or choose another name")

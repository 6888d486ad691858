"""Documents as JSON text: UTF-8, without NaN, Infinity or repeated keys.

Numbers are written so that they read back as the same float64.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import IO, Any, NoReturn

from bisimetric._support import memory
from bisimetric.errors import FileFormatError
from bisimetric.io.document import Document, Stream
from bisimetric.io.files import SIZE_LIMIT

# Most memory that parsing takes, in bytes per character and per mark. A float in a list takes 32, an empty list 72.
BYTES_PER_CHARACTER = 5
BYTES_PER_MARK = {b"[": 100, b"{": 100, b",": 64, b":": 128}


def write(file: IO[bytes], document: Document) -> None:
    """Write the document as JSON text."""
    size = 0
    for piece in pieces(document):
        data = piece.encode("utf-8", "surrogatepass")  # a text may hold half a surrogate pair, and comes back with it
        size += len(data)
        if size > SIZE_LIMIT:
            raise FileFormatError(
                f"needs more than {memory.in_words(SIZE_LIMIT)}, the most a file may have; "
                "save as .npz, which is smaller"
            )
        file.write(data)


def read(file: IO[bytes], size: int) -> object:
    """The JSON value in a file of `size` bytes."""
    memory.require(2 * size, "reading it", "use a machine with more memory")
    data = file.read(size + 1)
    if len(data) != size:
        raise FileFormatError(f"has {len(data)} bytes instead of {size}: it changed while it was read")
    return parse(data)


def parse(data: bytes) -> object:
    """The value of a JSON text."""
    needed = BYTES_PER_CHARACTER * len(data) + sum(data.count(mark) * each for mark, each in BYTES_PER_MARK.items())
    memory.require(needed, "reading JSON text", "save it as .npz, which needs less")
    try:
        text = data.decode("utf-8-sig", "surrogatepass")
        return json.loads(text, object_pairs_hook=_object_without_repeats, parse_constant=_refuse_constant)
    except FileFormatError:
        raise
    except UnicodeDecodeError as error:
        raise FileFormatError(f"byte {error.start} is not UTF-8, expected JSON text") from None
    except json.JSONDecodeError as error:
        raise FileFormatError(
            f"is not JSON: {error.msg} at line {error.lineno}, column {error.colno}; the file may be cut off"
        ) from None
    except RecursionError:
        raise FileFormatError("is nested too deeply, expected a chain or a solution") from None
    except ValueError as error:  # a whole number of thousands of digits
        raise FileFormatError(f"holds a number that is too long: {error}") from None


def pieces(node: Any, indent: str = "\n") -> Iterator[str]:
    """The text of a node, piece by piece; objects have one line per key."""
    if isinstance(node, dict):
        yield "{"
        for k, (key, value) in enumerate(node.items()):
            yield f"{',' if k else ''}{indent} {json.dumps(key)}: "
            yield from pieces(value, f"{indent} ")
        yield f"{indent}}}"
    elif isinstance(node, Stream):
        comma = ""
        yield "["
        for block in node.blocks():
            if len(block):
                yield comma + _text(block.tolist())[1:-1]
                comma = ", "
        yield "]"
    else:
        yield _text(node)


def _text(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError as error:
        raise FileFormatError(f"a number cannot be written: {error}") from None


def _object_without_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise FileFormatError(f"the key {twice!r} occurs twice in one object; keep one of them")
    return found


def _refuse_constant(name: str) -> NoReturn:
    raise FileFormatError(f"holds {name}, which is not JSON; expected finite numbers")

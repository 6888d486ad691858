"""Names of built-in environments, such as "four-rooms:p1"."""

from __future__ import annotations

from bisimetric import environments
from bisimetric.readers.reader import Reader

READER = Reader(
    "the name of a built-in environment (`bisimetric environments` lists them)",
    lambda obj: isinstance(obj, str) and environments.is_name(obj),
    environments.by_name,
)

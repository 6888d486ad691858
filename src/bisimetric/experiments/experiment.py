"""The parts of an experiment: a config gives a record, and the record gives pictures and tables.

A record is a JSON object:

    experiment, config, quick     its name, the settings (with seeds), whether they are those of --quick
    versions                      of the packages that the numbers may depend on
    seconds                       {cpu, wall} of the run
    result                        all numbers that the pictures and tables show

Pictures and tables are made from the record alone, after it was read back from its file.
"""

from __future__ import annotations

import json
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from bisimetric import __version__
from bisimetric.errors import FileFormatError
from bisimetric.io.files import described, open_regular, write_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Figure

FORMAT = "bisimetric experiment"
ResultData = dict[str, Any]  # plain data: texts, numbers, lists, dicts, None
Record = dict[str, Any]


class Workplace(NamedTuple):
    """How a run reports what it is doing, and the folder where it may keep files to continue from."""

    say: Callable[[str], None]
    folder: Path


class Table(NamedTuple):
    """The key numbers of a record, for people."""

    title: str
    head: Sequence[str]
    body: Sequence[Sequence[str]]
    notes: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Experiment:
    """One of the paper's experiments; `draw` gives its pictures by name."""

    name: str
    pictures: tuple[str, ...]  # the names of their files, without suffix
    config: Any  # a frozen dataclass
    quick: Any  # a config that takes less time
    run: Callable[[Any, Workplace], ResultData]
    draw: Callable[[Record], Mapping[str, Figure]]
    tables: Callable[[Record], Sequence[Table]]
    summary: Callable[[Record], dict[str, Any]]  # the key numbers, for programs

    def record(self, config: Any, workplace: Workplace) -> Record:
        """Run the experiment; the record holds the result and how it was made."""
        cpu, wall = time.process_time(), time.perf_counter()
        result = self.run(config, workplace)
        return {
            "format": FORMAT,
            "experiment": self.name,
            "quick": config == self.quick != self.config,
            "config": asdict(config),
            "versions": versions(),
            "seconds": {"cpu": time.process_time() - cpu, "wall": time.perf_counter() - wall},
            "result": result,
        }


def versions() -> dict[str, str]:
    """The versions of the packages that the numbers may depend on."""
    packages = {name: version(name) for name in ("numpy", "scipy", "numba", "matplotlib")}
    return {"bisimetric": __version__, "python": platform.python_version(), **packages}


def write_record(record: Record, path: Path) -> None:
    """Write a record as JSON; the file appears complete or stays as it was."""
    data = json.dumps(record, indent=1, allow_nan=False, ensure_ascii=False).encode()

    def write(file: IO[bytes]) -> None:
        file.write(data)

    write_file(path, write)


def read_record(path: Path) -> Record:
    """Read a record that `write_record` wrote."""
    try:
        file, _ = open_regular(path)
        with file:
            record = json.load(file)
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            raise FileFormatError("is not the record of an experiment; `bisimetric reproduce` writes those")
    except (FileFormatError, ValueError) as error:
        raise FileFormatError(described(path, error)) from None
    return record

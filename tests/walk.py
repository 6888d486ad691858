"""The source files that three calls visit, in order of first visit: `python -m tests.walk` prints them.

    bm.distance              between two chains of four rooms, and the distance between their starts
    bm.bisimulation_metric   of one decision process
    bm.pairwise              of three chains

Each call runs twice. The first run loads modules and kernels; the second is profiled, on one thread. The profiler sees
Python calls: of the compiled kernels it sees what Python runs around them. One line of a walk is one stay in a folder,
so a folder with two lines is entered twice. ARCHITECTURE.md shows the same text.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path, PurePosixPath
from types import FrameType

import bisimetric as bm

ROOT = Path(bm.__file__).parent
LOOP = {"solvers", "operators", "linear", "kernels"}  # a solver's steps go through these again and again


@dataclass(frozen=True)
class Walk:
    """The files that a call visits."""

    name: str
    files: tuple[str, ...]  # in order of first visit, relative to the package
    changes: int  # how often the next call is to another file than the last; it varies with the clock

    @property
    def stays(self) -> list[tuple[str, list[str]]]:
        """Folders with the files first visited during each stay there; files of the package itself are in ''."""
        grouped = groupby(map(PurePosixPath, self.files), key=lambda file: file.parts[0] if len(file.parts) > 1 else "")
        return [
            (folder, [str(file.relative_to(folder).with_suffix("")) for file in files]) for folder, files in grouped
        ]

    @property
    def entered_again(self) -> list[str]:
        """Folders that are left and entered again, in order; a kernel that is called is no leave.

        Folders of the solver's loop are not counted.
        """
        folders = [folder for folder, _ in groupby(stay[0] for stay in self.stays if stay[0] != "kernels") if folder]
        return sorted({folder for folder in folders if folders.count(folder) > 1} - LOOP, key=folders.index)

    def text(self) -> str:
        """Header, one line for each stay, and which folders are entered again."""
        lines = [f"{folder}/ " + ", ".join(files) if folder else ", ".join(files) for folder, files in self.stays]
        again = ", ".join(self.entered_again) or "none"
        return "\n  ".join([f"{self.name}: {len(self.files)} files", *lines, f"entered again: {again}"])


def walk(name: str, call: Callable[[], object]) -> Walk:
    """Profile the second of two runs of `call`."""
    call()
    visited: list[str] = []

    def profile(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(str(ROOT)):
            visited.append(file)

    usual = sys.getprofile()
    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(usual)
    files = tuple(Path(file).relative_to(ROOT).as_posix() for file in dict.fromkeys(visited))
    return Walk(name, files, sum(a != b for a, b in pairwise(visited)))


def walks() -> list[Walk]:
    """The three walks, on one thread; the environment is as it was afterwards."""
    a, b, c = (bm.environments.four_rooms(name) for name in ("p1", "p0", "p2"))
    mdp = bm.environments.four_rooms_mdp("p1", slip=0.1)
    usual = os.environ.get("BISIMETRIC_THREADS")
    os.environ["BISIMETRIC_THREADS"] = "1"
    try:
        return [
            walk("bm.distance(a, b, discount=0.95)", lambda: bm.distance(a, b, discount=0.95)),
            walk("bm.bisimulation_metric(mdp, discount=0.9)", lambda: bm.bisimulation_metric(mdp, discount=0.9)),
            walk("bm.pairwise([a, b, c], discount=0.95)", lambda: bm.pairwise([a, b, c], discount=0.95)),
        ]
    finally:
        if usual is None:
            del os.environ["BISIMETRIC_THREADS"]
        else:
            os.environ["BISIMETRIC_THREADS"] = usual


def text(found: list[Walk]) -> str:
    """What ARCHITECTURE.md shows."""
    return "\n\n".join(one.text() for one in found) + "\n"


if __name__ == "__main__":
    found = walks()
    print(text(found))
    for one in found:
        print(f"{one.name}: {one.changes} changes of file in this run")

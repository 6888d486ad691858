"""The control groups around this process (a container, a batch job), which limit its memory and its processors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
PROC = Path("/proc")


def control_groups(controller: str) -> Iterator[tuple[Path, int]]:
    """The folders of all groups around this process, from the inside out, each with its version, 1 or 2."""
    try:
        lines = (PROC / "self/cgroup").read_text().splitlines()
    except OSError:
        lines = []
    for line in (*lines, "0::/"):  # a container may show its own group as the top one
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            root, version = CGROUP, 2
        elif controller in controllers.split(","):
            root, version = CGROUP / controller, 1
        else:
            continue
        group = Path(path.lstrip("/"))
        for part in (group, *group.parents):
            yield root / part, version

"""How much memory a computation needs, said before it is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from bisimetric._errors import NotEnoughMemory

_CGROUP = Path("/sys/fs/cgroup")


def available_bytes() -> int | None:
    """Memory that can still be allocated, as far as the system tells."""
    found = [size for size in (_from_meminfo(), _from_cgroup()) if size is not None]
    if found:
        return min(found)
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def require(needed: int, what: str, remedy: str) -> None:
    """Raise before anything is allocated when `needed` bytes are more than there are."""
    free = available_bytes()
    if free is not None and needed > free:
        raise NotEnoughMemory(f"{what} needs about {in_words(needed)}, available are {in_words(free)}; {remedy}")


def in_words(size: float) -> str:
    """A number of bytes for people."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def _from_meminfo() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def _from_cgroup() -> int | None:
    try:
        limit = (_CGROUP / "memory.max").read_text().strip()
        used = int((_CGROUP / "memory.current").read_text())
    except (OSError, ValueError):
        return None
    return int(limit) - used if limit.isdigit() else None

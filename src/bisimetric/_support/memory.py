"""Whether there is enough memory for a computation, checked before anything is allocated.

Three limits apply: the memory of the machine, the limits of the control groups around this process (a container, a
batch job), and its address space if that is limited (`ulimit -v`). The last matters most, because the compiler aborts
the process when an allocation fails.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bisimetric._support import cgroups
from bisimetric._support.cgroups import control_groups
from bisimetric.errors import NotEnoughMemory

if TYPE_CHECKING:
    import numpy.typing as npt

COMPILER_SPACE = 600 * 2**20  # address space that loading and compiling the kernels takes
LIBRARY_SPACE, LIBRARY_SPACE_PER_THREAD = 160 * 2**20, 40 * 2**20  # bytes that loading numpy and scipy takes, at most
MOST_LIBRARY_THREADS = 64
LARGE = 2**28  # bytes of a model from which the free memory is checked
MOST_SHOWN = 10**300  # bytes; more would overflow a float
NEGLIGIBLE = 2**24  # bytes that need no check: finding out how many there are takes half a millisecond


NO_RESERVE = 0x4000  # a flag of Linux, which Python names from version 3.13 on


def untouched(size: int, kind: npt.DTypeLike) -> npt.NDArray[Any]:
    """An array of zeros that takes memory page by page where it is written, and none elsewhere, however large it is."""
    import mmap

    import numpy as np

    if not hasattr(mmap, "MAP_PRIVATE"):
        return np.zeros(size, kind)
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | (NO_RESERVE if sys.platform == "linux" else 0)
    room = mmap.mmap(-1, max(size * np.dtype(kind).itemsize, 1), flags=flags)
    return np.frombuffer(room, kind, size)


def available_bytes() -> int | None:
    """Memory that can still be allocated; None if the system does not say."""
    found = [size for size in (_from_meminfo(), _from_cgroups()) if size is not None]
    if found:
        return min(found)
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def address_space() -> int | None:
    """Bytes by which this process may still grow under its RLIMIT_AS, if it has one."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        used = int((cgroups.PROC / "self/statm").read_text().split()[0]) * resource.getpagesize()
    except (ImportError, AttributeError, OSError, ValueError, IndexError):
        return None
    return None if limit == resource.RLIM_INFINITY else max(limit - used, 0)


def fits(needed: int) -> bool:
    """Whether `needed` bytes are free, for choices between methods; `require` raises errors."""
    limits = [size for size in (available_bytes(), address_space()) if size is not None]
    return needed < NEGLIGIBLE or all(needed <= size for size in limits)


def require(needed: int, what: str, remedy: str) -> None:
    """Raise before anything is allocated when `needed` bytes are more than there are."""
    if needed <= NEGLIGIBLE:
        return
    require_of(available_bytes(), needed, what, remedy)
    _require_space(needed, what)


def require_of(free: int | None, needed: int, what: str, remedy: str) -> None:
    """Raise when `needed` bytes are more than are `free`, perhaps on another machine; None if it does not say."""
    if free is not None and needed > free:
        raise NotEnoughMemory(f"{what} needs about {in_words(needed)}, available are {in_words(free)}; {remedy}")


def require_space_for_kernels() -> None:
    """Raise before kernels are loaded where the compiler would get too little address space and end the process."""
    _require_space(COMPILER_SPACE, "compiling kernels")


def _require_space(needed: int, what: str) -> None:
    space = address_space()
    if space is not None and needed > space:
        raise NotEnoughMemory(
            f"{what} needs about {in_words(needed)} of address space, "
            f"this process may take {in_words(space)} more; raise its limit (ulimit -v)"
        )


def require_space_for_libraries() -> None:
    """Raise before numpy is loaded where OpenBLAS would get too little address space and end the process."""
    if "numpy" not in sys.modules:
        threads = min(os.cpu_count() or 1, MOST_LIBRARY_THREADS)
        _require_space(LIBRARY_SPACE + LIBRARY_SPACE_PER_THREAD * threads, "loading numpy and scipy")


def require_if_large(needed: int, what: str, remedy: str) -> None:
    """Do the same for models, which need no kernels; small ones are not checked."""
    if needed > LARGE:
        require(needed, what, remedy)


def in_words(size: float) -> str:
    """A number of bytes with a unit, in three digits."""
    size = min(size, MOST_SHOWN)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} TB"


def _from_meminfo() -> int | None:
    return _entries(cgroups.PROC / "meminfo", "MemAvailable:", unit=1024)


def _from_cgroups() -> int | None:
    """The smallest amount of memory left in any control group around this process."""
    left = [_left_in(*group) for group in control_groups("memory")]
    return min((size for size in left if size is not None), default=None)


def _left_in(group: Path, version: int) -> int | None:
    """The limit of a group minus its use; memory that holds cached files counts as free."""
    names = ("max", "current") if version == 2 else ("limit_in_bytes", "usage_in_bytes")
    try:
        limit, used = (int((group / f"memory.{name}").read_text()) for name in names)
    except (OSError, ValueError):  # no such group, or "max"
        return None
    stat, names = group / "memory.stat", ("inactive_file", "active_file")
    cached = _entries(stat, *(f"total_{name}" for name in names)) or _entries(stat, *names) or 0
    return max(limit - max(used - cached, 0), 0)


def _entries(file: Path, *names: str, unit: int = 1) -> int | None:
    """The sum of some lines of a file of the form `name number`."""
    try:
        lines = [line.split() for line in file.read_text().splitlines()]
    except OSError:
        return None
    found = [int(words[1]) * unit for words in lines if words and words[0] in names]
    return sum(found) if found else None

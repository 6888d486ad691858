"""How kernels are compiled and where the result is kept.

numba's own cache looks only at the file of the function that is called, so it keeps stale code when another
kernel file changes. Here the cache folder is named after a hash of all kernel sources, of numba's version and of
the flags that change the code. Where no folder is writable, nothing is cached. The first compilation in a process
is announced in one line on stderr.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import event

Function = TypeVar("Function", bound=Callable[..., Any])

CACHE_VARIABLE = "BISIMETRIC_CACHE_DIR"  # overrides the user's cache folder


def _user_cache() -> Path:
    if os.environ.get(CACHE_VARIABLE):
        return Path(os.environ[CACHE_VARIABLE])
    if numba.config.CACHE_DIR:
        return Path(numba.config.CACHE_DIR) / "bisimetric"
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = str(Path("~/Library/Caches").expanduser())
    else:
        base = os.environ.get("XDG_CACHE_HOME") or str(Path("~/.cache").expanduser())
    return Path(base or tempfile.gettempdir()) / "bisimetric"


def _cache_folder() -> Path | None:
    """The folder for these sources and flags, or None where it can't be written."""
    digest = hashlib.sha256(f"{numba.__version__} {numba.config.BOUNDSCHECK}".encode())
    for source in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(source.read_bytes())
    folder = _user_cache() / digest.hexdigest()[:16]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError:
        return None
    return folder


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says once that kernels are being compiled, whichever kernel comes first."""

    said = False

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.said and module.startswith("bisimetric."):
            self.said = True
            again = "once" if _FOLDER else "no cache folder is writable, so in every process"
            print(f"bisimetric: compiling kernels, about 10 seconds ({again})", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


_FOLDER = _cache_folder()
event.register("numba:compile", _Announcement())


def kernel(function: Function, *, fastmath: bool | set[str] = False) -> Function:
    """Compile without the interpreter lock; cached where possible."""
    usual = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_FOLDER or "")  # read once, when the function is decorated
    try:
        compiled: Function = numba.njit(nogil=True, cache=_FOLDER is not None, fastmath=fastmath)(function)
    finally:
        numba.config.CACHE_DIR = usual
    return compiled


def finite_kernel(function: Function) -> Function:
    """A kernel that may assume finite numbers, so that its minima are vectorised."""
    return kernel(function, fastmath={"nnan", "ninf", "nsz"})

"""How kernels are compiled and where the result is kept.

numba's own cache looks only at the file of the function that is called, so it keeps stale code when another
kernel file changes; its index can mix up two signatures that two processes write at once; and a damaged file, or
a full disk, stops the program. Here the folder is named after a hash of all kernel sources and of the versions and
flags that change the code, every signature has a file of its own with a checksum, and nothing about these files
can fail a call: what can't be read is compiled again, what can't be written is not kept. The first compilation in
a process is announced in one line on stderr.

numba does not recover from Ctrl-C in the middle of its import or of a compilation. Both therefore run in a thread
of their own, where Ctrl-C does not reach them: the caller stops at once, the thread ends its piece of work. A fork
waits for it, since the child would inherit the lock without the thread that frees it.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from bisimetric._support.threads import call_in_thread

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

CACHE_VARIABLE = "BISIMETRIC_CACHE_DIR"  # overrides the user's cache folder

BUSY = threading.RLock()  # held while something is compiled
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=BUSY.acquire, after_in_parent=BUSY.release, after_in_child=BUSY.release)


def _undisturbed(call: Callable[..., Result]) -> Callable[..., Result]:
    """The same call, one at a time and out of the reach of Ctrl-C, which interrupts the main thread only."""

    def locked(*args: Any) -> Result:
        with BUSY:
            return call(*args)

    def run(*args: Any) -> Result:
        if threading.get_ident() != threading.main_thread().ident:
            return locked(*args)
        return call_in_thread(locked, *args)

    return run


_undisturbed(import_module)("numba")

import numba  # noqa: E402
from numba.core import event  # noqa: E402
from numba.core.caching import NullCache  # noqa: E402
from numba.core.compiler import CompileResult  # noqa: E402
from numba.core.serialize import dumps  # noqa: E402


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
    """The folder for these sources, versions and flags, or None where there can't be one."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    digest = hashlib.sha256(repr((numba.__version__, sys.implementation.cache_tag, numba.config.BOUNDSCHECK)).encode())
    try:
        for source in sources:
            digest.update(source.read_bytes())
        folder = _user_cache().absolute() / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # the latter where a user has no home
        return None
    return folder if sources else None


class _Cache(NullCache):  # type: ignore[misc]
    """Compiled code of one kernel in files that may vanish, be cut short or be written by others at any time."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._name = f"{function.__module__.removeprefix('bisimetric.kernels.')}.{function.__qualname__}"
        self._folder = folder

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        target_context.refresh()
        try:
            file = self._file(sig, target_context.codegen())
            stored = file.read_bytes()
            code = stored[hashlib.sha256().digest_size :]
            if stored != _seal(file, code) + code:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(code))
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        file, code = self._file(sig, data.codegen), dumps(data._reduce())
        draft = self._folder / f"{uuid.uuid4().hex}.tmp"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(_seal(file, code) + code)
            draft.replace(file)
        except OSError:
            with suppress(OSError):
                draft.unlink()

    def _file(self, sig: Any, codegen: Any) -> Path:
        """Named after everything that the code depends on, the kind of processor included."""
        key = hashlib.sha256(repr((sig, codegen.magic_tuple())).encode()).hexdigest()
        return self._folder / f"{self._name}-{key[:16]}"


def _seal(file: Path, code: bytes) -> bytes:
    """What a file of this name begins with if it is whole."""
    return hashlib.sha256(file.name.encode() + code).digest()


class _Announcement(event.Listener):  # type: ignore[misc]
    """Says once that kernels are being compiled, whichever kernel comes first."""

    said = False

    def on_start(self, event: event.Event) -> None:
        module = event.data["dispatcher"].py_func.__module__
        if not self.said and module.startswith("bisimetric."):
            self.said = True
            kept = _FOLDER is not None and os.access(_FOLDER, os.W_OK)
            again = "once for each kind of solve" if kept else "no cache folder is writable, so in every process"
            with suppress(OSError, ValueError):  # nobody reads stderr
                print(f"bisimetric: compiling kernels, about 10 seconds ({again})", file=sys.stderr, flush=True)

    def on_end(self, event: event.Event) -> None:
        pass


_FOLDER = _cache_folder()
event.register("numba:compile", _Announcement())


def kernel(function: Function, *, fastmath: bool | set[str] = False) -> Function:
    """Compile without the interpreter lock; cached where possible.

    A kernel returns numbers or a plain tuple of them. For an array or a named tuple numba would run Python code on the
    way out, where a Ctrl-C that came meanwhile is raised; numba does not look for that, and the process would crash.
    """
    compiled: Any = numba.njit(nogil=True, fastmath=fastmath)(function)
    if not numba.config.DISABLE_JIT:
        compiled.compile = _undisturbed(compiled.compile)
        if _FOLDER is not None:
            compiled._cache = _Cache(function, _FOLDER)
    return compiled  # type: ignore[no-any-return]


def part(function: Function) -> Function:
    """A function that only kernels call: nothing around it for Python, which halves its compilation."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def inlined_part(function: Function) -> Function:
    """A short part whose lines become those of its caller, so that no array is handed on and counted as a reference."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")(function)  # type: ignore[no-any-return]


def finite_part(function: Function) -> Function:
    """A part that may assume finite numbers, so that its minima are vectorised."""
    fastmath = {"nnan", "ninf", "nsz"}
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=fastmath)(  # type: ignore[no-any-return]
        function
    )


def vector_part(function: Function) -> Function:
    """A finite part that may fuse multiplications with additions, as `vector_kernel` does."""
    fastmath = {"nnan", "ninf", "nsz", "contract"}
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=fastmath)(  # type: ignore[no-any-return]
        function
    )


def vector_kernel(function: Function) -> Function:
    """A kernel that may assume finite numbers and fuse multiplications with additions."""
    return kernel(function, fastmath={"nnan", "ninf", "nsz", "contract"})


def reduction_kernel(function: Function) -> Function:
    """A vector kernel whose sums may be taken in any order, the same for the same processor."""
    return kernel(function, fastmath={"nnan", "ninf", "nsz", "contract", "reassoc"})


def summing_kernel(function: Function) -> Function:
    """A kernel whose sums may be taken in any order, the same for the same processor; it may meet any numbers."""
    return kernel(function, fastmath={"nsz", "contract", "reassoc"})

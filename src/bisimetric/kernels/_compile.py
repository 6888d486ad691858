"""How kernels are compiled, and where compiled code is kept.

numba's own cache looks only at the file of the function that is called, so it keeps stale code when another kernel file
changes; its index can mix up two signatures that two processes write at once; and a damaged file, or a full disk, stops
the program. Here the folder is named after a hash of all kernel sources and of the versions and flags that change the
code, and every signature has its own file with a checksum. A problem with these files never fails a call: code that
cannot be read is compiled again, and code that cannot be written is not kept. Lines on stderr say what is compiled
when it is first needed, by `PURPOSES`.

The cache uses private names of numba: `NullCache` and `dumps`, `CompileResult._reduce` and `_rebuild`, the attribute
`_cache` of a dispatcher. Where one is missing or works differently, every process compiles its kernels, and everything
else works. pyproject.toml bounds the version of numba; tests/kernels/test_cache.py tests the cache itself.

numba does not recover from Ctrl-C during its import or a compilation. So both run in a separate thread, which Ctrl-C
does not reach: the caller stops at once, and the thread finishes its work. A fork waits for that thread, since the
child would inherit the lock without the thread that frees it.
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

from bisimetric._support.compiling import COMPILING
from bisimetric._support.memory import require_space_for_kernels
from bisimetric._support.threads import call_in_thread

Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")

KERNELS = "bisimetric.kernels."
CACHE_VARIABLE = "BISIMETRIC_CACHE_DIR"  # overrides the user's cache folder

# What the kernels of a file are for, in a user's words.
PURPOSES = {
    "check": "certificates",
    "components": "strongly connected states",
    "evaluation": "products with large couplings",
    "gradient": "gradients",
    "krylov": "values of couplings",
    "lifting": "solutions on classes of states",
    "listing": "lists of pairs",
    "modes": "slowly mixing chains",
    "refinement": "classes of bisimilar states",
    "robust": "chains with row errors",
    "side_by_side": "many small problems",
    "splitting": "occupancies",
    "sinkhorn.dense": "entropic couplings of full rows",
    "sinkhorn.elementary": "exponentials of costs",
    "sinkhorn.projection": "entropic couplings",
    "sinkhorn.rounding": "rounding entropic couplings",
    "transport.full": "transports between full rows",
    "transport.starts": "first transports",
    "transport.repair": "transports near solved ones",
    "transport.sweep": "transports between rows",
}

BUSY = threading.RLock()  # held while something is compiled
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=BUSY.acquire, after_in_parent=BUSY.release, after_in_child=BUSY.release)


def _protected(call: Callable[..., Result]) -> Callable[..., Result]:
    """Wrap `call` to run one at a time, in a thread that Ctrl-C does not reach (it interrupts the main thread)."""

    def locked(*args: Any) -> Result:
        with BUSY, COMPILING:
            return call(*args)

    def run(*args: Any) -> Result:
        if threading.get_ident() != threading.main_thread().ident:
            return locked(*args)
        return call_in_thread(locked, *args)

    return run


require_space_for_kernels()
_protected(import_module)("numba")

import numba  # noqa: E402

try:
    from numba.core import event
    from numba.core.caching import NullCache
    from numba.core.compiler import CompileResult
    from numba.core.serialize import dumps
except ImportError:  # another version of numba: no cache, and no announcement
    event = None
    NullCache = object


def _user_cache() -> Path:
    """The folder for caches of this user."""
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
    """The folder for these sources, versions and flags; None if no folder is writable."""
    sources = sorted(Path(__file__).parent.rglob("*.py"))
    digest = hashlib.sha256(repr((numba.__version__, sys.implementation.cache_tag, numba.config.BOUNDSCHECK)).encode())
    try:
        for source in sources:
            digest.update(source.read_bytes())
        folder = _user_cache().absolute() / digest.hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # RuntimeError if the user has no home folder
        return None
    return folder if sources else None


class _Cache(NullCache):  # type: ignore[misc]
    """Compiled code of one kernel, in files that others may write, damage or delete at any time."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._name = f"{function.__module__.removeprefix(KERNELS)}.{function.__qualname__}"
        self._folder = folder

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            target_context.refresh()
            file = self._file(sig, target_context.codegen())
            stored = file.read_bytes()
            code = stored[hashlib.sha256().digest_size :]
            if stored != _seal(file, code) + code:
                return None
            return CompileResult._rebuild(target_context, *pickle.loads(code))
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        draft = self._folder / f"{uuid.uuid4().hex}.tmp"
        try:
            file, code = self._file(sig, data.codegen), dumps(data._reduce())
            self._folder.mkdir(parents=True, exist_ok=True)
            draft.write_bytes(_seal(file, code) + code)
            draft.replace(file)
        except Exception:  # a full disk, or a version of numba that works differently
            with suppress(OSError):
                draft.unlink()

    def _file(self, sig: Any, codegen: Any) -> Path:
        """The file for a signature, named after everything that the code depends on, also the kind of processor."""
        key = hashlib.sha256(repr((sig, codegen.magic_tuple())).encode()).hexdigest()
        return self._folder / f"{self._name}-{key[:16]}"


def _seal(file: Path, code: bytes) -> bytes:
    """The checksum that an undamaged file of this name begins with."""
    return hashlib.sha256(file.name.encode() + code).digest()


class _Announcement(event.Listener if event else object):  # type: ignore[misc]
    """Says what is being compiled, once for each purpose: of the kernel that was called, not of its parts."""

    def __init__(self) -> None:
        self._said: set[str] = set()
        self._depth = 0

    def on_start(self, event: Any) -> None:
        self._depth += 1
        module = event.data["dispatcher"].py_func.__module__
        if self._depth > 1 or not module.startswith(KERNELS):
            return
        purpose = PURPOSES.get(module.removeprefix(KERNELS), "distances")
        if purpose not in self._said:
            self._said.add(purpose)
            again = "once" if is_code_kept() else "no cache folder is writable, so in every process"
            with suppress(OSError, ValueError):  # stderr is closed
                print(f"bisimetric: compiling kernels for {purpose} ({again})", file=sys.stderr, flush=True)

    def on_end(self, event: Any) -> None:
        self._depth -= 1


_CACHE_FOLDER = _cache_folder() if event else None


def is_code_kept() -> bool:
    """Whether compiled code can be kept for other processes."""
    return _CACHE_FOLDER is not None and os.access(_CACHE_FOLDER, os.W_OK)


if event:
    event.register("numba:compile", _Announcement())


def kernel(function: Function, *, fastmath: bool | set[str] = False) -> Function:
    """Compile a function that runs without the interpreter lock; the code is cached where possible.

    A kernel must return numbers or a plain tuple of them. To return an array or a named tuple, numba runs Python code,
    which raises KeyboardInterrupt after Ctrl-C; numba does not check for that, and the process would crash.
    """
    compiled: Any = numba.njit(nogil=True, fastmath=fastmath, no_cfunc_wrapper=True)(function)
    if not numba.config.DISABLE_JIT:
        compiled.compile = _protected(compiled.compile)
        if _CACHE_FOLDER is not None:
            compiled._cache = _Cache(function, _CACHE_FOLDER)
    return compiled  # type: ignore[no-any-return]


def part(function: Function) -> Function:
    """Compile a function that only kernels call. Without a wrapper for Python this takes half the time."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)  # type: ignore[no-any-return]


def part_of(compiled: Function) -> Function:
    """The function of a kernel as a part, for other kernels to call."""
    if numba.config.DISABLE_JIT:
        return compiled
    options: Any = compiled.targetoptions  # type: ignore[attr-defined]
    function: Function = compiled.py_func  # type: ignore[attr-defined]
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=options["fastmath"])(  # type: ignore[no-any-return]
        function
    )


def inlined_part(function: Function) -> Function:
    """Compile a short part into its caller, so that numba counts no references to the arrays that it uses."""
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, inline="always")(function)  # type: ignore[no-any-return]


def finite_part(function: Function) -> Function:
    """Compile a part that may assume finite numbers, so that its minima are vectorised."""
    fastmath = {"nnan", "ninf", "nsz"}
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=fastmath)(  # type: ignore[no-any-return]
        function
    )


def vector_part(function: Function) -> Function:
    """Compile a finite part that may fuse multiplications with additions, as `vector_kernel` does."""
    fastmath = {"nnan", "ninf", "nsz", "contract"}
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=fastmath)(  # type: ignore[no-any-return]
        function
    )


def summing_part(function: Function) -> Function:
    """Compile a vector part whose sums may be taken in any order, the same for the same processor."""
    fastmath = {"nnan", "ninf", "nsz", "contract", "reassoc"}
    return numba.njit(no_cpython_wrapper=True, no_cfunc_wrapper=True, fastmath=fastmath)(  # type: ignore[no-any-return]
        function
    )


def vector_kernel(function: Function) -> Function:
    """Compile a kernel that may assume finite numbers and fuse multiplications with additions."""
    return kernel(function, fastmath={"nnan", "ninf", "nsz", "contract"})


def reduction_kernel(function: Function) -> Function:
    """Compile a vector kernel whose sums may be taken in any order, the same for the same processor."""
    return kernel(function, fastmath={"nnan", "ninf", "nsz", "contract", "reassoc"})


def summing_kernel(function: Function) -> Function:
    """Compile a kernel whose sums may be taken in any order, the same for the same processor; it may see infinities."""
    return kernel(function, fastmath={"nsz", "contract", "reassoc"})

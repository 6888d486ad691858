"""Compiled kernels and the folder that keeps them: shared by threads and processes, missing, damaged or read-only.

The kernels that compile fastest stand for all; the marker `slow` has the same with all kernels.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import bisimetric as bm
from bisimetric import kernels
from bisimetric.kernels._compile import PURPOSES
from tests.processes import COMMON, LARGE, NOWHERE, needs_fork, needs_limits, run

pytestmark = pytest.mark.slow  # processes of their own

ANOTHER_KERNEL = """
from bisimetric import kernels
kernels.evaluation.step_direction(0, 3, np.ones(3), np.ones(3), np.ones(3), 0.5, 0.5)
"""


@pytest.fixture(scope="session")
def filled(tmp_path_factory):
    """A cache folder with two kernels."""
    folder = tmp_path_factory.mktemp("kernels")
    run("step()" + ANOTHER_KERNEL, BISIMETRIC_CACHE_DIR=str(folder))
    return folder


@pytest.fixture
def cache(filled, tmp_path):
    """A copy of it that a test may spoil."""
    return Path(shutil.copytree(filled, tmp_path / "cache"))


def files_of(cache: Path, kernel: str = "") -> list[Path]:
    """The files of the kernels whose name begins like this."""
    return sorted(path for path in cache.rglob(f"{kernel}*") if path.is_file())


# ------------------------------------------------------------------ several threads, several processes

FIRST_SOLVES = """
jobs = [(5, 1), (30, 2), (60, 3), (LARGE, 4), (LARGE, 5)]
found = {}
together = threading.Barrier(len(jobs))

def solve(job):
    together.wait()
    found[job] = answer(*job)

threads = [threading.Thread(target=solve, args=(job,)) for job in jobs]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert found == {job: answer(*job) for job in jobs}
""".replace("LARGE", str(LARGE))


@pytest.mark.slow
def test_first_solves_from_several_threads(tmp_path):
    """Five threads that all need compiled kernels get the bits of five serial solves; each purpose is said once."""
    said = run(FIRST_SOLVES, BISIMETRIC_CACHE_DIR=str(tmp_path), timeout=300).splitlines()
    assert len(said) == len(set(said))
    assert {announced(PURPOSES[file]) for file in ("krylov", "transport.sweep", "check")} <= set(said)


def announced(purpose: str, again: str = "once") -> str:
    """The line that says what is compiled."""
    return f"bisimetric: compiling kernels for {purpose} ({again})"


def test_every_file_of_kernels_has_a_purpose():
    """And no purpose is left over."""
    folder = Path(kernels.__file__).parent
    files = {
        ".".join(path.relative_to(folder).with_suffix("").parts)
        for path in folder.rglob("*.py")
        if re.search(r"^@\w*kernel$|^\w+ = kernel\(", path.read_text(), re.MULTILINE)
    }
    assert set(PURPOSES) == files


@needs_fork
def test_forks_while_a_kernel_is_compiled(tmp_path):
    """A fork waits for the compiler, whose lock the child could never get."""
    run(
        """
step()
started = threading.Event()
from bisimetric import kernels
from numba.core import event

class Started(event.Listener):
    def on_start(self, event):
        started.set()
    def on_end(self, event):
        pass

event.register("numba:compile", Started())
p = [np.ones(3) for _ in range(3)]
compiling = threading.Thread(target=lambda: kernels.evaluation.step_direction(0, 3, *p, 0.5, 0.5))
compiling.start()
assert started.wait(60)
child = os.fork()
if child == 0:
    r = [np.ones(3, np.float32) for _ in range(2)]
    kernels.evaluation.step_half(0, 3, *r, 0.25)  # another signature: the child must compile
    os._exit(0 if (r[0] == 0.75).all() else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
compiling.join()
""",
        BISIMETRIC_CACHE_DIR=str(tmp_path),
    )


@needs_fork
@pytest.mark.slow
@pytest.mark.parametrize("seconds", [5])
def test_forks_during_a_first_solve(tmp_path, seconds):
    """At any moment of the compilation of all kernels."""
    run(
        f"""
running = threading.Thread(target=answer, args=({LARGE},))
running.start()
time.sleep({seconds})
child = os.fork()
found = answer({LARGE})
if child == 0:
    os._exit(0 if len(found) == 64 else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
running.join()
""",
        BISIMETRIC_CACHE_DIR=str(tmp_path),
        timeout=300,
    )


@pytest.mark.parametrize(
    ("job", "kernels"), [("step()", 1), pytest.param("answer(LARGE)", 4, marks=pytest.mark.slow)], ids=["step", "solve"]
)
@pytest.mark.slow
def test_two_processes_fill_one_cache(tmp_path, job, kernels):
    """Both get along, and a third one finds everything compiled."""
    job = job.replace("LARGE", str(LARGE))
    environment = {**os.environ, "BISIMETRIC_THREADS": "2", "BISIMETRIC_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", COMMON + job]
    both = [subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        said = [process.communicate(timeout=180)[1] for process in both]
    finally:
        for process in both:
            process.kill()
    assert [process.returncode for process in both] == [0, 0], said
    assert len(files_of(tmp_path)) >= kernels
    assert not list(tmp_path.rglob("*.tmp"))
    assert run(job, BISIMETRIC_CACHE_DIR=str(tmp_path)) == ""


# ------------------------------------------------------------------ a cache that can't be used

NOT_KEPT = "no cache folder is writable, so in every process"


@pytest.mark.parametrize(
    ("environment", "job"),
    [
        ({"BISIMETRIC_CACHE_DIR": NOWHERE}, "step()"),
        pytest.param({"BISIMETRIC_CACHE_DIR": NOWHERE}, "answer(40)", marks=pytest.mark.slow),
        pytest.param({"NUMBA_CACHE_DIR": NOWHERE}, "step()", marks=pytest.mark.slow),
        pytest.param({"XDG_CACHE_HOME": NOWHERE}, "step()", marks=pytest.mark.slow),
        ({"XDG_CACHE_HOME": None, "HOME": NOWHERE}, "step()"),
    ],
    ids=["ours", "ours, all kernels", "numba", "xdg", "home"],
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="folders as Linux has them")
def test_no_writable_cache(environment, job):
    """Kernels are compiled in every process, which is said."""
    silent = {"BISIMETRIC_CACHE_DIR": None, "NUMBA_CACHE_DIR": None}
    said = run(job, **{**silent, **environment}).splitlines()
    assert said
    assert all(line.endswith(f"({NOT_KEPT})") for line in said)


def someone_else(number: int) -> tuple[str, ...]:
    """The start of a command that runs as another user, who can use this Python too; skips where there is none."""
    prefix = ("setpriv", f"--reuid={number}", f"--regid={number}", "--clear-groups")
    if not hasattr(os, "geteuid") or os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become anybody, with setpriv")
    if subprocess.run([*prefix, sys.executable, "-c", "import numba"], capture_output=True).returncode != 0:
        pytest.skip("this Python is closed to other users")
    return prefix


def test_a_user_without_a_home():
    """A number without a name and without $HOME, as containers have them."""
    nobody = someone_else(54321)
    said = run("step()", prefix=nobody, BISIMETRIC_CACHE_DIR=None, NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=None, HOME=None)
    assert said.splitlines() == [announced(PURPOSES["evaluation"], NOT_KEPT)]


@pytest.mark.parametrize("replacement", [pytest.param("nothing", marks=pytest.mark.slow), "a file"])
def test_a_cache_that_vanishes(tmp_path, replacement):
    """The folder is there when kernels are loaded and gone when the first one is compiled."""
    folder = tmp_path / "cache"
    run(
        f"""
import shutil
from bisimetric import kernels
kernels.evaluation
shutil.rmtree({str(folder)!r})
if {replacement == "a file"}:
    open({str(folder)!r}, "w").close()
step()
""",
        BISIMETRIC_CACHE_DIR=str(folder),
    )
    assert len(files_of(folder)) == (0 if replacement == "a file" else 1)


@needs_limits
@pytest.mark.parametrize("job", ["step()", pytest.param("answer(40)", marks=pytest.mark.slow)])
def test_a_disk_that_fills_up(tmp_path, job):
    """What can't be written is not kept, and nothing half-written stays."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
    run(limit + job, BISIMETRIC_CACHE_DIR=str(tmp_path))
    assert files_of(tmp_path) == []


DAMAGE = {
    "cut": lambda data: data[: len(data) // 2],
    "flipped": lambda data: data[: len(data) // 2] + bytes([data[len(data) // 2] ^ 1]) + data[len(data) // 2 + 1 :],
}


@pytest.mark.parametrize("damage", [pytest.param("cut", marks=pytest.mark.slow), "flipped"])
def test_a_damaged_file_is_compiled_again(cache, damage):
    """And written again, so that the next process has it."""
    (file,) = files_of(cache, "evaluation.step_half")
    file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert "compiling" in run("step()", BISIMETRIC_CACHE_DIR=str(cache))
    assert run("step()", BISIMETRIC_CACHE_DIR=str(cache)) == ""


def test_a_file_in_the_place_of_another(cache):
    """The code of one kernel is not run under the name of another."""
    (file,) = files_of(cache, "evaluation.step_half")
    (other,) = files_of(cache, "evaluation.step_direction")
    shutil.copy(other, file)
    assert "compiling" in run("step()", BISIMETRIC_CACHE_DIR=str(cache))


@pytest.mark.slow
def test_a_damaged_cache(tmp_path):
    """All files at once."""
    solve = f"answer({LARGE})"
    run(solve, BISIMETRIC_CACHE_DIR=str(tmp_path))
    for file in files_of(tmp_path):
        file.write_bytes(DAMAGE["flipped"](file.read_bytes()))
    assert "compiling" in run(solve, BISIMETRIC_CACHE_DIR=str(tmp_path))
    assert run(solve, BISIMETRIC_CACHE_DIR=str(tmp_path)) == ""


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="permissions as Unix has them")
def test_a_read_only_install(cache):
    """Package and filled cache belong to somebody else and can't be written: kernels are read, nothing is compiled."""
    prefix = someone_else(65534) if os.geteuid() == 0 else ()  # permissions do not bind root
    with tempfile.TemporaryDirectory() as name:  # pytest's own folders are closed to others
        root = Path(name)
        shutil.copytree(Path(bm.__file__).parent, root / "bisimetric", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(cache, root / "cache")
        for path in (root, *root.rglob("*")):
            path.chmod(path.stat().st_mode & ~0o222 | (0o555 if path.is_dir() else 0o444))
        try:
            said = run(
                f"""
assert bm.__file__.startswith({name!r})
assert not os.access({name!r}, os.W_OK)
step()
""",
                prefix=prefix,
                PYTHONPATH=name,
                BISIMETRIC_CACHE_DIR=str(root / "cache"),
                HOME=NOWHERE,
            )
        finally:
            for path in (root, *root.rglob("*")):
                path.chmod(path.stat().st_mode | stat.S_IWUSR)
    assert said == ""

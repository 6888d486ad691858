"""Threads, forks, spawned workers, caches that can't be trusted and too little memory: a right answer or a clear error.

What could abort or hang runs in a process of its own, with a time-out. Kernels are compiled once, by the first test
that needs them; tests of the cache use the kernels that compile fastest.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support import blocks, cgroups, memory, threads
from bisimetric.errors import InvalidOption, NotEnoughMemory

COMMON = """
import hashlib, os, sys, threading, time
import numpy as np
import bisimetric as bm

def problem(n, seed=0):
    random = np.random.default_rng(seed)
    chains = [bm.environments.random_sparse_chain(n, 4, seed=seed + k) for k in range(2)]
    return bm.Problem(*chains, discount=0.8, cost=random.random((n, n)))

def answer(n, seed=0):
    solution = bm.solve(problem(n, seed), tol=1e-6)
    return hashlib.sha256(b"".join(x.tobytes() for x in (solution.lower, solution.value, solution.upper))).hexdigest()

def step():
    from bisimetric import kernels
    r = np.ones(3)
    kernels.evaluation.step_half(0, 3, r, r.copy(), 0.25)
    assert (r == 0.75).all()
"""
LARGE = 230  # states: 52,900 pairs, enough for every kernel to be called from several threads
NOWHERE = os.path.join(os.devnull, "x")  # nobody can make a folder there, not even root
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
needs_limits = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits as Linux has them")


def run(code: str, *, timeout: float = 120, prefix: tuple[str, ...] = (), **environment: str | None) -> str:
    """What a script says on stderr; it must end in time and without an error."""
    variables: dict[str, str | None] = {**os.environ, "BISIMETRIC_THREADS": "2", **environment}
    done = subprocess.run(
        [*prefix, sys.executable, "-B", "-c", COMMON + code],
        env={name: value for name, value in variables.items() if value is not None},
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert done.returncode == 0, f"ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stderr


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


@pytest.fixture(scope="session")
def compiled(tmp_path_factory):
    """A cache folder, filled by several threads at once, and what they said on stderr."""
    folder = tmp_path_factory.mktemp("compiled")
    return folder, run(FIRST_SOLVES, BISIMETRIC_CACHE_DIR=str(folder))


@pytest.fixture
def cache(compiled, tmp_path):
    """A filled cache folder of one's own."""
    return Path(shutil.copytree(compiled[0], tmp_path / "cache"))


def files_of(cache: Path, kernel: str = "") -> list[Path]:
    """The files of the kernels whose name begins like this."""
    return sorted(path for path in cache.rglob(f"{kernel}*") if path.is_file())


# ------------------------------------------------------------------ threads


def test_first_solves_from_several_threads(compiled):
    """Five threads that all need compiled kernels get the bits of five serial solves; compiling is announced once."""
    assert compiled[1].splitlines() == ["bisimetric: compiling kernels, about 10 seconds (once for each kind of solve)"]


def test_no_trace_of_the_number_of_threads(monkeypatch):
    """1, 2 and 5 threads give the same bits in every array."""
    chains = [bm.environments.random_sparse_chain(LARGE, 4, seed=k) for k in range(2)]
    problem = bm.Problem(*chains, discount=0.8, cost=np.random.default_rng(0).random((LARGE, LARGE)))
    found = set()
    for count in ("1", "2", "5"):
        monkeypatch.setenv("BISIMETRIC_THREADS", count)
        solution = bm.solve(problem, tol=1e-6)
        law = solution.coupling[1, 2].toarray()
        found.add(b"".join(array.tobytes() for array in (solution.lower, solution.value, solution.upper, law)))
    assert len(found) == 1


@pytest.mark.parametrize("wish", ["0", "abc", "-1"])
def test_a_wrong_number_of_threads_is_said(monkeypatch, wish):
    """Not a crash deep inside, and not a guess."""
    monkeypatch.setenv("BISIMETRIC_THREADS", wish)
    with pytest.raises(InvalidOption, match=f"BISIMETRIC_THREADS is '{wish}', expected a positive whole number"):
        bm.distance("grid-3x3", "grid-3x3", discount=0.9, cost=1 - np.eye(9))


def test_no_threads_to_be_had(monkeypatch):
    """Where the system refuses new threads the caller does all the work, once."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "3")
    blocks._helpers.cache_clear()

    def refused(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threads, "start_new_thread", refused)
    done = np.zeros(1000, int)

    def work(first, last):
        done[first:last] += 1

    blocks.for_each_block(work, 1000, largest=10)
    blocks.for_even_split(work, 1000, cost=10**6)
    blocks.for_even_split(work, 1000, cost=10**6)
    monkeypatch.undo()
    blocks._helpers.cache_clear()
    assert (done == 3).all()


# ------------------------------------------------------------------ forks


@needs_fork
def test_forks_after_a_solve(cache):
    """Children of a process that solved with threads solve too, and so does the parent afterwards."""
    run(
        f"""
import multiprocessing
before = answer({LARGE})
child = os.fork()
if child == 0:
    os._exit(0 if answer({LARGE}) == before else 1)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(answer, [{LARGE}] * 3, chunksize=1) == [before] * 3
assert answer({LARGE}) == before
""",
        BISIMETRIC_CACHE_DIR=str(cache),
    )


FORKS_DURING_A_SOLVE = """
before = answer(SIZE)
running = threading.Thread(target=lambda: [answer(SIZE, k) for k in range(3)])
running.start()
children = []
while running.is_alive():
    children.append(os.fork())
    if children[-1] == 0:
        os._exit(0 if answer(SIZE) == before else 1)
    time.sleep(0.3)
assert children
assert all(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0 for child in children)
assert answer(SIZE) == before
"""


@needs_fork
def test_forks_during_a_solve(cache):
    """The threads and locks of a solve under way are the parent's; a child needs none of them."""
    run(FORKS_DURING_A_SOLVE.replace("SIZE", str(LARGE)), BISIMETRIC_CACHE_DIR=str(cache))


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


# ------------------------------------------------------------------ spawned processes


def test_spawned_workers(cache, tmp_path):
    """multiprocessing with spawn, and joblib, give the parent's bits."""
    script = tmp_path / "spawned.py"
    script.write_text(
        COMMON
        + f"""
if __name__ == "__main__":
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    from joblib import Parallel, delayed
    jobs = [(40, 1), ({LARGE}, 2)]
    alone = [answer(*job) for job in jobs]
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(answer, *zip(*jobs))) == alone
    assert Parallel(n_jobs=2)(delayed(answer)(*job) for job in jobs) == alone
"""
    )
    environment = {**os.environ, "BISIMETRIC_THREADS": "2", "BISIMETRIC_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("job", "kernels"), [("step()", 1), pytest.param("answer(LARGE)", 8, marks=pytest.mark.slow)], ids=["step", "solve"]
)
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


# ------------------------------------------------------------------ the cache

UNCACHED = "bisimetric: compiling kernels, about 10 seconds (no cache folder is writable, so in every process)"


@pytest.mark.parametrize(
    ("environment", "job"),
    [
        ({"BISIMETRIC_CACHE_DIR": NOWHERE}, "step()"),
        pytest.param({"BISIMETRIC_CACHE_DIR": NOWHERE}, "answer(40)", marks=pytest.mark.slow),
        ({"NUMBA_CACHE_DIR": NOWHERE}, "step()"),
        ({"XDG_CACHE_HOME": NOWHERE}, "step()"),
        ({"XDG_CACHE_HOME": None, "HOME": NOWHERE}, "step()"),
    ],
    ids=["ours", "ours, all kernels", "numba", "xdg", "home"],
)
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="folders as Linux has them")
def test_no_writable_cache(environment, job):
    """Kernels are compiled in every process, which is said."""
    silent = {"BISIMETRIC_CACHE_DIR": None, "NUMBA_CACHE_DIR": None}
    assert run(job, **{**silent, **environment}).splitlines() == [UNCACHED]


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
    assert said.splitlines() == [UNCACHED]


@pytest.mark.parametrize("replacement", ["nothing", "a file"])
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
    "empty": lambda data: b"",
    "garbage": lambda data: b"garbage" * 100,
    "cut": lambda data: data[: len(data) // 2],
    "zeros": lambda data: data[:2000] + bytes(len(data) - 2000),
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
@pytest.mark.parametrize("damage", ["flipped"])
def test_a_damaged_cache(cache, damage):
    """All files at once."""
    for file in files_of(cache):
        file.write_bytes(DAMAGE[damage](file.read_bytes()))
    assert "compiling" in run(f"answer({LARGE})", BISIMETRIC_CACHE_DIR=str(cache))
    assert run(f"answer({LARGE})", BISIMETRIC_CACHE_DIR=str(cache)) == ""


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
assert len(answer({LARGE})) == 64
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


# ------------------------------------------------------------------ the end of a process


@pytest.mark.parametrize(
    "code",
    [
        f"answer({LARGE})",
        f"""
answer({LARGE})
def late():
    time.sleep(0.3)
    assert answer({LARGE}) == answer({LARGE})
    print("done", flush=True)
threading.Thread(target=late).start()
""",
        f"threading.Thread(target=lambda: [answer({LARGE}) for _ in range(99)], daemon=True).start(); time.sleep(1.5)",
        f"import atexit; answer(40); atexit.register(answer, {LARGE})",
    ],
    ids=["at-once", "solving-in-a-thread", "solving-in-a-daemon", "solving-at-exit"],
)
def test_the_interpreter_exits(cache, code):
    """No thread of ours keeps it, and a solve that outlives the main thread is finished without helpers."""
    assert run(code, timeout=60, BISIMETRIC_CACHE_DIR=str(cache)) == ""


# ------------------------------------------------------------------ memory

GROWTH = """
import re
from bisimetric._support import memory

def peak(field):
    return int(re.search(field + r":\\s+(\\d+)", open("/proc/self/status").read())[1]) * 1024

def dense(n):
    random = np.random.default_rng(0)
    chains = [bm.MarkovChain(random.dirichlet(np.full(n, 0.1), n)) for _ in range(2)]
    return bm.Problem(*chains, discount=0.9, cost=random.random((n, n)))

kind, n = KIND
make = problem if kind == "sparse" else dense
bm.solve(make(20))
large = make(n)
asked = []
memory.require = lambda needed, what, remedy: asked.append(needed)
before = peak("VmRSS")
bm.solve(large, max_steps=2)
grown = peak("VmHWM") - before
print(kind, n, asked, grown, file=sys.stderr)
"""
CHECKER_BLOCK = 16 * 2**20  # what a checker's block takes beside the estimate


@needs_limits
@pytest.mark.parametrize(
    ("kind", "threads"),
    [
        (("sparse", 400), 2),
        (("dense", 60), 1),
        *[pytest.param(("sparse", 1000), threads, marks=pytest.mark.slow) for threads in (1, 2)],
        *[pytest.param(("dense", 120), threads, marks=pytest.mark.slow) for threads in (1, 2)],
    ],
    ids=str,
)
def test_the_estimate_and_the_memory_taken(cache, kind, threads):
    """What a solve asks for is between 0.8 and 2 times what the process grows by."""
    said = run(GROWTH.replace("KIND", repr(kind)), BISIMETRIC_CACHE_DIR=str(cache), BISIMETRIC_THREADS=str(threads))
    words = said.split()
    asked, grown = int(words[-2].strip("[]")), int(words[-1])
    assert asked < 2 * grown
    assert 0.8 * (grown - threads * CHECKER_BLOCK) < asked


@needs_limits
def test_a_limited_address_space(cache):
    """Too little is an error with the numbers before the compiler could abort; a little more is enough."""
    run(
        """
import resource
small, large, solve = problem(40), problem(2500), bm.solve  # loaded before the limit
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()

def limit(more):
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))

for more in (30, 200, 400, 600):
    limit(more * 10**6)
    try:
        bm.solve(small)
        sys.exit(1)
    except bm.errors.NotEnoughMemory as error:
        assert "of address space" in str(error) and "ulimit -v" in str(error), error
limit(700 * 10**6)
assert bm.solve(small).status is bm.Status.SOLVED
try:
    bm.solve(large)
    sys.exit(2)
except bm.errors.NotEnoughMemory as error:
    assert "2500 x 2500" in str(error), error
assert bm.solve(small).status is bm.Status.SOLVED
""",
        BISIMETRIC_CACHE_DIR=str(cache),
    )


def test_no_limit_of_the_address_space(monkeypatch, tmp_path):
    """Unlimited, unknown use, or a system without limits: nothing is refused."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert memory.address_space() is None
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (10**6, 10**6))
    assert memory.address_space() in (0, None)
    monkeypatch.setattr(cgroups, "PROC", tmp_path)
    assert memory.address_space() is None
    monkeypatch.setitem(sys.modules, "resource", None)
    assert memory.address_space() is None
    memory.require(10, "ten bytes", "none")


def test_the_address_space_counts_the_compiler(monkeypatch):
    """Before kernels are loaded, room is kept for that."""
    bm.solve(bm.Problem(bm.MarkovChain([[1.0]]), bm.MarkovChain([[1.0]]), discount=0.5, cost=[[1.0]]))
    monkeypatch.setattr(memory, "address_space", lambda: 10**6)
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    memory.require(10**6, "a megabyte", "none")
    with pytest.raises(NotEnoughMemory, match=r"needs about 1 MB of address space.* 1 MB more; raise its limit"):
        memory.require(10**6 + 1, "this", "none")
    monkeypatch.delitem(sys.modules, "bisimetric.kernels.check")
    with pytest.raises(NotEnoughMemory, match="needs about 629 MB of address space"):
        memory.require(10, "this", "none")


def groups(root: Path, own: str, files: dict[str, str]) -> None:
    """A made-up /proc and /sys/fs/cgroup below a folder."""
    for name, text in {"proc/self/cgroup": own, "proc/meminfo": "MemAvailable: 9 kB\n", **files}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("own", "files", "left"),
    [
        ("0::/\n", {"cgroup/memory.max": "1000\n", "cgroup/memory.current": "300\n"}, 700),
        ("0::/\n", {"cgroup/memory.max": "max\n", "cgroup/memory.current": "300\n"}, 9 * 1024),
        ("0::/\n", {}, 9 * 1024),
        (
            "0::/batch/job\n",
            {
                "cgroup/batch/memory.max": "2000\n",
                "cgroup/batch/memory.current": "1500\n",
                "cgroup/batch/job/memory.max": "900\n",
                "cgroup/batch/job/memory.current": "300\n",
            },
            500,
        ),
        (
            "0::/\n",
            {
                "cgroup/memory.max": "1000\n",
                "cgroup/memory.current": "950\n",
                "cgroup/memory.stat": "anon 350\nfile 600\ninactive_file 400\nactive_file 100\n",
            },
            550,
        ),
        (
            "4:memory:/docker/abc\n0::/\n",  # seen from inside, the group's own path does not exist
            {"cgroup/memory/memory.limit_in_bytes": "800\n", "cgroup/memory/memory.usage_in_bytes": "300\n"},
            500,
        ),
        (
            "5:cpu,memory:/job\n",
            {
                "cgroup/memory/job/memory.limit_in_bytes": "800\n",
                "cgroup/memory/job/memory.usage_in_bytes": "600\n",
                "cgroup/memory/job/memory.stat": "inactive_file 1\ntotal_inactive_file 40\ntotal_active_file 60\n",
                "cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
                "cgroup/memory/memory.usage_in_bytes": "600\n",
            },
            300,
        ),
        ("0::/\n", {"cgroup/memory.max": "1000\n", "cgroup/memory.current": "1300\n"}, 0),
        ("0::/\n", {"cgroup/memory.max": "1000\n", "cgroup/memory.current": "nonsense\n"}, 9 * 1024),
    ],
    ids=["v2", "no-limit", "no-files", "around", "cached-files", "v1-container", "v1-job", "over", "nonsense"],
)
def test_control_groups(monkeypatch, tmp_path, own, files, left):
    """The tightest of all groups around this process counts; files in memory make room."""
    groups(tmp_path, own, files)
    monkeypatch.setattr(cgroups, "PROC", tmp_path / "proc")
    monkeypatch.setattr(cgroups, "CGROUP", tmp_path / "cgroup")
    assert memory.available_bytes() == left


def test_a_small_container(monkeypatch, tmp_path):
    """A solve that does not fit is refused with both numbers."""
    groups(tmp_path, "0::/\n", {"cgroup/memory.max": "2000000\n", "cgroup/memory.current": "1500000\n"})
    monkeypatch.setattr(cgroups, "CGROUP", tmp_path / "cgroup")
    chains = [bm.environments.random_sparse_chain(100, 4, seed=k) for k in range(2)]
    with pytest.raises(NotEnoughMemory, match=r"solving 100 x 100 state pairs needs about .* MB, available are 500 kB"):
        bm.solve(bm.Problem(*chains, discount=0.9, cost=np.ones((100, 100))), quotient=False)

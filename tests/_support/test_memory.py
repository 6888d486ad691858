"""Memory is estimated before it is allocated."""

from __future__ import annotations

import sys
import tracemalloc

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support import memory
from bisimetric.couplings.witness import CELLS_AT_ONCE
from bisimetric.errors import NotEnoughMemory
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import new_trees
from tests.processes import needs_limits, run

N = 150


@pytest.fixture
def problem():
    """22,500 pairs with at most ten cells each: some megabytes."""
    random = np.random.default_rng(0)
    chains = []
    for _ in range(2):
        matrix = np.zeros((N, N))
        for row in matrix:
            row[random.choice(N, 5, replace=False)] = random.dirichlet(np.ones(5))
        chains.append(bm.MarkovChain(matrix))
    return bm.Problem(*chains, discount=0.9, cost=random.random((N, N)))


def peak_of(call):
    """Bytes that Python and numpy allocated at the most during the call."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_too_little_memory_is_an_error_before_it_is_used(free_memory, problem):
    """The message has the bytes needed, those available, and the remedy; nothing large was allocated."""
    solution = bm.solve(problem)
    free_memory(1000)

    def refused(message, call):
        with pytest.raises(NotEnoughMemory, match=message):
            call()

    solving = "merge bisimilar states"
    trees = peak_of(lambda: refused(solving, lambda: bm.solve(problem)))
    matrix = peak_of(lambda: refused("look at single pairs", solution.coupling.matrix))
    certifying = peak_of(lambda: refused(solving, lambda: bm.certify(problem, problem.cost)))
    assert max(trees, matrix, certifying) < 48 * N * N  # a few arrays over the pairs, no trees
    assert issubclass(NotEnoughMemory, MemoryError)


def test_the_estimate_is_honest(monkeypatch, problem):
    """A solve stays below what it asked for and the checker's block, and needs at least half of it."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "1")
    bm.solve(problem)  # compiled
    asked = []
    monkeypatch.setattr(memory, "NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "require", lambda needed, what, remedy: asked.append(needed))
    peak = peak_of(lambda: bm.solve(problem))
    assert len(asked) == 1
    assert 0.5 * asked[0] < peak < asked[0] + 32 * min(CELLS_AT_ONCE, 10 * N * N)


def test_unknown_memory_is_not_refused(free_memory, problem):
    """Where the system tells nothing, the solve goes on."""
    free_memory(None)
    assert new_trees(Bellman.of(problem)).offset.shape == (N,)


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 kB"), (2.5e9, "2.5 GB"), (7e15, "7e+03 TB")]
)
def test_bytes_for_people(size, text):
    """Three digits and a unit."""
    assert memory.in_words(size) == text


def test_available_memory():
    """This machine tells something plausible."""
    free = memory.available_bytes()
    assert free is None or free > 2**20


# ------------------------------------------------------------------ what a process takes

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
def rooms(side):
    chains = (bm.environments.four_rooms(side=side, goal=goal) for goal in ("north-west", "north-east"))
    return bm.Problem(*chains, discount=0.9)

make = {"sparse": problem, "dense": dense, "rooms": rooms}[kind]
bm.solve(make(20))
large = make(n)
asked = []
memory.NEGLIGIBLE = 0
memory.require = lambda needed, what, remedy: asked.append(needed)
before = peak("VmRSS")
bm.solve(large, quotient=False, **({"tol": 1e-4} if kind == "rooms" else {"max_steps": 2}))
grown = peak("VmHWM") - before
print(kind, n, asked, grown, file=sys.stderr)
"""
CHECKER_BLOCK = 16 * 2**20  # what a checker's block takes beside the estimate


@needs_limits
@pytest.mark.usefixtures("compiled_kernels")
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
@pytest.mark.slow
def test_the_estimate_and_the_memory_taken(kind, threads):
    """What a solve asks for is between 0.8 and 2 times what the process grows by."""
    said = run(GROWTH.replace("KIND", repr(kind)), BISIMETRIC_THREADS=str(threads))
    words = said.split()
    asked, grown = int(words[-2].strip("[]")), int(words[-1])
    assert asked < 2 * grown
    assert 0.8 * (grown - threads * CHECKER_BLOCK) < asked


@needs_limits
@pytest.mark.usefixtures("compiled_kernels")
@pytest.mark.slow
def test_the_estimate_of_a_large_solve():
    """Within a tenth of what a process grows by: 4-rooms with a million pairs, whose trees are compact."""
    said = run(GROWTH.replace("KIND", repr(("rooms", 32))), BISIMETRIC_THREADS="1")
    words = said.split()
    asked, grown = int(words[-2].strip("[]")), int(words[-1])
    assert 0.9 * grown < asked < 1.1 * grown


@needs_limits
@pytest.mark.usefixtures("compiled_kernels")
def test_a_limited_address_space():
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
    )


def test_no_limit_of_the_address_space(monkeypatch):
    """Unlimited, unknown use, or a system without limits: nothing is refused."""
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert memory.address_space() is None
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (10**6, 10**6))
    assert memory.address_space() in (0, None)
    monkeypatch.setitem(sys.modules, "resource", None)
    assert memory.address_space() is None
    memory.require(10, "ten bytes", "none")


def test_the_address_space_counts(monkeypatch, free_memory):
    """For computations, and before kernels are loaded for the compiler."""
    monkeypatch.setattr(memory, "address_space", lambda: 10**6)
    free_memory(None)
    memory.require(10**6, "a megabyte", "none")
    with pytest.raises(NotEnoughMemory, match="raise its limit"):
        memory.require(10**6 + 1, "this", "none")
    with pytest.raises(NotEnoughMemory, match="needs about 629 MB of address space"):
        memory.require_space_for_kernels()
    memory.require(10, "next to nothing", "none")


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
def test_control_groups(system, own, files, left):
    """The tightest of all groups around this process counts; files in memory make room."""
    system({"proc/self/cgroup": own, "proc/meminfo": "MemAvailable: 9 kB\n", **files})
    assert memory.available_bytes() == left


def test_a_small_container(system):
    """A solve that does not fit is refused with both numbers."""
    limits = {"cgroup/memory.max": "30000000\n", "cgroup/memory.current": "25000000\n"}
    system({"proc/self/cgroup": "0::/\n", "proc/meminfo": "MemAvailable: 9000000 kB\n", **limits})
    chains = [bm.environments.random_sparse_chain(400, 4, seed=k) for k in range(2)]
    with pytest.raises(NotEnoughMemory, match="available are 5 MB"):
        bm.solve(bm.Problem(*chains, discount=0.9, cost=np.ones((400, 400))), quotient=False)


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.float64])
def test_untouched_arrays(kind):
    """They are zeros, can be written, may be larger than all memory, and may be empty."""
    room = memory.untouched(2**40, kind)
    assert (room.size, room.dtype) == (2**40, kind)
    room[-1] = 7
    assert (room[0], room[-1]) == (0, 7)
    assert memory.untouched(0, kind).size == 0

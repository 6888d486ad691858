"""Memory is estimated before it is allocated."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import bisimetric as bm
from bisimetric._support import memory
from bisimetric.certificates.zeros import CELLS_AT_ONCE
from bisimetric.errors import NotEnoughMemory
from bisimetric.operators.bellman import Bellman

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


def test_too_little_memory_is_an_error_before_it_is_used(monkeypatch, problem):
    """The message has the bytes needed, those available, and the remedy; nothing large was allocated."""
    solution = bm.solve(problem)
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)

    def refused(message, call):
        with pytest.raises(NotEnoughMemory, match=message):
            call()

    solving = r"needs about [\d.]+ MB, available are 1 kB; merge bisimilar states"
    trees = peak_of(lambda: refused(solving, lambda: bm.solve(problem)))
    matrix = peak_of(lambda: refused("as a matrix .*; look at single pairs", solution.coupling.matrix))
    certifying = peak_of(lambda: refused(solving, lambda: bm.certify(problem, problem.cost)))
    assert max(trees, matrix, certifying) < 48 * N * N  # a few arrays over the pairs, no trees
    assert issubclass(NotEnoughMemory, MemoryError)


def test_the_estimate_is_honest(monkeypatch, problem):
    """A solve stays below what it asked for and the checker's block, and needs at least half of it."""
    monkeypatch.setenv("BISIMETRIC_THREADS", "1")
    bm.solve(problem)  # compiled
    asked = []
    monkeypatch.setattr(memory, "require", lambda needed, what, remedy: asked.append(needed))
    peak = peak_of(lambda: bm.solve(problem))
    assert len(asked) == 1
    assert 0.5 * asked[0] < peak < asked[0] + 32 * min(CELLS_AT_ONCE, 10 * N * N)


def test_unknown_memory_is_not_refused(monkeypatch, problem):
    """Where the system tells nothing, the solve goes on."""
    monkeypatch.setattr(memory, "available_bytes", lambda: None)
    assert Bellman.of(problem).new_trees().offset.shape == (N,)


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


def test_limits_of_a_container(tmp_path, monkeypatch):
    """The control group's limit counts, if there is one and it is a number."""
    monkeypatch.setattr(memory, "_CGROUP", tmp_path)
    assert memory._from_cgroup() is None
    (tmp_path / "memory.max").write_text("max\n")
    (tmp_path / "memory.current").write_text("300\n")
    assert memory._from_cgroup() is None
    (tmp_path / "memory.max").write_text("1000\n")
    assert memory._from_cgroup() == 700
    assert memory.available_bytes() == 700

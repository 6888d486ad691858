"""Numbering and grouping, scaling, Ctrl-C and memory of the refinement."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from bisimetric.errors import NotEnoughMemory
from bisimetric.models.partition import Moves, common_refinement, equal_numbers, first_states, refine, renumber
from tests.processes import run


def test_numbers_follow_first_states():
    """Whatever the groups were called."""
    groups = np.array([2, 0, 2, 1, 0])
    assert renumber(groups).tolist() == [0, 1, 0, 2, 1]
    assert first_states(groups).tolist() == [1, 3, 0]


def test_equal_numbers():
    """Equal to the last bit, whatever the sign of a zero."""
    assert equal_numbers(np.array([0.3, 0.1 + 0.2, 1.0, 0.3])).tolist() == [0, 1, 2, 0]
    assert equal_numbers(np.array([0.0, 5e-324, -0.0, 1e300])).tolist() == [0, 1, 0, 2]


def test_common_refinement():
    """Together only what both put together."""
    assert common_refinement(np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])).tolist() == [0, 1, 2, 2]


def path(n):
    """A path with an absorbing end, and its groups: every state is a class of its own."""
    groups = np.zeros(n, np.int64)
    groups[-1] = 1
    return Moves(np.arange(n + 1), np.minimum(np.arange(n) + 1, n - 1), np.ones(n)), groups


LONG_PATH = """
from bisimetric.models.partition import Moves, refine

n = 1_000_000
states = np.arange(n)
moves = Moves(np.arange(n + 1), np.minimum(states + 1, n - 1), np.ones(n))
assert (refine(moves, (states == n - 1).astype(np.int64), 0.0) == states).all()
"""


def test_a_long_path_takes_no_square():
    """A million states, each split off by the next: a method that looks at the rest every time would take an hour."""
    run(LONG_PATH)


def test_memory_is_estimated_first(free_memory):
    """Too many states are refused with the bytes they need."""
    free_memory(1_000_000)
    with pytest.raises(NotEnoughMemory, match="bisimilar states among 20000"):
        refine(*path(20_000), 0.0)


INTERRUPT = """
import os, signal, threading, time
import numpy as np
import bisimetric as bm
from bisimetric.models import partition

signal.signal(signal.SIGINT, signal.default_int_handler)
random = np.random.default_rng(0)
n = 600_000
rows = partition.Moves(np.arange(0, 5 * n + 1, 5), random.integers(0, n, 5 * n), np.full(5 * n, 0.2))
groups = random.integers(0, 3, n)
small = bm.MarkovChain([[1.0]], reward=[1])
bm.bisimilar_classes(small)  # kernels are loaded
sent, done = [], []

def interrupt():
    time.sleep(0.3)
    sent.append(len(done))
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt).start()
try:
    for _ in range(10):
        partition.refine(rows, groups, 1e-12)
        done.append(1)
    print("not interrupted")
except KeyboardInterrupt:
    print(len(done) - sent[0])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals as Unix has them")
def test_ctrl_c():
    """A real SIGINT in the middle of three million arcs takes effect before the refinement under way is over."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPT], capture_output=True, text=True, timeout=120, env=os.environ
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == 0

"""What the benchmark of sharded solves counts."""

from __future__ import annotations

import os
import subprocess
import sys

import bisimetric as bm
from benchmarks import sharded


def test_processes_of_this_one():
    """This process and its children, with CPU seconds; nobody else's."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        found = sharded._processes()
        child.communicate(b"\n")
    assert {os.getpid(), child.pid} <= set(found)
    assert os.getppid() not in found
    assert found[os.getpid()][1] > 0.0


def test_the_table_shows_what_was_measured():
    """The ratio of CPU times, and differences as they are."""
    row = {
        "pairs": 100, "cpu_here": 2.0, "cpu": 3.0, "cpu_workers": 2.0, "cpu_ray": 0.1, "sweeps": 4, "products": 9,
        "bytes_each_way": 10**6, "difference": 0.0, "difference_after_death": 0.5,
    }  # fmt: skip
    (table,) = sharded.tables([row])
    text = table.text()
    assert "1.5" in text
    assert "0.5" in text


def test_differences_are_those_of_intervals():
    """The larger of the two ends."""
    chains = [bm.MarkovChain([[1.0]], reward=[reward]) for reward in (0, 1, 3)]
    one, other = (bm.solve(bm.Problem(chains[0], chain, discount=0.5)) for chain in chains[1:])
    assert abs(sharded._difference(one, other) - 4.0) < 1e-6
    assert sharded._difference(one, one) == 0.0

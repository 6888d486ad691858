"""After a warm-up nothing is compiled."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import bisimetric as bm
from bisimetric.errors import InvalidOption
from bisimetric.many import warm_up as warm_up_module

LATER = """
import numpy as np
import bisimetric as bm
from numba.core import event

compiled = []

class Listener(event.Listener):
    def on_start(self, happening):
        module = happening.data["dispatcher"].py_func.__module__
        if module.startswith("bisimetric."):
            compiled.append(happening.data["dispatcher"].py_func.__qualname__)
    def on_end(self, happening):
        pass

event.register("numba:compile", Listener())
random = np.random.default_rng(0)
dense = [bm.MarkovChain(random.dirichlet(np.ones(30), 30), reward=random.random(30), start=0) for _ in range(2)]
bm.distance(*dense, discount=0.95).explain()
long = [bm.MarkovChain(random.dirichlet(np.ones(n), n), reward=random.random(n), start=0) for n in (130, 140)]
bm.distance(*long, discount=0.5, tol=0.1).explain()
bm.distance("four-rooms:p1", "four-rooms:p0", discount=0.99).coupling.occupancy()
for width in (2, 12, 30):
    rows = np.zeros((2, 30, 30))
    for row in rows.reshape(60, 30):
        row[random.permutation(30)[:width]] = random.dirichlet(np.ones(width))
    chains = [bm.MarkovChain(P, reward=random.random(30), labels=np.arange(30) % 3, start=0) for P in rows]
    bm.bisimilarity_distance(*chains, discount=1).explain()
    if width == 2:  # the program of wide rows takes minutes, and no kernel of its own
        bm.distance(*chains, discount=0.9, solver="linear-program")
    for solver in (bm.SinkhornValueIteration.as_in_paper(rounds=5), bm.SinkhornBellman(), bm.EntropicPolicyIteration()):
        bm.solve(bm.Problem(*chains, discount=0.9), solver, max_steps=5, throw=False).explain()
bm.distance(*dense, discount=0.9, solver=bm.SinkhornValueIteration(rounds=10))
bm.bisimulation_metric("four-rooms:p1", discount=0.9)
bm.pairwise(["four-rooms:p0", "four-rooms:p1"], discount=0.9)
bm.aggregate("four-rooms:p1", n_states=4, discount=0.9)
bm.distance(*dense, discount=0.9).gradient()
rooms = [bm.environments.four_rooms(side=10, goal=goal) for goal in ("north-west", "north-east")]
bm.distance(*rooms, discount=0.9).gradient()
mdp = bm.as_mdp("gym:FrozenLake-v1")
bm.bisimulation_metric(mdp, mdp.with_start(1), discount=0.9).gradient()
bm.average_distance("four-rooms:p1", "four-rooms:p0").gradient()
bm.average_distance(*dense).gradient()
bm.solve(bm.HorizonProblem(*rooms, horizon=3)).gradient()
bm.reduce(bm.environments.four_rooms(side=3), 3, discount=0.9, descents=1, steps=3)
assert not compiled, compiled
"""


def test_tasks_are_told(monkeypatch):
    """One after the other, with the seconds of each; the sum is returned."""
    ran, told = [], []
    monkeypatch.setattr(warm_up_module, "TASKS", {"one": lambda: ran.append(1), "two": lambda: ran.append(2)})
    assert bm.warm_up(lambda name, seconds: told.append((name, seconds))) == 0.0
    assert ran == [1, 2]
    assert told == [("one", 0.0), ("two", 0.0)]
    with pytest.raises(InvalidOption):
        bm.warm_up("loudly")


@pytest.mark.slow
def test_nothing_is_compiled_afterwards(tmp_path):
    """The command fills an empty cache; another process then takes everything from there."""
    environment = {**os.environ, "BISIMETRIC_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "bisimetric", "warm-up", "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert '"seconds"' in done.stdout
    subprocess.run([sys.executable, "-c", LATER], env=environment, check=True)

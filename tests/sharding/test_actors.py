"""Shards on a real Ray of this machine: the same bits, also where a worker is killed."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest

import bisimetric as bm
from bisimetric.errors import ClusterUnavailable, InvalidOption, NotEnoughMemory, SolverFailed
from bisimetric.operators import evaluation
from bisimetric.operators.bellman import Bellman
from bisimetric.sharding import actors, operator
from bisimetric.sharding.actors import RayShards
from tests.extras import package
from tests.sharding.here import dense, rooms, same_bits, self_distance, stopping

ray = package("ray")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore"),  # of Ray's own
]


@pytest.fixture(scope="module", autouse=True)
def connection():
    """A Ray of this machine for all tests here; solves use the connection that they find."""
    ray.init("local", num_cpus=3, include_dashboard=False, log_to_driver=False, logging_level=40)
    yield
    ray.shutdown()


@pytest.fixture
def travelling(monkeypatch):
    """Evaluations as of large problems: vectors travel, and there is a preconditioner."""
    for module in (evaluation, operator):
        monkeypatch.setattr(module, "ONE_CALL", 0)
    monkeypatch.setattr(evaluation, "SLOW_MODES_FROM", 1)
    monkeypatch.setattr(evaluation, "WORTH_MODES", 1)


def struck(monkeypatch, when, times=1):
    """From now on, kill the first worker before it is asked for this again; or for flows at all. Returns whom."""
    killed, seen, ask = [], [], RayShards.ask

    def ask_and_kill(self, method, *args, only=None):
        seen.append(method)
        if method == when and seen.count(when) > (when != "flows") and len(killed) < times:
            killed.append(self.processes()[0])
            os.kill(killed[-1], signal.SIGKILL)
        return ask(self, method, *args, only=only)

    monkeypatch.setattr(RayShards, "ask", ask_and_kill)
    return killed


def workers():
    """How many workers are alive or about to be."""
    return sum(row["State"] != "DEAD" for row in ray._private.state.actors().values())


@pytest.mark.parametrize("make", [lambda: rooms(7), dense, self_distance, lambda: stopping(0.4)])
def test_the_same_bits_as_on_one_machine(make):
    """And no worker is left."""
    problem = make()
    assert same_bits(bm.solve(problem, bm.ShardedPolicyIteration(workers=2)), bm.solve(problem))
    until = time.monotonic() + 30
    while workers() and time.monotonic() < until:
        time.sleep(0.1)
    assert workers() == 0


def test_threads_and_vectors_that_travel(travelling):
    """Two workers and one with two threads do the same."""
    problem = rooms(9, discount=0.99)
    alone = bm.solve(problem)
    for options in ({"workers": 2}, {"workers": 1, "threads": 2}):
        assert same_bits(bm.solve(problem, bm.ShardedPolicyIteration(**options)), alone)


@pytest.mark.parametrize("when", ["sweep", "product", "flows"])
def test_a_worker_is_killed(when, travelling, monkeypatch):
    """A new one sweeps again what the old one had swept: the same bits."""
    problem = rooms(9)
    alone = bm.solve(problem)
    killed = struck(monkeypatch, when)
    found = bm.solve(problem, bm.ShardedPolicyIteration(workers=2))
    assert killed
    assert same_bits(found, alone)


def test_a_worker_is_killed_while_it_works(monkeypatch):
    """Not between two questions but in the middle of a sweep."""
    problem = rooms(16)
    alone = bm.solve(problem)
    killed, call = [], RayShards._call

    def call_and_kill(self, k, method, args):
        asked = call(self, k, method, args)
        if method == "sweep" and k == 1 and len(self._sweeps) == 2 and not killed:
            killed.append(pids[k])
            time.sleep(0.01)
            os.kill(pids[k], signal.SIGKILL)
        return asked

    opened = RayShards.__init__
    pids = []

    def open_and_look(self, *args):
        opened(self, *args)
        pids.extend(self.processes())

    monkeypatch.setattr(RayShards, "__init__", open_and_look)
    monkeypatch.setattr(RayShards, "_call", call_and_kill)
    assert same_bits(bm.solve(problem, bm.ShardedPolicyIteration(workers=2)), alone)
    assert killed


def test_a_worker_that_dies_again_and_again(monkeypatch):
    """An error that names its rows, instead of trying forever."""

    def die(self, *question):
        os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(actors.ShardActor, "run", die)
    with pytest.raises(SolverFailed, match=r"source rows 0 to \d+ died 4 times"):
        bm.solve(rooms(5), bm.ShardedPolicyIteration(workers=1))


def test_a_time_limit():
    """Workers stop in the middle of a sweep, and what they have is certified."""
    problem = rooms(24, discount=0.99)
    found = bm.solve(problem, bm.ShardedPolicyIteration(workers=2), time_limit=0.5, throw=False)
    alone = bm.solve(problem)
    assert found.status in (bm.Status.TIME_LIMIT, bm.Status.SOLVED)
    assert (found.lower <= alone.upper).all()
    assert (alone.lower <= found.upper).all()


def test_a_time_limit_that_ends_before_the_workers_are_there():
    """The answer is what holds a priori; no worker is left."""
    found = bm.solve(rooms(5), bm.ShardedPolicyIteration(workers=2), time_limit=0.05)
    assert found.status is bm.Status.TIME_LIMIT
    assert not found.history
    until = time.monotonic() + 30
    while workers() and time.monotonic() < until:
        time.sleep(0.1)
    assert workers() == 0


def test_workers_that_need_more_than_there_is(monkeypatch):
    """Refused before anything is sent to them."""
    monkeypatch.setattr(actors.ShardActor, "room", lambda self: actors.Room("a machine", 1000))
    with pytest.raises(NotEnoughMemory, match="2 workers are on a machine"):
        RayShards(Bellman.of(rooms(5)), 2, 1, None)


def test_errors_of_workers_come_as_they_are(monkeypatch):
    """Too little memory there is too little memory here."""
    bellman = Bellman.of(rooms(5))

    def refuse(self, *given):
        raise NotEnoughMemory("no room for trees")

    monkeypatch.setattr(actors.ShardActor, "open", refuse)
    with pytest.raises(NotEnoughMemory, match="no room for trees"):
        RayShards(bellman, 2, 1, None)


def test_another_version(monkeypatch):
    """Workers must have the same version of this package."""
    monkeypatch.setattr(actors.ShardActor, "open", lambda self, *given: "0.0.0")
    with pytest.raises(ClusterUnavailable, match=r"0\.0\.0"):
        RayShards(Bellman.of(rooms(5)), 1, 1, None)


def test_more_cpus_than_there_are():
    """Refused at once, instead of waiting for them."""
    with pytest.raises(InvalidOption, match="100 CPUs, Ray has 3"):
        bm.solve(rooms(5), bm.ShardedPolicyIteration(workers=10, threads=10))


def test_arrays_are_not_copied():
    """What Ray hands out as read-only is the same memory, for kernels that take no read-only arrays."""
    array = np.arange(12.0).reshape(3, 4)
    array.setflags(write=False)
    (same, whole), number = actors._owned(((array, array[0]), 3))
    assert same.flags.writeable
    assert whole.flags.c_contiguous
    assert np.shares_memory(same, array)
    assert np.array_equal(same, array)
    assert number == 3

"""Shards as actors of Ray: one worker for each, started anew where one dies.

A worker that dies takes its trees along. They are a function of the values that were swept, which are still in the
object store of the solving process: a new worker sweeps them again, in the same order, and has the same trees to the
last bit. So nothing is copied for safety while all goes well, at 8 bytes a pair and sweep in the object store, which
Ray moves to disk when it fills up. Keeping copies of the trees instead would take two or three times that, for every
sweep, over the network.
"""

from __future__ import annotations

import math
import os
import platform
import weakref
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric import __version__
from bisimetric._support import memory
from bisimetric._support.blocks import THREADS_VARIABLE
from bisimetric._support.ray import ray_connection
from bisimetric._support.threads import OutOfTime, deadline, seconds_left
from bisimetric._support.watching import WATCHER
from bisimetric.errors import ClusterUnavailable, InvalidOption, SolverFailed
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.sharding.shard import Shard
from bisimetric.sharding.shards import Room, Shards

START_SECONDS = 120.0  # until workers have started and loaded their libraries, where there is no time limit
MOST_DEATHS = 3  # of the workers of one shard while they answer one question


class ShardActor:
    """The process of one shard."""

    _shard: Shard

    def room(self) -> Room:
        """Where this process is, and what is free there."""
        return Room(platform.node(), memory.available_bytes())

    def open(self, bellman: Bellman, own_cost: bool, rows: tuple[int, int], threads: int) -> str:
        """Make room for the trees of these rows; returns the version of this package."""
        os.environ[THREADS_VARIABLE] = str(threads)
        source, target, stop, listed = _owned((bellman.source, bellman.target, bellman.stop, bellman.pairs.listed))
        cost = _owned(bellman.cost) if own_cost else bellman.cost
        pairs = replace(bellman.pairs, listed=listed)
        self._shard = Shard(replace(bellman, source=source, target=target, cost=cost, stop=stop, pairs=pairs), rows)
        return __version__

    def run(self, method: str, seconds: float, *args: Any) -> Any:
        """The answer of a method of the shard, or None if it does not come in time."""
        try:
            with deadline(seconds):
                return getattr(self._shard, method)(*_owned(args))
        except OutOfTime:
            return None

    def process(self) -> int:
        """The number of this process."""
        return os.getpid()


class _Borrowed:
    """The memory of an array that Ray hands out as read-only, for kernels that take no read-only arrays."""

    def __init__(self, array: npt.NDArray[Any]) -> None:
        self._array = array  # keeps the memory
        interface = array.__array_interface__
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False)}


def _owned(thing: Any) -> Any:
    """The same with arrays that kernels take, without copying them; nobody writes to what others sent."""
    if isinstance(thing, np.ndarray):
        return np.asarray(_Borrowed(thing))
    if isinstance(thing, tuple):
        parts = map(_owned, thing)
        return type(thing)(*parts) if hasattr(thing, "_fields") else tuple(parts)
    return thing


class RayShards(Shards):
    """Shards in the workers of a Ray cluster, or of a Ray on this machine."""

    def __init__(self, bellman: Bellman, workers: int, threads: int, address: str | None) -> None:
        super().__init__(bellman, workers)
        self._threads, self._own_cost = threads, bool(bellman.cost.flags.writeable)
        self._actors: list[Any] = []
        self._sweeps: list[tuple[Any, ...]] = []  # the arguments of every sweep so far
        with ExitStack() as stack:
            cpus = len(self.rows) * threads
            self._ray = ray = stack.enter_context(ray_connection(address, cpus=cpus))
            there = int(ray.cluster_resources().get("CPU", 0))
            if there < cpus:
                raise InvalidOption(
                    f"{len(self.rows)} workers with {threads} threads need {cpus} CPUs, Ray has {there}; take fewer, "
                    "or start Ray with more"
                )
            self._remote = ray.remote(ShardActor)
            stack.callback(_end, ray, self._actors)
            self._actors += [self._new_actor() for _ in self.rows]
            self.require_room(bellman, self._started([actor.room.remote() for actor in self._actors]))
            self._bellman = ray.put(bellman)
            self._open(range(len(self.rows)))
            self._close = weakref.finalize(self, stack.pop_all().close)

    def ask(self, method: str, *args: Any, only: Sequence[int] | None = None) -> list[Any]:
        which = range(len(self.rows)) if only is None else only
        asked = [self._call(k, method, args) for k in which]
        answers = []
        watcher = WATCHER.get()
        for k, call in zip(which, asked, strict=True):
            answers.append(self._answer(k, call, method, args))
            if watcher is not None and only is None:
                watcher.worked((k + 1) / len(self.rows))
        if method == "sweep":
            self._sweeps.append(args)
        return answers

    def put(self, array: Floats) -> Any:
        return self._ray.put(array)

    def close(self) -> None:
        self._close()

    def processes(self) -> list[int]:
        """The numbers of the workers' processes, each on its own machine."""
        found: list[int] = self._ray.get([actor.process.remote() for actor in self._actors])
        return found

    def _call(self, k: int, method: str, args: tuple[Any, ...]) -> Any:
        return self._actors[k].run.remote(method, seconds_left(), *args)

    def _answer(self, k: int, call: Any, method: str, args: tuple[Any, ...]) -> Any:
        """The answer of one shard; where its worker died, of a new one."""
        errors, deaths = self._ray.exceptions, 0
        while True:
            try:
                answer = self._ray.get(call)
                break
            except (errors.RayActorError, errors.ObjectLostError) as error:
                deaths += 1
                if deaths > MOST_DEATHS:
                    first, last = self.rows[k]
                    raise SolverFailed(
                        f"the worker of the source rows {first} to {last - 1} died {deaths} times in a row; if it "
                        f"lacks memory, take more workers; Ray says: {error}"
                    ) from None
                self._restart(k)
                call = self._call(k, method, args)
            except errors.RayTaskError as error:
                raise error.cause from None
        if answer is None:
            raise OutOfTime
        return answer

    def _restart(self, k: int) -> None:
        """A new worker, with the trees of all sweeps so far."""
        with suppress(Exception):
            self._ray.kill(self._actors[k])
        self._actors[k] = self._new_actor()
        self._open([k])
        for args in self._sweeps:
            self._call(k, "sweep", args)

    def _new_actor(self) -> Any:
        return self._remote.options(num_cpus=self._threads, scheduling_strategy="SPREAD").remote()

    def _open(self, which: Sequence[int]) -> None:
        """Give the operator to these workers, all at the same time."""
        versions = self._started(
            [self._actors[k].open.remote(self._bellman, self._own_cost, self.rows[k], self._threads) for k in which]
        )
        for version in versions:
            if version != __version__:
                raise ClusterUnavailable(f"workers of Ray have bisimetric {version}, expected {__version__} as here")

    def _started(self, calls: Sequence[Any]) -> list[Any]:
        """The answers to the first calls of workers, which wait until their processes are there."""
        errors, left = self._ray.exceptions, seconds_left()
        try:
            answers: list[Any] = self._ray.get(
                list(calls), timeout=START_SECONDS if left == math.inf else max(left, 0.0)
            )
        except errors.GetTimeoutError:
            if left < math.inf:
                raise OutOfTime from None
            raise ClusterUnavailable(
                f"Ray started no worker within {START_SECONDS:g} seconds; others may use all of its CPUs"
            ) from None
        except errors.RayTaskError as error:
            raise error.cause from None
        except errors.RayActorError as error:
            raise ClusterUnavailable(f"a worker of Ray ended as it started: {error}") from None
        return answers


def _end(ray: Any, actors: list[Any]) -> None:
    for actor in actors:
        with suppress(Exception):
            ray.kill(actor)

"""One problem over the workers of a Ray on this machine, against the same solve in one process.

CPU time is that of all processes: the solving one, Ray's servers and its workers. It is taken from the moment when the
workers have started; before that, what the solving process does for itself counts. Answers are compared bit by bit,
also with that of a run in which a worker is killed between two sweeps.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import bisimetric as bm
from benchmarks.instances import problem
from benchmarks.measure import in_fresh_process, timed
from benchmarks.tables import Row, Table, digits
from bisimetric.operators.bellman import Bellman
from bisimetric.sharding.actors import RayShards

DISCOUNT = 0.95
TOL = 1e-6
WORKERS = 2
SIDES, QUICK_SIDES = (45,), (16,)  # 4 116 841 pairs; few enough for a try
TICKS = os.sysconf("SC_CLK_TCK")
KILLED_AT = 4  # the sweep before which a worker is killed


def measure(sides: Sequence[int], say: Callable[[str], None]) -> Iterator[Row]:
    """One row per size."""
    for side in sides:
        row = in_fresh_process("sharded", {"instance": f"rooms-{side}"}, WORKERS)
        say(f"rooms-{side}: {row['cpu_here']:.1f} s CPU in one process, {row['cpu']:.1f} s with {WORKERS} workers")
        yield row


@dataclass(frozen=True, slots=True)
class Measured(bm.ShardedPolicyIteration):
    """The solver, which notes what its workers cost."""

    def _shards(self, bellman: Bellman) -> RayShards:
        notes = NOTES
        notes["before"] = time.process_time()
        shards = CountingShards(bellman, self.workers, self.threads, self.address)
        notes["started"] = _processes()
        return shards


NOTES: dict[str, Any] = {}  # of the run under way


class CountingShards(RayShards):
    """Shards that count questions, and kill a worker if asked to."""

    def ask(self, method: str, *args: Any, only: Sequence[int] | None = None) -> list[Any]:
        count = NOTES["asked"][method] = NOTES["asked"].get(method, 0) + 1
        if NOTES["kill"] and method == "sweep" and count == KILLED_AT:
            os.kill(self.processes()[0], signal.SIGKILL)
        return super().ask(method, *args, only=only)

    def close(self) -> None:
        NOTES["ended"], NOTES["last"] = _processes(), time.process_time()
        super().close()


def sharded_task(instance: str) -> Row:
    """Three solves: in one process, over workers, over workers of which one dies."""
    question = problem(instance, DISCOUNT)
    bm.solve(problem("rooms-16", DISCOUNT), tol=TOL)  # loads the kernels of large problems
    alone, here = timed(lambda: bm.solve(question, tol=TOL))
    found, there = _over_workers(question, kill=False)
    after_death, _ = _over_workers(question, kill=True)
    n, m = question.shape
    products = there["asked"].get("product", 0)
    return {
        "instance": instance,
        "pairs": n * m,
        "workers": WORKERS,
        "cpu_here": here["cpu"],
        "wall_here": here["wall"],
        "cpu": there["cpu"],
        "cpu_workers": there["cpu_workers"],
        "cpu_ray": there["cpu_ray"],
        "wall": there["wall"],
        "sweeps": there["asked"]["sweep"],
        "products": products,
        "bytes_each_way": 8 * n * m * (there["asked"]["sweep"] + products),
        "difference": _difference(alone, found),
        "difference_after_death": _difference(alone, after_death),
        "steps": len(found.history),
    }


def _over_workers(question: bm.Problem, *, kill: bool) -> tuple[bm.Solution, Row]:
    NOTES.clear()
    NOTES.update(asked={}, kill=kill)
    begin = time.process_time()
    started = time.perf_counter()
    found = bm.solve(question, Measured(workers=WORKERS), tol=TOL)
    wall = time.perf_counter() - started
    spent = {pid: cpu - NOTES["started"].get(pid, ("", 0.0))[1] for pid, (_, cpu) in NOTES["ended"].items()}
    workers = sum(cpu for pid, cpu in spent.items() if NOTES["ended"][pid][0].startswith("ray::ShardActor"))
    alone = NOTES["before"] - begin + time.process_time() - NOTES["last"]
    mine = spent[os.getpid()]
    total = alone + sum(spent.values())
    return found, {
        "asked": NOTES["asked"], "cpu": total, "cpu_workers": workers, "cpu_ray": total - alone - mine - workers,
        "wall": wall,
    }  # fmt: skip


def _processes() -> dict[int, tuple[str, float]]:
    """The name and the CPU seconds of this process and all that come from it."""
    parents, found = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, fields = (folder / "stat").read_text().partition("(")[2].rpartition(")")[::2]
            title = (folder / "cmdline").read_bytes().partition(b"\0")[0].decode()
        except (OSError, ValueError):
            continue
        words = fields.split()
        parents[int(folder.name)] = int(words[1])
        found[int(folder.name)] = title or name, (int(words[11]) + int(words[12])) / TICKS
    return {pid: row for pid, row in found.items() if os.getpid() in _line(pid, parents)}


def _line(pid: int, parents: dict[int, int]) -> list[int]:
    """A process, its parent, the parent of that and so on."""
    line = [pid]
    while line[-1] in parents:
        line.append(parents[line[-1]])
    return line


def _difference(one: bm.Solution, other: bm.Solution) -> float:
    """The largest difference between two intervals, over all pairs of states."""
    return max(float(np.abs(a - b).max()) for a, b in ((one.lower, other.lower), (one.upper, other.upper)))


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """CPU time against one process, and what travels."""
    head = [
        "pairs", "one process: CPU s", "workers: CPU s in all", "in workers", "in Ray", "ratio", "sweeps", "products",
        "MB each way", "difference", "with a killed worker",
    ]  # fmt: skip
    body = [
        [
            str(row["pairs"]),
            digits(row["cpu_here"], 3),
            digits(row["cpu"], 3),
            digits(row["cpu_workers"], 3),
            digits(row["cpu_ray"], 2),
            digits(row["cpu"] / row["cpu_here"], 3),
            str(row["sweeps"]),
            str(row["products"]),
            digits(row["bytes_each_way"] / 1e6, 3),
            f"{row['difference']:g}",
            f"{row['difference_after_death']:g}",
        ]
        for row in rows
    ]
    notes = [
        "Difference: the largest between the two intervals, over all pairs of states.",
        "MB each way: values and vectors to every machine, and back from all of them together.",
    ]
    title = f"4-rooms over {WORKERS} workers of a local Ray, γ = {DISCOUNT}, relative gap {TOL:g}"
    yield Table(title, head, body, notes)

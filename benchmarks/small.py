"""Small problems: a loop over `distance` against `solve_many`; and one and two threads, by turns in one process.

Wall times need an otherwise idle machine; the best of several rounds counts. What two threads can gain at most is
measured too: two processes that solve the same problem at the same time share caches and memory, and nothing else.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import bisimetric as bm
from benchmarks import instances
from benchmarks.measure import in_fresh_process, quickest, timed
from benchmarks.tables import Row

DISCOUNT = 0.9
SEED = 0
PROBLEMS, QUICK_PROBLEMS = 10_000, 1_000
STATES = 4
LOOP_STATES = (4, 6, 10)
LOOPED = 300  # problems of a loop
ROUNDS = 3
LARGE, QUICK_LARGE = (("rooms-32", 4), ("dense-100", 6)), (("rooms-12", 2), ("dense-50", 2))  # instances and rounds
LARGE_DISCOUNT, TOL = 0.95, 1e-6
THREADS = (1, 2)


def pairs(count: int, states: int) -> list[tuple[bm.MarkovChain, bm.MarkovChain]]:
    """Pairs of random chains with random rewards; no chain occurs twice."""
    random = np.random.default_rng(SEED)

    def chain() -> bm.MarkovChain:
        return bm.MarkovChain(random.dirichlet(np.ones(states), states), reward=random.random(states), start=0)

    return [(chain(), chain()) for _ in range(count)]


def measure(quick: bool, progress: Callable[[str], None]) -> list[Row]:
    """CPU microseconds a problem: a loop, and one call with and without making the problems and reading distances."""
    rows = []
    for states in LOOP_STATES[:1] if quick else LOOP_STATES:
        some = pairs(LOOPED, states)
        bm.distance(*some[0], discount=DISCOUNT)  # compiles
        _, seconds = quickest(lambda some=some: [bm.distance(a, b, discount=DISCOUNT) for a, b in some])  # type: ignore[misc]
        rows.append(_row(f"a loop over distance, {states} states", seconds, LOOPED))
        progress(rows[-1]["work"])
    count = QUICK_PROBLEMS if quick else PROBLEMS
    many = pairs(count, STATES)
    made = [bm.Problem(a, b, discount=DISCOUNT) for a, b in many]
    works: dict[str, Callable[[], Any]] = {
        "solve_many": lambda: bm.solve_many(made),
        "solve_many, distances read": lambda: [found.distance for found in bm.solve_many(made)],
        "solve_many, problems made and distances read": lambda: [
            found.distance for found in bm.solve_many([bm.Problem(a, b, discount=DISCOUNT) for a, b in many])
        ],
    }
    for name, work in works.items():
        work()  # compiles
        _, seconds = quickest(work)
        rows.append(_row(f"{name}, {STATES} states", seconds, count))
        progress(rows[-1]["work"])
    for row in rows:
        row["times_less"] = round(rows[0]["cpu_us"] / row["cpu_us"], 1)
    return rows


def _row(work: str, seconds: float, count: int) -> Row:
    return {"work": work, "problems": count, "cpu_us": round(1e6 * seconds / count, 1)}


def limit(name: str) -> float:
    """How much faster two processes are than one at two solves, from their CPU seconds: what the machine allows."""

    def seconds(_: int) -> float:
        task = {"instance": name, "discount": LARGE_DISCOUNT, "tol": TOL, "quotient": False}
        return float(in_fresh_process("ours", task)["cpu"])

    alone = seconds(0)
    with ThreadPoolExecutor(2) as both:
        return 2 * alone * 2 / sum(both.map(seconds, range(2)))


def threads(quick: bool, progress: Callable[[str], None]) -> list[Row]:
    """Wall seconds with one and with two threads, by turns in one process, the best of several rounds; the limit."""
    made = [bm.Problem(a, b, discount=DISCOUNT) for a, b in pairs(QUICK_PROBLEMS if quick else PROBLEMS, STATES)]
    works: list[tuple[str, int, Callable[[], Any]]] = [
        (f"solve_many, {len(made)} problems", 2 * ROUNDS, lambda: bm.solve_many(made))
    ]
    instances_measured = dict(QUICK_LARGE if quick else LARGE)
    for name, rounds in instances_measured.items():
        large = instances.problem(name, LARGE_DISCOUNT)
        works.append((name, rounds, lambda large=large: bm.solve(large, tol=TOL, quotient=False)))  # type: ignore[misc]
    rows = []
    before = os.environ.get("BISIMETRIC_THREADS")
    for name, rounds, work in works:
        work()  # compiles
        best: dict[int, dict[str, float]] = {}
        for count in THREADS * rounds:
            os.environ["BISIMETRIC_THREADS"] = str(count)
            _, seconds = timed(work)
            if count not in best or seconds["wall"] < best[count]["wall"]:
                best[count] = seconds
            time.sleep(0.01)  # lets helpers of other libraries come to rest
        ratio = best[1]["wall"] / best[2]["wall"]
        rows += [
            {"work": name, "threads": count, "wall_s": round(run["wall"], 3), "cpu_s": round(run["cpu"], 3)}
            | {"faster": round(best[1]["wall"] / run["wall"], 2), "limit": ""}
            for count, run in best.items()
        ]
        if name in instances_measured:
            rows[-1]["limit"] = round(limit(name), 2)
        progress(f"{name}: {ratio:.2f}, at most {rows[-1]['limit'] or 2}")
    if before is None:
        del os.environ["BISIMETRIC_THREADS"]
    else:
        os.environ["BISIMETRIC_THREADS"] = before
    return rows

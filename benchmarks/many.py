"""Tables of distances: small chains against a loop, and worker processes against one.

    small      all pairs of chains with four states: `pairwise` against a loop over `distance`, CPU seconds
    workers    all pairs of 35 classic 4-rooms, the reward in different cells: two processes against one, wall seconds

Wall seconds are the best of three calls in turns. Our own workers start with every call: the ratio is given with that
start and without it, as a call for one pair in each measures it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

import bisimetric as bm
from benchmarks.measure import quickest
from benchmarks.tables import Row, Table, digits
from bisimetric._support.blocks import one_thread

DISCOUNT = 0.95
STATES = 4
SMALL_CHAINS, QUICK_SMALL_CHAINS = 60, 20
ROOMS, QUICK_ROOMS = 35, 6
WORKERS = 2
TIMES = 3


def small_chains(count: int) -> list[bm.MarkovChain]:
    """Chains with four states, full rows and random rewards."""
    random = np.random.default_rng(0)
    return [
        bm.MarkovChain.normalised(random.random((STATES, STATES)), reward=random.random(STATES), start=0)
        for _ in range(count)
    ]


def rooms(count: int) -> list[bm.MarkovChain]:
    """The classic 4-rooms with the reward in one of so many cells, from the first cell."""
    base = bm.environments.classic_four_rooms()
    cells = np.linspace(1, base.n_states - 1, count).astype(int)
    return [
        bm.MarkovChain(base.transitions, reward=np.arange(base.n_states) == cell, start=0, names=base.names)
        for cell in cells
    ]


def measure(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """Both studies."""
    return [_small(QUICK_SMALL_CHAINS if quick else SMALL_CHAINS, say), _workers(QUICK_ROOMS if quick else ROOMS, say)]


def _small(count: int, say: Callable[[str], None]) -> Row:
    chains = small_chains(count)
    places = [(i, j) for i in range(count) for j in range(i + 1, count)]

    def loop() -> None:
        for i, j in places:
            bm.distance(chains[i], chains[j], discount=DISCOUNT).interval  # noqa: B018

    with one_thread():
        loop()
        bm.pairwise(chains, discount=DISCOUNT)
        apart, together = quickest(loop)[1], quickest(lambda: bm.pairwise(chains, discount=DISCOUNT))[1]
    say(f"{len(places)} pairs of {STATES} states: loop {apart:.3g} s, table {together:.3g} s CPU")
    return {"study": "small", "pairs": len(places), "states": STATES, "loop_cpu": apart, "table_cpu": together}


def _workers(count: int, say: Callable[[str], None]) -> Row:
    chains = rooms(count)
    tables = {}
    calls: dict[str, Callable[[], bm.Distances]] = {
        "one": lambda: bm.pairwise(chains, discount=DISCOUNT),
        "two": lambda: bm.pairwise(chains, discount=DISCOUNT, n_jobs=WORKERS),
        "start": lambda: bm.pairwise(chains[:1], chains[1:3], discount=DISCOUNT, n_jobs=WORKERS),
    }
    best = dict.fromkeys(calls, np.inf)
    with one_thread():
        bm.pairwise(chains[:3], discount=DISCOUNT)
        for _ in range(TIMES):
            for name, call in calls.items():
                began = time.perf_counter()
                tables[name] = call()
                best[name] = min(best[name], time.perf_counter() - began)
                say(f"{name}: {best[name]:.3g} s")
    return {
        "study": "workers",
        "chains": count,
        "states": chains[0].n_states,
        "pairs": count * (count - 1) // 2,
        "same_bits": bool((tables["one"].value == tables["two"].value).all()),
        **{f"{name}_wall": seconds for name, seconds in best.items()},
    }


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """One line for each study."""
    for row in rows:
        if row["study"] == "small":
            loop, table = row["loop_cpu"], row["table_cpu"]
            yield Table(
                "All pairs of small chains",
                ["pairs", "states", "loop over `distance`, CPU s", "`pairwise`, CPU s", "ratio"],
                [[str(row["pairs"]), str(row["states"]), digits(loop), digits(table), f"{loop / table:.1f}"]],
                ["Both with one thread, after a warm-up; the quickest of several batches."],
            )
        else:
            one, two, start = (row[f"{name}_wall"] for name in ("one", "two", "start"))
            head = ["who", "wall s", "ratio", "without the start"]
            body = [
                ["one process", digits(one, 3), "", ""],
                ["two workers", digits(two, 3), f"{one / two:.2f}", f"{one / (two - start):.2f}"],
            ]
            title = f"All {row['pairs']} pairs of {row['chains']} chains of {row['states']} states"
            notes = [f"Best of three calls in turns, one thread a process. Two workers start in {digits(start)} s."]
            yield Table(title, head, body, notes)

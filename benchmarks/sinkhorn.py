"""Sinkhorn value and policy iteration: a round compared with plain NumPy on [n, m, n, m] arrays, and its memory.

Both sides run the same iterates with a constant step; how far the couplings are apart after some rounds is part of a
row. Our round is a mean over a run, without the looks of the checker, which plain NumPy does not have.
"""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from statistics import median
from typing import Any

import numpy as np

import bisimetric as bm
from benchmarks import plain
from benchmarks.instances import problem
from benchmarks.measure import in_fresh_process, peak_bytes, resident_bytes
from benchmarks.tables import Row, Table, digits

DISCOUNT = 0.95
STEP = 1.0  # η; the largest cost of every instance is 1
ROUNDS = 250  # of our run
COMPARED = 20  # rounds after which the couplings are compared
AGREEMENT = 1e-9  # largest difference between them
PLAIN_SECONDS = 0.1  # CPU seconds of plain rounds, at least
REPEATS = 5  # in turn; medians count
INSTANCES: Sequence[str] = ("paper-40", "dense-20", "dense-30", "dense-40", "dense-50")
QUICK_INSTANCES: Sequence[str] = ("dense-20", "dense-30")
MEMORY_INSTANCES = ("dense-100",)
QUICK_MEMORY_INSTANCES = ("dense-60",)
SOLVERS: dict[str, Callable[..., Any]] = {"svi": bm.SinkhornValueIteration, "spi": bm.SinkhornPolicyIteration}
PEERS = {"svi": ("svi", "svi-log"), "spi": ("spi",)}


def measure(instances: Sequence[str], memory: Sequence[str], say: Callable[[str], None]) -> list[Row]:
    """One row per instance and method, and one for the memory of each."""
    rows = []
    for instance in instances:
        for method in SOLVERS:
            arguments: Row = {"method": method, "instance": instance, "discount": DISCOUNT}
            rows.append({"kind": "round", **arguments} | in_fresh_process("sinkhorn-round", arguments))
            say(f"{instance}, {method}: {rows[-1]['times_faster'][method]:.0f} times faster")
    for instance in memory:
        for tracked in (True, False):
            arguments = {"instance": instance, "discount": DISCOUNT, "tracked": tracked}
            rows.append({"kind": "memory", **arguments} | in_fresh_process("sinkhorn-memory", arguments))
            say(f"{instance}: {rows[-1]['times_scalings']:.2f} × nm(n + m) doubles")
    return rows


def round_task(method: str, instance: str, discount: float) -> Row:
    """CPU seconds per round, ours and plain."""
    question = problem(instance, discount)
    for _ in islice(our_rounds(method, problem("dense-12", discount)), 4):
        pass
    apart = {peer: difference(method, peer, question, COMPARED) for peer in PEERS[method]}
    batch = {peer: max(2, int(PLAIN_SECONDS / _plain_seconds(peer, question, 2))) for peer in PEERS[method]}
    turns: dict[str, list[float]] = {name: [] for name in ("ours", *PEERS[method])}
    for _ in range(REPEATS):
        turns["ours"].append(_seconds_a_round(our_rounds(method, question), ROUNDS))
        for peer in PEERS[method]:
            turns[peer].append(_plain_seconds(peer, question, batch[peer]))
    ours, theirs = median(turns["ours"]), {peer: median(turns[peer]) for peer in PEERS[method]}
    return {
        "ours_s": ours,
        "plain_s": theirs,
        "times_faster": {peer: seconds / ours for peer, seconds in theirs.items()},
        "apart": max(apart.values()),
    }


def memory_task(instance: str, discount: float, tracked: bool) -> Row:
    """Peak memory of a solve besides its inputs: of numpy's arrays (`tracked`), or of the whole process."""
    for tiny in ("dense-12", "rooms-4"):
        bm.solve(problem(tiny, discount), bm.SinkhornValueIteration(rounds=8))
    question = problem(instance, discount)
    n, m = question.shape
    before = resident_bytes()
    if tracked:
        tracemalloc.start()
    bm.solve(question, bm.SinkhornValueIteration(rounds=16))
    used = tracemalloc.get_traced_memory()[1] if tracked else peak_bytes() - before
    return {"bytes": used, "times_scalings": used / (8 * n * m * (n + m))}


def our_rounds(method: str, question: bm.Problem, step: float = STEP) -> Iterator[Any]:
    """Yield the iterates of the solver round by round, without the loop of `solve`."""
    from bisimetric.operators.bellman import Bellman

    solver, bellman = SOLVERS[method](step_size=step, rounds=10**6), Bellman.of(question)
    iterate = solver.init(bellman, None)
    while True:
        yield iterate
        iterate = solver.step(bellman, iterate)


def difference(method: str, peer: str, question: bm.Problem, rounds: int, step: float = STEP) -> float:
    """The largest difference between the couplings after these rounds, before they are rounded."""
    from bisimetric import kernels
    from bisimetric.couplings.witness import pair_cells

    state = next(islice(our_rounds(method, question, step), rounds - 1, None)).factored
    size = question.shape[0] * question.shape[1]
    cells = pair_cells(state.bellman, 0, size)
    rows = state.bellman.source, state.bellman.target
    kernels.sinkhorn.rounding.rounded(0, size, *rows, state.scalings, state.whole, state.rest, False, cells)
    theirs = next(islice(plain.rounds(peer, question, step), rounds - 1, None))
    arrays = plain.Arrays.of(question)
    there = theirs[np.broadcast_to((arrays.source > 0) & (arrays.target > 0), theirs.shape)]
    return float(np.abs(cells.weight - (np.exp(there) if peer == "svi-log" else there)).max())


def _plain_seconds(peer: str, question: bm.Problem, rounds: int) -> float:
    return _seconds_a_round(plain.rounds(peer, question, STEP), rounds)


def _seconds_a_round(running: Iterator[Any], rounds: int) -> float:
    """CPU seconds per round without the first one, which allocates arrays."""
    next(running)
    began = time.process_time()
    for _ in islice(running, rounds):
        pass
    return (time.process_time() - began) / rounds


def _cell(found: dict[str, float], peer: str, unit: float = 1.0) -> str:
    return digits(unit * found[peer]) if peer in found else ""


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Time and memory."""
    head = ["", "", "ours, ms", "plain, ms", "in logs, ms", "× plain", "× logs", "apart"]
    body = [
        [
            row["instance"],
            row["method"].upper(),
            digits(1e3 * row["ours_s"]),
            *(_cell(row["plain_s"], peer, 1e3) for peer in (row["method"], "svi-log")),
            *(_cell(row["times_faster"], peer) for peer in (row["method"], "svi-log")),
            f"{row['apart']:.0e}",
        ]
        for row in rows
        if row["kind"] == "round"
    ]
    notes = (
        f"CPU time a round, one thread, η = {STEP:g}, γ = {DISCOUNT}; ×: times faster; in logs: finite for any step.",
        f"apart: largest difference of any two couplings' entries after {COMPARED} rounds.",
    )
    yield Table("A round against plain NumPy on [n, m, n, m] arrays", head, body, notes)
    body = [
        [row["instance"], "numpy's arrays" if row["tracked"] else "process", digits(row["bytes"] / 1e6, 3),
         f"{row['times_scalings']:.2f}"]
        for row in rows if row["kind"] == "memory"
    ]  # fmt: skip
    head = ["SVI, last iterate", "measured in", "peak MB", "× nm(n + m) doubles"]
    yield Table("Memory beyond the inputs, certificate included", head, body)

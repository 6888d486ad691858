"""The exact solver on 4-rooms from 10⁶ to 10⁸ pairs of states: time, peak memory and the estimate made beforehand.

Every size is solved once in a process of its own, on all cores, without merging bisimilar states. The peak is that of
the whole process, so it includes Python, the libraries and the problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import bisimetric as bm
from benchmarks.instances import WARM_UP, problem
from benchmarks.measure import in_fresh_process, peak_bytes, resident_bytes, timed
from benchmarks.tables import Row, Table, digits
from bisimetric._support.cores import core_count
from bisimetric.operators.bellman import Bellman
from bisimetric.operators.trees import tree_bytes

DISCOUNT = 0.9
TOL = 1e-4
SIDES = (100, 64, 45, 32)  # 100 080 016, 16 810 000, 4 116 841 and 1 056 784 pairs; the one that may fail first
QUICK_SIDES = (32, 18)
GIB = 2**30


def measure(sides: Sequence[int], say: Callable[[str], None]) -> Iterator[Row]:
    """One row per size."""
    for side in sides:
        row = in_fresh_process("large", {"instance": f"rooms-{side}"}, core_count())
        say(f"rooms-{side}: {row['pairs']} pairs, {row['cpu']:.0f} s CPU, peak {row['bytes_peak'] / GIB:.2f} GiB")
        yield row


def large_task(instance: str) -> Row:
    """One solve, after a warm-up that compiles the same kernels."""
    for tiny in (*WARM_UP, "rooms-18"):
        bm.solve(problem(tiny, DISCOUNT), tol=TOL, quotient=False)
    before = resident_bytes()
    question = problem(instance, DISCOUNT)
    estimate = tree_bytes(Bellman.of(question), may_round=True) + question.cost.nbytes
    solution, seconds = timed(lambda: bm.solve(question, tol=TOL, quotient=False))
    n, m = question.shape
    low, high = solution.interval
    return {
        "instance": instance,
        "states": n,
        "pairs": n * m,
        "threads": core_count(),
        **seconds,
        "steps": len(solution.history),
        "status": solution.status.name,
        "relative_gap": solution.relative_gap,
        "distance": solution.distance,
        "interval": [low, high],
        "bytes_before": before,
        "bytes_peak": peak_bytes(),
        "bytes_estimated": estimate,
    }


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Time and memory, in all and a pair."""
    head = ["states", "pairs", "steps", "relative gap", "CPU s", "wall s", "CPU µs", "peak GiB", "bytes", "estimated"]
    body = [
        [
            str(row["states"]),
            str(row["pairs"]),
            str(row["steps"]),
            f"{row['relative_gap']:.1e}",
            digits(row["cpu"]),
            digits(row["wall"]),
            digits(1e6 * row["cpu"] / row["pairs"]),
            f"{row['bytes_peak'] / GIB:.2f}",
            digits((row["bytes_peak"] - row["bytes_before"]) / row["pairs"], 3),
            digits(row["bytes_estimated"] / row["pairs"], 3),
        ]
        for row in sorted(rows, key=lambda row: row["pairs"])
    ]
    notes = [
        "CPU µs and bytes a pair; the peak is the whole process, bytes are above those before the problem is made.",
        "Estimated: what a solve asks for before it allocates anything, and the cost.",
    ]
    yield Table(f"Large 4-rooms, γ = {DISCOUNT}, relative gap {TOL:g}, all cores", head, body, notes)

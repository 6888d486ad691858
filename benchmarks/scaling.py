"""The exact solver on 4-rooms from 10³ to 10⁷ pairs of states: time and memory per pair, one and two threads.

The same process then measures what policy evaluation makes of the memory's bandwidth; see `bandwidth`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.measure import in_fresh_process
from benchmarks.tables import Row, Table, digits

DISCOUNT = 0.95
TOL = 1e-6
SIDES = (5, 10, 18, 32, 55)  # 841, 10 816, 107 584, 1 056 784 and 9 174 841 pairs
QUICK_SIDES = SIDES[:3]
THREADS = (1, 2)
KERNEL_INSTANCES = ("rooms-10", "rooms-20", "rooms-32", "sparse-1000", "dense-50")
QUICK_KERNEL_INSTANCES = ("rooms-10", "rooms-20")


def measure(sides: Sequence[int], say: Callable[[str], None]) -> list[Row]:
    """One row per size and number of threads."""
    rows = []
    for side in sides:
        for threads in THREADS:
            rows.append(_row(f"rooms-{side}", threads))
            say(f"rooms-{side}, {threads} threads: {rows[-1]['cpu']:.2f} s CPU")
    return rows


def measure_kernels(instances: Sequence[str], say: Callable[[str], None]) -> list[Row]:
    """The kernels alone, one thread."""
    rows = []
    for instance in instances:
        rows.append(_row(instance, 1))
        say(f"{instance}: warm sweep {rows[-1]['warm_sweep_ns_a_pair']:.0f} ns a pair")
    return rows


def _row(instance: str, threads: int) -> Row:
    # Without merging bisimilar states: the symmetries of a layout depend on its side.
    arguments = {"instance": instance, "discount": DISCOUNT, "tol": TOL, "kernels": True, "quotient": False}
    return {"instance": instance, "threads": threads} | in_fresh_process("ours", arguments, threads)


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """The solve, and policy evaluation relative to the memory bandwidth."""
    head = ["pairs", "threads", "steps", "CPU s", "wall s", "CPU µs", "wall µs", "bytes", "peak MB"]
    body = [
        [
            str(row["pairs"]),
            str(row["threads"]),
            str(row["steps"]),
            digits(row["cpu"]),
            digits(row["wall"]),
            digits(1e6 * row["cpu"] / row["pairs"]),
            digits(1e6 * row["wall"] / row["pairs"]),
            digits(bytes_a_pair(row), 3),
            f"{row['bytes_peak'] / 1e6:.0f}",
        ]
        for row in rows
    ]
    notes = ["µs and bytes a pair; bytes above those of the process before the solve."]
    yield Table(f"4-rooms by size, γ = {DISCOUNT}, relative gap {TOL:g}", head, body, notes)
    yield kernel_table(rows)


def bytes_a_pair(row: Row) -> float:
    """Peak memory of the solve itself, per pair."""
    return float(row["bytes_peak"] - row["bytes_before"]) / float(row["pairs"])


def kernel_table(rows: Sequence[Row]) -> Table:
    """How close each pass comes to the memory bandwidth."""
    names = ("product", "iteration", "evaluation")
    head = ["", "pairs", "threads", "triad GB/s", *(text for name in names for text in (name, "× bound")), "sweep"]
    body = [
        [
            row["instance"],
            str(row["pairs"]),
            str(row["threads"]),
            f"{row['triad_GB_s']:.1f}",
            *(
                text
                for name in names
                for text in (digits(row[f"{name}_ns_a_pair"]), f"{row[f'{name}_times_bound']:.2f}")
            ),
            digits(row["warm_sweep_ns_a_pair"], 3),
        ]
        for row in rows
    ]
    notes = (
        "ns a pair; × bound: over the time in which a triad of the same footprint moves the same bytes.",
        "CPU time with one thread, wall time with two.",
    )
    return Table("Policy evaluation against memory bandwidth, and a sweep that changes nothing", head, body, notes)

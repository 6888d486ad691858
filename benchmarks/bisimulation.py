"""What structure saves: symmetry, bisimilar states, pairs that are not reached; and refinement by size.

    metric       one chain against itself: half of the pairs, compared with all pairs
    classes      chains with bisimilar states: one state per class, compared with all states
    reachable    the distance between two starts: reachable pairs, compared with all pairs
    refinement   bisimilar states of large chains

Every measurement has a process of its own and one thread. Comparisons take turns; the median of the ratios counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from statistics import median
from typing import Any, NamedTuple

from benchmarks.measure import in_fresh_process
from benchmarks.tables import Row, Table, digits

DISCOUNT = 0.95
TOL = 1e-6
ROUNDS, QUICK_ROUNDS = 3, 1
FAMILIES_OF_CHAINS = ("sparse", "even", "path")
SIZES, QUICK_SIZES = (250_000, 500_000, 1_000_000), (25_000, 50_000, 100_000)


class Comparison(NamedTuple):
    """The same question, solved with and without one of these savings."""

    title: str
    instance: str
    quick_instance: str
    task: str
    having: dict[str, Any]
    lacking: dict[str, Any]
    memory: bool = False  # whether memory is compared, too


COMPARISONS = {
    "metric": Comparison(
        "one pair of each two: 4-rooms against itself",
        "self-32",
        "self-12",
        "ours",
        {"quotient": False},
        {"quotient": False, "every_pair": True},
        memory=True,
    ),
    "classes": Comparison(
        "bisimilar states merged: symmetric 4-rooms",
        "corners-20",
        "corners-10",
        "ours",
        {},
        {"quotient": False},
    ),
    "reachable": Comparison(
        "only reachable pairs: one of ten islands each",
        "islands-10",
        "islands-4",
        "between-starts",
        {"pairs": "reachable"},
        {"pairs": "all"},
    ),
}


def measure(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """One row per measurement."""
    rows: list[Row] = []

    def add(**row: Any) -> None:
        rows.append(row)
        say(f"{row['study']}, {row['instance']}: {row['cpu']:.3g} s CPU")

    turns = range(QUICK_ROUNDS if quick else ROUNDS)
    for name, comparison in COMPARISONS.items():
        instance = comparison.quick_instance if quick else comparison.instance
        for turn in turns:
            for having in (True, False):
                options = comparison.having if having else comparison.lacking
                arguments = {"instance": instance, "discount": DISCOUNT, "tol": TOL, **options}
                result = in_fresh_process(comparison.task, arguments)
                add(study=name, instance=instance, turn=turn, having=having, **result)
    for family in FAMILIES_OF_CHAINS:
        for turn, size in product(turns, QUICK_SIZES if quick else SIZES):
            instance = f"{family}-{size}"
            result = in_fresh_process("refinement", {"instance": instance})
            add(study="refinement", instance=instance, turn=turn, **result)
    return rows


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """What is saved, and refinement by size."""
    head = ["", "pairs", "CPU s", "without", "faster", "bytes a pair", "without", "smaller"]
    notes = (
        f"One thread, γ = {DISCOUNT}, relative gap {TOL:g}, certificates included; median of {_turns(rows)}.",
        "Bytes above those of the process before the solve, a pair of states.",
    )
    yield Table("What structure saves", head, [_compared(name, rows) for name in COMPARISONS], notes)
    large: dict[str, list[Row]] = {}
    for row in rows:
        if row["study"] == "refinement":
            large.setdefault(row["instance"], []).append(row)
    head = ["", "states", "edges", "classes", "CPU s", "× half the size"]
    kinds = (
        "sparse and even: five random successors, with random and with equal probabilities; path: one state after",
        "the other.",
    )
    yield Table("Bisimilar states by partition refinement", head, [_refined(name, large) for name in large], kinds)


def _turns(rows: Sequence[Row]) -> int:
    return len({row["turn"] for row in rows if "turn" in row})


def _compared(name: str, rows: Sequence[Row]) -> list[str]:
    """A row of the first table; ratios are of measurements in the same turn."""
    comparison = COMPARISONS[name]
    having, lacking = (
        [row for row in rows if row["study"] == name and row["having"] == side] for side in (True, False)
    )
    faster = median(without["cpu"] / row["cpu"] for row, without in zip(having, lacking, strict=True))
    line = [
        comparison.title,
        str(having[0]["pairs"]),
        *(digits(median(row["cpu"] for row in side)) for side in (having, lacking)),
    ]
    line.append(f"{digits(faster, 3)}×")
    if not comparison.memory:
        return [*line, "", "", ""]
    bytes_a_pair = [median(_bytes(row) / row["pairs"] for row in side) for side in (having, lacking)]
    smaller = median(_bytes(without) / _bytes(row) for row, without in zip(having, lacking, strict=True))
    return [*line, *(digits(value, 3) for value in bytes_a_pair), f"{digits(smaller, 3)}×"]


def _refined(name: str, large: dict[str, list[Row]]) -> list[str]:
    """A row of the second table; ratios are of measurements in the same turn."""
    family, rows = name.partition("-")[0], large[name]
    row, half = rows[0], large.get(f"{family}-{rows[0]['states'] // 2}")
    return [
        family,
        *(str(row[name]) for name in ("states", "edges", "classes")),
        digits(median(row["cpu"] for row in rows), 3),
        "" if half is None else f"{median(a['cpu'] / b['cpu'] for a, b in zip(rows, half, strict=True)):.2f}",
    ]


def _bytes(row: Row) -> float:
    return float(row["bytes_peak"] - row["bytes_before"])

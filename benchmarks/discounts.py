"""The exact solver against the discount: CPU seconds relative to those at 0.95, on slow, fast and periodic chains."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from benchmarks.measure import in_fresh_process
from benchmarks.tables import Row, Table, digits

DISCOUNTS = (0.95, 0.99, 0.999, 0.9999, 0.99999)
TOL = 1e-6
INSTANCES = (
    "rooms-8",
    "classic-104",
    "rooms-20",
    "rooms-32",
    "sparse-500",
    "cycles-300",
    "slow-cycles-300",
    "paths-300",
)
QUICK_INSTANCES = ("rooms-8", "cycles-30", "slow-cycles-30", "paths-30")


def measure(instances: Sequence[str], say: Callable[[str], None]) -> list[Row]:
    """One row per instance and discount, one thread."""
    rows = []
    for instance in instances:
        for discount in DISCOUNTS:
            arguments = {"instance": instance, "discount": discount, "tol": TOL, "quotient": False}
            row = {"instance": instance, "discount": discount} | in_fresh_process("ours", arguments)
            rows.append(row)
            say(f"{instance}, γ = {discount}: {row['cpu']:.3g} s CPU")
    return rows


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """CPU seconds, and their ratios to the first discount."""
    head = ["", "pairs", f"γ = {DISCOUNTS[0]}", *(f"{discount:g}" for discount in DISCOUNTS[1:])]
    body = []
    for instance in dict.fromkeys(row["instance"] for row in rows):
        mine = {row["discount"]: row for row in rows if row["instance"] == instance}
        first = mine[DISCOUNTS[0]]
        ratios = [f"{mine[discount]['cpu'] / first['cpu']:.2f}" for discount in DISCOUNTS[1:]]
        body.append([instance, str(first["pairs"]), f"{digits(first['cpu'])} s", *ratios])
    notes = [f"CPU seconds to a certified relative gap of {TOL:g} with one thread; then times those at {DISCOUNTS[0]}."]
    yield Table("Cost against the discount", head, body, notes)

"""Which runs there are, and which need not be made.

A run that uses up its CPU seconds is ended, and with it the ladder of that method there. If no setting was good enough
by then, larger problems of the family with the same or a larger discount are not run either, nor is a method that
does the same with more work; such rows are marked. Ours runs before and after all others, since the machine may be
busier by then.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.comparison import MEMORY, MORE_WORK_THAN, SEEDED
from benchmarks.measure import rows_of_fresh_process
from benchmarks.pareto.ladder import reached
from benchmarks.pareto.methods import METHODS
from benchmarks.tables import Row

Case = tuple[int, float, bool]  # seed, discount, all settings?
ENDED = ("time-out", "crashed", "out of memory")
SHOWN = 0.95  # the discount of the pictures


class Study(NamedTuple):
    """Families from small to large, discounts in ascending order, and the instances whose ladders are run in full."""

    families: Sequence[Sequence[str]]
    discounts: Sequence[float]
    panels: Sequence[str]


FULL = Study(
    (
        ("dense-10", "dense-20", "dense-30", "dense-50"),
        ("uniform-10", "uniform-20", "uniform-30", "uniform-50"),
        ("paper-40", "classic-104", "rooms-20", "rooms-32"),
    ),
    (0.75, 0.9, 0.95, 0.99),
    ("dense-30", "classic-104"),
)
QUICK = Study((("dense-10", "dense-20"), ("paper-40",)), (0.75, 0.95), ("dense-20", "paper-40"))


def measure(study: Study, seeds: int, timeout: float, say: Callable[[str], None]) -> list[Row]:
    """One row for each instance, seed, discount, method and setting that was run, and one for what was not."""
    rows: list[Row] = []
    with TemporaryDirectory() as truths:
        options = {"timeout": timeout, "memory": MEMORY, "truths": truths}
        for family in study.families:
            ended: dict[str, tuple[float, str]] = {}  # by method: from which discount on, and where
            for instance in family:
                for method in (*METHODS, "ours"):
                    cases = cases_of(study, instance, seeds)
                    easier = min(ended.get(name, (inf, "")) for name in (method, MORE_WORK_THAN.get(method, "")))
                    found = _ladders(method, instance, [case for case in cases if case[1] < easier[0]], options)
                    ended[method] = min(easier, (first_ended(found), instance))
                    found += _not_run(cases, found, ended[method])
                    where = {"instance": instance, "method": method}
                    rows += [where | row for row in found]
                    say(f"{instance} {method}: {_summary(found)}")
    return rows


def cases_of(study: Study, instance: str, seeds: int) -> list[Case]:
    """By discount, then by seed; all settings where a picture shows them."""
    number = seeds if instance.split("-")[0] in SEEDED else 1
    return [
        (seed, discount, instance in study.panels and discount == SHOWN and seed == 0)
        for discount in study.discounts
        for seed in range(number)
    ]


def _ladders(method: str, instance: str, cases: Sequence[Case], options: Row) -> list[Row]:
    """The rows of these cases up to the first that is ended before it is good enough."""
    rows: list[Row] = []
    left = list(cases)
    while left:
        found = rows_of_fresh_process("pareto", {"method": method, "instance": instance, "cases": left, **options})
        rows += found
        if first_ended(rows) < inf:
            break
        done = {(row["seed"], row["discount"]) for row in found}
        if not done:
            raise RuntimeError(f"{method} on {instance} measured nothing")
        left = [case for case in left if case[:2] not in done]
    return rows


def first_ended(rows: Sequence[Row]) -> float:
    """The smallest discount at which a ladder was ended before any of its settings was good enough."""
    good = {(row["seed"], row["discount"]) for row in rows if reached(row)}
    ended = [row["discount"] for row in rows if row["status"] in ENDED and (row["seed"], row["discount"]) not in good]
    return min(ended, default=inf)


def _not_run(cases: Sequence[Case], found: Sequence[Row], easier: tuple[float, str]) -> list[Row]:
    """One row for each discount of which no run was made."""
    left = dict.fromkeys(discount for _, discount, _ in cases)
    for row in found:
        left.pop(row["discount"], None)
    return [{"seed": 0, "discount": one, "status": "time-out", "not_run_because_of": easier[1]} for one in left]


def _summary(rows: Sequence[Row]) -> str:
    good = sum(reached(row) for row in rows)
    run = [row for row in rows if "not_run_because_of" not in row]
    return f"{len(run)} runs, {good} good enough, {sum(row.get('cpu', 0.0) for row in run):.1f} s"

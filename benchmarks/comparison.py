"""Ours against every peer: CPU seconds, memory and error at the same relative gap, one thread each.

A run that uses up its CPU seconds is ended and counts as a lower bound. What must take longer than a run that was
ended is not run: other seeds of the same problem, larger problems of the same family, and a method that does the
same work and more. Such rows are marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import NamedTuple

from benchmarks.measure import in_fresh_process
from benchmarks.tables import Row, Table, digits

DISCOUNT = 0.95
TOL = 1e-6
MEMORY = 8 * 10**9  # limit of a run, in bytes
WRONG = 1e-5  # an answer with a larger relative error is wrong
FAMILIES = (  # from small to large
    ("dense-10", "dense-20", "dense-30", "dense-50"),
    ("uniform-10", "uniform-20", "uniform-30", "uniform-50"),
    ("grid-5", "grid-7"),
    ("paper-40", "classic-104", "rooms-20", "rooms-32"),
)
QUICK_FAMILIES = (("dense-10", "dense-20"), ("grid-5",), ("paper-40", "classic-104"))
TITLES = {
    **{f"dense-{n}": f"softmax n={n}" for n in (10, 20, 30, 50)},
    **{f"uniform-{n}": f"uniform n={n}" for n in (10, 20, 30, 50)},
    **{f"grid-{k}": f"grid {k}×{k}" for k in (5, 7)},
    "paper-40": "4-rooms 40",
    "classic-104": "4-rooms 104",
    "rooms-20": "4-rooms 404",
    "rooms-32": "4-rooms 1028",
}
SEEDED = ("dense", "uniform")

METHODS = {  # with their names in tables
    "ours": "ours",
    "pi-emd-lu": "PI emd",
    "pi-core-lu": "PI core LU",
    "pi-core-bicgstab": "PI core Krylov",
    "vi-core-macqueen": "VI core",
    "vi-emd2-macqueen": "VI emd2",
    "vi-emd2": "VI textbook",
    "highs-ipm": "HiGHS IPM",
    "highs-ipm-crossover": "HiGHS IPM+",
    "highs-simplex": "HiGHS simplex",
}
LEGEND = (
    "The fastest of the repeats that fit into two seconds, or one run; the median of the seeds.",
    "ours: bisimetric.solve, certified. PI: policy iteration on POT's emd with sparse LU,",
    "or on the C core below it, evaluated by sparse LU or by BiCGSTAB.",
    "VI: value iteration with MacQueen's bounds, on POT's C core or emd2; textbook: on emd2, stopped by max |TV - V|.",
    "HiGHS: the fastest of interior point without and with (+) crossover and simplex.",
    "> ended after that many seconds of CPU; † not run, since an easier case was ended.",
)
HIGHS = ("highs-ipm", "highs-ipm-crossover", "highs-simplex")
MORE_WORK_THAN = {  # method: a method that does part of the same work
    "pi-emd-lu": "pi-core-lu",
    "vi-emd2-macqueen": "vi-core-macqueen",
    "vi-emd2": "vi-emd2-macqueen",
    "highs-ipm-crossover": "highs-ipm",
}


def measure(families: Sequence[Sequence[str]], seeds: int, timeout: float, say: Callable[[str], None]) -> list[Row]:
    """One row per instance, seed and method."""
    rows: list[Row] = []
    for family in families:
        for instance in family:
            for seed in range(seeds if instance.split("-")[0] in SEEDED else 1):
                for method in (*METHODS, "ours"):  # ours first and last, because the load of the machine may change
                    easier = _ended_on_easier(rows, family, instance, method)
                    if easier and seed > 0:
                        continue
                    row: Row = {"instance": instance, "seed": seed, "method": method}
                    if easier:
                        row |= {"status": "time-out", "not_run_because_of": easier}
                    else:
                        options = {"discount": DISCOUNT, "tol": TOL, "timeout": timeout, "memory": MEMORY}
                        task = {"name": method, "instance": instance, "seed": seed, **options}
                        row |= in_fresh_process("method", task)
                    if row["status"] == "solved" and row["error"] > WRONG:
                        row["status"] = "wrong"
                    rows.append(row)
                    say(f"{instance} seed {seed} {method}: {row['status']} {row.get('cpu', '')}")
    return rows


def _ended_on_easier(rows: Sequence[Row], family: Sequence[str], instance: str, method: str) -> str:
    """A case that ran out of time and that this one cannot be faster than, if there is one."""
    smaller = family[: family.index(instance) + 1]
    for row in rows:
        if row["status"] != "time-out":
            continue
        if row["method"] == method and row["instance"] in smaller:
            return str(row["instance"])
        if row["method"] == MORE_WORK_THAN.get(method) and row["instance"] == instance:
            return str(row["method"])
    return ""


class Figure(NamedTuple):
    """What a method takes on an instance: medians over seeds, of times and of their ratios to ours."""

    status: str
    cpu: float  # seconds; a lower bound after a time-out
    ratio: float
    memory: float  # bytes above what the process had before
    error: float  # the largest
    method: str  # the fastest of its group
    run: bool


def figures(rows: Sequence[Row], instance: str, timeout: float) -> dict[str, Figure]:
    """The results by column of the tables; the methods of HiGHS share a column, which shows the fastest."""
    ours = _by_seed([row for row in rows if row["instance"] == instance and row["method"] == "ours"], timeout)
    found = {}
    for method in METHODS:
        mine = [row for row in rows if row["instance"] == instance and row["method"] == method]
        if mine:
            found[method] = _figure(mine, ours, timeout)
    highs = [found.pop(method) for method in HIGHS if method in found]
    if highs:
        found["highs"] = min(highs, key=lambda figure: (figure.status != "solved", figure.cpu))
    return found


def _figure(rows: Sequence[Row], ours: dict[int, float], timeout: float) -> Figure:
    unsolved = [row for row in rows if row["status"] != "solved"]
    status = unsolved[0]["status"] if unsolved else "solved"
    seconds = _by_seed(rows, timeout)
    return Figure(
        status,
        median(seconds.values()),
        median(seconds[seed] / ours[seed] for seed in seconds),
        max(row.get("bytes_peak", 0) - row.get("bytes_before", 0) for row in rows),
        max(row.get("error", 0.0) for row in rows),
        rows[0]["method"],
        "not_run_because_of" not in rows[0],
    )


def _by_seed(rows: Sequence[Row], timeout: float) -> dict[int, float]:
    seeds = dict.fromkeys(row["seed"] for row in rows)
    return {seed: min(row.get("cpu", timeout) for row in rows if row["seed"] == seed) for seed in seeds}


def tables(rows: Sequence[Row], timeout: float) -> Iterator[Table]:
    """CPU seconds, the same divided by ours, memory and errors, and the targets."""
    instances = [name for family in FAMILIES for name in family if any(row["instance"] == name for row in rows)]
    by_instance = {name: figures(rows, name, timeout) for name in instances}
    columns = [name for name in (*METHODS, "highs") if any(name in found for found in by_instance.values())]
    head = ["", *("HiGHS" if name == "highs" else METHODS[name] for name in columns)]

    def body(cell: Callable[[Figure], str], names: Sequence[str]) -> list[list[str]]:
        return [
            [TITLES[instance], *(cell(found[name]) if name in found else "" for name in names)]
            for instance, found in by_instance.items()
        ]

    yield Table(f"CPU seconds, γ = {DISCOUNT}, relative gap {TOL:g}, one thread", head, body(_seconds, columns), LEGEND)
    yield Table("Times the CPU of ours", [head[0], *head[2:]], body(_ratio, columns[1:]))
    yield Table("Peak memory in MB above the process before the run", head, body(_memory, columns))
    yield Table(f"Largest relative error (wrong above {WRONG:g})", head, body(_error, columns))


def _seconds(figure: Figure) -> str:
    if figure.status == "time-out":
        return f"> {digits(figure.cpu)}{'' if figure.run else ' †'}"
    if figure.status == "solved":
        return digits(figure.cpu)
    return figure.status if figure.status != "wrong" else f"wrong {digits(figure.cpu)}"


def _ratio(figure: Figure) -> str:
    if figure.status == "time-out":
        return f"> {digits(figure.ratio)}{'' if figure.run else ' †'}"
    return digits(figure.ratio) if figure.status == "solved" else figure.status


def _memory(figure: Figure) -> str:
    return f"{figure.memory / 1e6:.0f}" if figure.status in ("solved", "wrong") else figure.status


def _error(figure: Figure) -> str:
    return f"{figure.error:.0e}" if figure.status in ("solved", "wrong") else figure.status


DENSE = (*FAMILIES[0], *FAMILIES[1])
WALKS = (*FAMILIES[2], *FAMILIES[3])

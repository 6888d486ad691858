"""Which runs to make, and which to leave out.

A run that uses up its CPU seconds is ended. Harder cases are larger problems of the family with the same or a larger
discount. An exact method that was ended before any setting was good enough is not run on harder cases, nor is a method
that does the same with more work; of an approximate method only the setting that was ended, and slower ones, are left
out there. Other seeds count as harder once the first was ended. What is not run gets a row with
the reason. Ours runs before and after all others, since the machine may be busier by then.

Approximate methods take most of the time, since all their settings are tried where none is good enough: they get one
seed. The full study takes 37 minutes on a machine
with other work, with 5 CPU seconds a run; with the default, up to an hour.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.comparison import MEMORY, MORE_WORK_THAN, SEEDED
from benchmarks.measure import rows_of_fresh_process
from benchmarks.pareto.ladder import Case, Limits, reached
from benchmarks.pareto.methods import APPROXIMATE, METHODS, slower
from benchmarks.tables import Row

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


class End(NamedTuple):
    """A rung of a method that was ended: where, and how."""

    instance: str
    seed: int
    discount: float
    rung: int
    status: str

    def covers(self, method: str, instance: str, case: Case, rung: int) -> bool:
        """Whether that rung cannot do better on this case, of the same instance or of a larger one."""
        if case.discount < self.discount:
            return False
        if self.seed not in (0, case.seed):  # the first seed stands for all; another one may be bad luck
            return False
        ladder = METHODS[method].ladder
        return method not in APPROXIMATE or slower(ladder[rung], ladder[self.rung])


class Race:
    """The runs of a family that were ended so far."""

    def __init__(self, options: Row) -> None:
        self._options = options
        self._ends: dict[str, list[End]] = {method: [] for method in METHODS}

    def rows(self, method: str, instance: str, cases: Sequence[Case]) -> list[Row]:
        """The rows of a method on an instance, those of what is not run included."""
        rows: list[Row] = []
        left, easier = list(cases), self._ends[method]
        while left := [case for case in (self._pruned(method, instance, one) for one in left) if case.rungs]:
            task = {"method": method, "instance": instance, "cases": left, **self._options}
            found = rows_of_fresh_process("pareto", task)
            why = found.pop() if "rung" not in found[-1] else None
            left = _after(method, left, found)
            rows += found
            if why is not None:  # it ended before it measured anything, and would do so again
                rows += [{"seed": case.seed, "discount": case.discount, **why} for case in left]
                break
            self._ends[method] = easier + ends(method, instance, rows)
        return rows + self._not_run(method, instance, cases, rows)

    def _covering(self, method: str, instance: str, case: Case, rung: int) -> End | None:
        known = self._ends[method] + self._ends.get(MORE_WORK_THAN.get(method, ""), [])
        return next((end for end in known if end.covers(method, instance, case, rung)), None)

    def _pruned(self, method: str, instance: str, case: Case) -> Case:
        rungs = [rung for rung in case.rungs if self._covering(method, instance, case, rung) is None]
        return case._replace(rungs=rungs)

    def _not_run(self, method: str, instance: str, cases: Sequence[Case], rows: Sequence[Row]) -> list[Row]:
        """One row for each case that might have been good enough if some of its rungs were not left out."""
        made: list[Row] = []
        for case in cases:
            mine = [row for row in rows if (row["seed"], row["discount"]) == case[:2]]
            if any(reached(row) or row["status"] in ENDED for row in mine):
                continue
            run = {row.get("rung") for row in mine}
            for rung in case.rungs:
                end = self._covering(method, instance, case, rung)
                if end is not None and rung not in run:
                    where = {"seed": case.seed, "discount": case.discount}
                    made.append(where | {"status": end.status, "not_run_because_of": end.instance})
                    break
        return made


def measure(study: Study, seeds: int, timeout: float, say: Callable[[str], None]) -> Iterator[list[Row]]:
    """For each instance a row for each look at a rung by each method, and one for what was not run."""
    with TemporaryDirectory() as truths:
        options = {"bounds": Limits(timeout, MEMORY), "truths": truths}
        for family in study.families:
            race = Race(options)
            for instance in family:
                rows: list[Row] = []
                for method in (*METHODS, "ours"):
                    found = race.rows(method, instance, cases_of(study, instance, seeds, method))
                    rows += [{"instance": instance, "method": method} | row for row in found]
                    say(f"{instance} {method}: {_summary(found)}")
                yield rows


def cases_of(study: Study, instance: str, seeds: int, method: str) -> list[Case]:
    """By discount, then by seed; all settings where a picture shows them. Approximate methods get the first seed."""
    number = seeds if instance.split("-")[0] in SEEDED and method not in APPROXIMATE else 1
    ladder = range(len(METHODS[method].ladder))
    made = []
    for discount in study.discounts:
        for seed in range(number):
            every = instance in study.panels and discount == SHOWN and seed == 0
            # Our rough settings are run only where a picture shows them.
            made.append(Case(seed, discount, every, list(ladder if every or method != "ours" else ladder[-1:])))
    return made


def ends(method: str, instance: str, rows: Sequence[Row]) -> list[End]:
    """The rungs that were ended; of an exact method only where no rung was good enough."""
    good = {(row["seed"], row["discount"]) for row in rows if reached(row)}
    return [
        End(instance, row["seed"], row["discount"], row["rung"], row["status"])
        for row in rows
        if row["status"] in ENDED and (method in APPROXIMATE or (row["seed"], row["discount"]) not in good)
    ]


def _after(method: str, cases: Sequence[Case], found: Sequence[Row]) -> list[Case]:
    """The cases that a process did not finish; the first of them with the rungs that it did not run."""
    if not found:
        return list(cases)
    last = found[-1]
    place = next(k for k, case in enumerate(cases) if case[:2] == (last["seed"], last["discount"]))
    case, later = cases[place], list(cases[place + 1 :])
    good = any(reached(row) for row in found if (row["seed"], row["discount"]) == case[:2])
    over = ENDED if method not in APPROXIMATE else ("out of memory",)
    if last["status"] in over or (good and not case.every):
        return later
    rungs = case.rungs[case.rungs.index(last["rung"]) + 1 :]
    return [case._replace(rungs=rungs), *later] if rungs else later


def _summary(rows: Sequence[Row]) -> str:
    good = sum(reached(row) for row in rows)
    run = [row for row in rows if "not_run_because_of" not in row]
    return f"{len(run)} runs, {good} good enough, {sum(row.get('cpu', 0.0) for row in run):.1f} s"

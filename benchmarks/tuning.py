"""The default of the Sinkhorn solvers against plain rounds: errors after 750 rounds, and errors by round.

    error = V^π / V* - 1       of the last coupling π, rounded: between the starts, in the mean, of the largest

Constants were chosen on the first problems; two of them, on when and how couplings are evaluated between projections,
were settled after the further ones had been seen. Their table ends with the ratio to the best of three plain schedules
in each norm. Errors do not depend on the machine; CPU seconds are compared within one process.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import bisimetric as bm
from benchmarks.instances import problem
from benchmarks.measure import in_fresh_process
from benchmarks.tables import Row, Table
from bisimetric.experiments.rounds import relative_error, truth, values

DISCOUNT = 0.95
INSTANCES = ("paper-40", "dense-20")
LAST = 750
FIFTH = LAST // 5
LOOKS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750)
QUICK_LOOKS = (1, 3, 10, 30, FIFTH, LAST)
BASELINE, DEFAULT = "η = 1", "default"
METHODS: dict[str, Callable[..., Any]] = {"svi": bm.SinkhornValueIteration, "spi": bm.SinkhornPolicyIteration}
REPEATS = 3  # of timed runs, in turn; the fastest counts
LEAST_ERROR = 1e-9  # relative; V* is known to about this, so smaller ones count as this


class Setting(NamedTuple):
    """Options of a run; `whole` ones depend on the number of rounds, so each number is a run of its own."""

    method: str
    options: dict[str, Any]
    whole: bool = False


SETTINGS = {
    "η = 0.1": Setting("svi", {"step_size": 0.1}),
    BASELINE: Setting("svi", {"step_size": 1.0}),
    "η = 10": Setting("svi", {"step_size": 10.0}),
    "η = 100": Setting("svi", {"step_size": 100.0}),
    "η = 1/√k": Setting("svi", {"step_size": bm.Decaying(1.0)}),
    "η = 10/√k": Setting("svi", {"step_size": bm.Decaying(10.0)}),
    "η = 100/√k": Setting("svi", {"step_size": bm.Decaying(100.0)}),
    "plain auto": Setting("svi", {"projections": 0}),
    "plain auto, m = 2": Setting("svi", {"projections": 0, "inner_steps": 2}),
    "plain auto, m = 5": Setting("svi", {"projections": 0, "inner_steps": 5}),
    "SPI, η = 1": Setting("spi", {"step_size": 1.0}),
    "SPI, plain auto": Setting("spi", {"projections": 0}),
    DEFAULT: Setting("svi", {}, whole=True),
    "SPI, default": Setting("spi", {}, whole=True),
}
QUICK_SETTINGS = (BASELINE, "plain auto", DEFAULT)
PLAIN = ("plain auto", BASELINE, "η = 10/√k")
COMPARED = (*PLAIN, DEFAULT, "SPI, default")


class Case(NamedTuple):
    """A problem: two of the paper's 4-rooms, or a name of `benchmarks.instances`."""

    name: str
    discount: float
    seed: int = 0
    tuned: bool = False  # constants were chosen on it

    def problem(self) -> bm.Problem:
        """The problem itself."""
        rooms = self.name.split("–")
        if len(rooms) == 2:
            source, target = (bm.environments.four_rooms(name) for name in rooms)
            return bm.Problem(source, target, discount=self.discount)
        return problem(self.name, self.discount, self.seed)

    def title(self) -> str:
        """For a table."""
        return f"{self.name}{f', seed {self.seed}' if self.seed else ''}, γ = {self.discount:g}"


CASES = (
    Case("p1–p0", 0.95, tuned=True),
    Case("dense-25", 0.95, tuned=True),
    Case("dense-50", 0.95, tuned=True),
    Case("uniform-25", 0.99, tuned=True),
    Case("p3–p7", 0.9),
    Case("p2–p9", 0.99),
    Case("p6–p1", 0.5),
    Case("dense-18", 0.5, 8),
    Case("dense-40", 0.97, 12),
    Case("uniform-30", 0.6, 5),
    Case("sparse-35", 0.97, 8),
    Case("grid-7", 0.97),
    Case("rooms-9", 0.99),
    Case("classic-104", 0.9),
)
QUICK_CASES = (CASES[0], CASES[6])


def measure(quick: bool, say: Callable[[str], None]) -> list[Row]:
    """One row per case, and one curve per instance and setting."""
    rows: list[Row] = []
    for case in QUICK_CASES if quick else CASES:
        rows.append({"kind": "case"} | in_fresh_process("tuning-case", case._asdict()))
        say(f"{case.title()}: {_percent(rows[-1]['errors'][DEFAULT])}")
    names, looks = (QUICK_SETTINGS, QUICK_LOOKS) if quick else (tuple(SETTINGS), LOOKS)
    for instance in INSTANCES:
        question = problem(instance, DISCOUNT)
        for name in names:
            found = errors(question, SETTINGS[name], looks)
            rows.append({"kind": "curve", "instance": instance, "setting": name, "rounds": list(looks), "error": found})
            say(f"{instance}, {name}: {found[-1]:.2g}")
    return rows


def case_task(name: str, discount: float, seed: int, tuned: bool) -> Row:
    """The errors of each setting after LAST rounds in three norms, certified gaps, and CPU seconds."""
    case = Case(name, discount, seed, tuned)
    question = case.problem()
    exact = truth(question)
    found: dict[str, list[float | None]] = {}
    gaps: dict[str, float] = {}
    for setting in COMPARED:
        solution = bm.solve(question, solver(SETTINGS[setting], LAST))
        found[setting], gaps[setting] = norms(question, solution.value, exact), solution.relative_gap
    return case._asdict() | {"errors": found, "gaps": gaps, "cpu": _cpu(question, COMPARED)}


def _cpu(question: bm.Problem, names: Sequence[str]) -> dict[str, float]:
    """CPU seconds of a solve with each setting."""
    seconds = dict.fromkeys(names, math.inf)
    for _ in range(REPEATS):
        for name in names:
            began = time.process_time()
            bm.solve(question, solver(SETTINGS[name], LAST))
            seconds[name] = min(seconds[name], time.process_time() - began)
    return seconds


def solver(setting: Setting, rounds: int) -> Any:
    """The solver of a setting."""
    return METHODS[setting.method](rounds=rounds, **setting.options)


def norms(question: bm.Problem, value: Any, exact: Any) -> list[float | None]:
    """Errors between the starts (None without starts or at distance 0), in the mean, and of the largest distance."""
    source, target, between = question.source.start, question.target.start, None
    if source is not None and target is not None:
        law = np.outer(source, target)
        if (exact * law).any():
            between = float(((value - exact) * law).sum() / (exact * law).sum())
    return [between, float((value - exact).mean() / exact.mean()), relative_error(value, exact)]


def errors(question: bm.Problem, setting: Setting, looks: Sequence[int]) -> list[float]:
    """The largest error after these numbers of rounds."""
    exact = truth(question)
    if setting.whole:
        return [relative_error(bm.solve(question, solver(setting, k)).value, exact) for k in looks]
    run = solver(setting, looks[-1] + 1)
    return [relative_error(value, exact) for _, value in values(question, run, looks, exact)]


def ratios(row: Row, name: str = DEFAULT) -> list[float]:
    """The error of a setting divided by that of the best plain one, in each norm that there is."""
    found = []
    for k, mine in enumerate(row["errors"][name]):
        if mine is not None:
            best = min(row["errors"][plain][k] for plain in PLAIN)
            found.append(max(mine, LEAST_ERROR) / max(best, LEAST_ERROR))
    return found


def reached(row: Row, error: float) -> int | None:
    """The first of these rounds after which the error is at most this."""
    return next((k for k, found in zip(row["rounds"], row["error"], strict=True) if found <= error), None)


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """Errors after LAST rounds, and for each instance the rounds to the final error of the baseline."""
    cases = [row for row in rows if row["kind"] == "case"]
    for tuned, title in ((True, "Problems that constants were chosen on"), (False, "Further problems")):
        mine = [row for row in cases if row["tuned"] == tuned]
        if mine:
            yield _case_table(f"{title}: errors in % after {LAST} rounds, starts / mean / largest", mine)
    curves = [row for row in rows if row["kind"] == "curve"]
    for instance in dict.fromkeys(row["instance"] for row in curves):
        own = {row["setting"]: row for row in curves if row["instance"] == instance}
        goal = own[BASELINE]["error"][-1]
        body = []
        for name, row in own.items():
            at = dict(zip(row["rounds"], row["error"], strict=True))
            rounds = reached(row, goal)
            body.append([name, f"{at[FIFTH]:.2g}", f"{at[LAST]:.2g}", f"≤ {rounds}" if rounds else f"> {LAST}"])
        head = ["", f"error, {FIFTH} rounds", f"{LAST} rounds", f"rounds to {goal:.3f}"]
        yield Table(f"{instance}, γ = {DISCOUNT}: max(V^π - V*)/max V*", head, body)


def _case_table(title: str, rows: Sequence[Row]) -> Table:
    body = []
    for row in rows:
        found = [_percent(row["errors"][name]) for name in COMPARED]
        gap, before = (f"{100 * row['gaps'][name]:.2g}" for name in (DEFAULT, PLAIN[0]))
        cpu = row["cpu"][DEFAULT] / row["cpu"][PLAIN[0]]
        case = Case(row["name"], row["discount"], row["seed"], row["tuned"])
        body.append([case.title(), *found, f"{max(ratios(row)):.2f}", before, gap, f"{cpu:.2f}"])
    every = [ratio for row in rows for ratio in ratios(row)]
    head = ["", *COMPARED, "ratio", "gap, plain auto", "gap, default", "CPU"]
    return Table(title, head, body, (
        "ratio: of the default's error to the smallest of the three plain schedules', in the norm where it is largest;",
        f"over all problems and norms at most {max(every):.2f}, geometric mean {_mean(every):.3f}.",
        "gap: certified, in % of the largest bound. CPU: of the default's solve, divided by that of plain auto.",
    ))  # fmt: skip


def _mean(numbers: Sequence[float]) -> float:
    return math.exp(sum(map(math.log, numbers)) / len(numbers))


def _percent(found: Sequence[float | None]) -> str:
    return " / ".join("–" if error is None else f"{100 * error:.2g}" for error in found)

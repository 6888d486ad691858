"""Step sizes, and operator applications and projections per round: the error by round.

    error = max(V^π - V*) / max V*       of the last coupling π, rounded, after k half projections

The default must reach the error at which constant η = 1 ends after LAST rounds in a fifth of those rounds, and be below
half of it at the end. Errors do not depend on the machine, so everything runs in this process.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import bisimetric as bm
from benchmarks.instances import problem
from benchmarks.tables import Row, Table
from bisimetric.experiments.rounds import relative_error, truth, values

DISCOUNT = 0.95
INSTANCES = ("paper-40", "dense-20")
LAST = 750
FIFTH = LAST // 5
LOOKS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100, 150, 200, 300, 500, 750)
QUICK_LOOKS = (1, 3, 10, 30, FIFTH, LAST)
BASELINE, DEFAULT = "η = 1", "auto"
METHODS: dict[str, Callable[..., Any]] = {"svi": bm.SinkhornValueIteration, "spi": bm.SinkhornPolicyIteration}


class Setting(NamedTuple):
    """Options of a run, and the number (even) of half projections of an unchanged kernel after each round."""

    method: str
    options: dict[str, Any]
    extra: int = 0


SETTINGS = {
    "η = 0.1": Setting("svi", {"step_size": 0.1}),
    BASELINE: Setting("svi", {"step_size": 1.0}),
    "η = 10": Setting("svi", {"step_size": 10.0}),
    "η = 100": Setting("svi", {"step_size": 100.0}),
    "η = 1/√k": Setting("svi", {"step_size": bm.Decaying(1.0)}),
    "η = 10/√k": Setting("svi", {"step_size": bm.Decaying(10.0)}),
    "η = 100/√k": Setting("svi", {"step_size": bm.Decaying(100.0)}),
    DEFAULT: Setting("svi", {}),
    "auto, m = 2": Setting("svi", {"inner_steps": 2}),
    "auto, m = 5": Setting("svi", {"inner_steps": 5}),
    "auto, 2 extra projections": Setting("svi", {}, 2),
    "SPI, η = 1": Setting("spi", {"step_size": 1.0}),
    "SPI, auto": Setting("spi", {}),
}
QUICK_SETTINGS = (BASELINE, DEFAULT)


def measure(names: Sequence[str], looks: Sequence[int], say: Callable[[str], None]) -> list[Row]:
    """One curve per instance and setting."""
    rows = []
    for instance in INSTANCES:
        question = problem(instance, DISCOUNT)
        for name in names:
            found = errors(question, SETTINGS[name], looks)
            rows.append({"instance": instance, "setting": name, "rounds": list(looks), "error": found})
            say(f"{instance}, {name}: {found[-1]:.2g}")
    return rows


def errors(question: bm.Problem, setting: Setting, looks: Sequence[int]) -> list[float]:
    """The error after these numbers of half projections."""
    exact = truth(question)
    solver = METHODS[setting.method](rounds=looks[-1] + 1, **setting.options)
    return [relative_error(value, exact) for _, value in values(question, solver, looks, exact, setting.extra)]


def reached(row: Row, error: float) -> int | None:
    """The first of these rounds after which the error is at most this."""
    return next((k for k, found in zip(row["rounds"], row["error"], strict=True) if found <= error), None)


def tables(rows: Sequence[Row]) -> Iterator[Table]:
    """The errors of each setting, and its rounds to the final error of the baseline."""
    for instance in dict.fromkeys(row["instance"] for row in rows):
        mine = {row["setting"]: row for row in rows if row["instance"] == instance}
        goal = mine[BASELINE]["error"][-1]
        body = []
        for name, row in mine.items():
            at = dict(zip(row["rounds"], row["error"], strict=True))
            rounds = reached(row, goal)
            body.append([name, f"{at[FIFTH]:.3f}", f"{at[LAST]:.3f}", f"≤ {rounds}" if rounds else f"> {LAST}"])
        head = ["", f"error, {FIFTH} rounds", f"{LAST} rounds", f"rounds to {goal:.3f}"]
        notes = (f"Wanted of auto: at most {goal:.3f} after {FIFTH} rounds and {goal / 2:.3f} after {LAST}.",)
        yield Table(f"{instance}, γ = {DISCOUNT}: max(V^π - V*)/max V*", head, body, notes)

"""What one process measures: a method on one instance, for each seed and discount its settings from rough to fine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from math import inf
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

import bisimetric as bm
from benchmarks import outcomes
from benchmarks.instances import COMPILATION, WARM_UP, WARM_UP_OF_PEERS, problem
from benchmarks.measure import limits, repeated, timed
from benchmarks.pareto.methods import ENOUGH_ERROR, METHODS, Method
from benchmarks.peers import Floats
from benchmarks.tables import Row

ENOUGH = 0.25  # CPU seconds of repeats; there are at least three
LONG = 0.5  # CPU seconds of a run that is not repeated
OURS_LONGER = 10.0  # our limit over that of a peer: every comparison needs our answer
STALLED = 0.9  # a run whose error is above this share of that at the last look is ended


class Limits(NamedTuple):
    """Limits of a run: CPU seconds and bytes."""

    seconds: float
    memory: int


class Case(NamedTuple):
    """A seed and a discount, whether a picture shows all settings there, and which rungs of the ladder to run."""

    seed: int
    discount: float
    every: bool
    rungs: Sequence[int]


class Question(NamedTuple):
    """A problem, its distances, and whether fast runs are repeated even if they are not good enough."""

    problem: bm.Problem
    truth: Floats
    every: bool


def runs(
    method: str, instance: str, cases: Sequence[Sequence[object]], bounds: Sequence[float], truths: str
) -> Iterator[Row]:
    """For each case a row for each look at a rung, up to the first that is good enough unless all are shown.

    Cases and bounds are fields of `Case` and `Limits`. Ours comes first and leaves the distances that errors are
    against in the folder `truths`.
    """
    chosen, bound = METHODS[method], Limits(*bounds)  # type: ignore[arg-type]
    with limits(bound.seconds + COMPILATION, None):
        for tiny in WARM_UP if method == "ours" else WARM_UP_OF_PEERS:
            next(chosen.run(problem(tiny, 0.5), chosen.ladder[0]))
    if method == "ours":
        bound = bound._replace(seconds=OURS_LONGER * bound.seconds)
    for case in (Case(*fields) for fields in cases):  # type: ignore[arg-type]
        made = problem(instance, case.discount, case.seed)
        truth = _truth(made, Path(truths) / f"{instance}-{case.seed}-{case.discount}.npy")
        where = {"seed": case.seed, "discount": case.discount, "states": made.shape[0]}
        for rung in case.rungs:
            row: Row = {}
            for row in _looks(chosen, rung, Question(made, truth, case.every), bound):
                yield where | row
            if row["status"] == "out of memory" or (reached(row) and not case.every):
                break


def reached(row: Row) -> bool:
    """Whether the distances, or the policy, of this run are good enough."""
    return row["status"] == "solved" and smallest_error(row) <= ENOUGH_ERROR


def smallest_error(row: Row) -> float:
    """The better one of the errors of the distances and of the policy."""
    return float(min(row[kind] for kind in ("error", "policy_error") if kind in row))


def _truth(question: bm.Problem, path: Path) -> Floats:
    if not path.exists():
        np.save(path, bm.solve(question).value)
    found: Floats = np.load(path)
    return found


def _looks(method: Method, rung: int, question: Question, bound: Limits) -> Iterator[Row]:
    """A row for each look until the run is over, good enough or stalled; before each one that says it has begun."""
    setting = method.ladder[rung]
    running = method.run(question.problem, setting)
    spent, before, place = 0.0, inf, 0
    row: Row = {"rung": rung, "setting": setting}
    while True:
        yield row | {"status": "begun"}
        try:
            with limits(bound.seconds - spent, bound.memory):
                look, seconds = timed(lambda: next(running, None))
            if look is None:
                return
            spent += seconds["cpu"]
            found: Row = {"status": "solved", "cpu": spent, **outcomes.error(look.outcome, question.truth)}
        except (MemoryError, bm.errors.NotEnoughMemory):
            yield row | {"status": "out of memory"}
            return
        except (ArithmeticError, RuntimeError, Warning, np.linalg.LinAlgError) as error:
            yield row | {"status": "failed", "detail": str(error)}
            return
        if (question.every or reached(found)) and spent < LONG:
            found["cpu"] = _again(method, rung, question.problem, place, max(ENOUGH, 2.5 * spent))
        if look.outcome.warnings:
            found["warnings"] = look.outcome.warnings
        yield row | found | {"setting": look.setting}
        if reached(found) or smallest_error(found) > STALLED * before:
            return
        before, place = smallest_error(found), place + 1


def _again(method: Method, rung: int, made: bm.Problem, place: int, enough: float) -> float:
    """The median CPU seconds of repeats up to this look."""

    def work() -> object:
        return next(islice(method.run(made, method.ladder[rung]), place, None))

    return median(run["cpu"] for run in repeated(work, enough)[1])

"""What one process measures: a method on one instance, for each seed and discount its settings from rough to fine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np

import bisimetric as bm
from benchmarks import outcomes
from benchmarks.instances import COMPILATION, WARM_UP, WARM_UP_OF_PEERS, problem
from benchmarks.measure import limits, peak_bytes, repeated, resident_bytes, timed
from benchmarks.outcomes import Outcome
from benchmarks.pareto.methods import ENOUGH_ERROR, METHODS, Method, Setting
from benchmarks.peers import Floats
from benchmarks.tables import Row

ENOUGH = 0.4  # CPU seconds of repeats, for three of them at least
LONG = 2.0  # CPU seconds of a run that is not repeated
OURS_LONGER = 10.0  # times the limit of a peer: without our answer there is nothing to compare with


def runs(
    method: str, instance: str, cases: Sequence[tuple[int, float, bool]], timeout: float, memory: int, truths: str
) -> Iterator[Row]:
    """For each case (seed, discount, all settings?) a row a setting, up to the first that is good enough.

    Ours comes first and leaves the distances that errors are against in the folder `truths`.
    """
    chosen = METHODS[method]
    with limits(timeout + COMPILATION, None):
        for tiny in WARM_UP if method == "ours" else WARM_UP_OF_PEERS:
            chosen.run(problem(tiny, 0.5), chosen.ladder[0])
    limit = timeout * (OURS_LONGER if method == "ours" else 1.0)
    for seed, discount, every in cases:
        question = problem(instance, discount, seed)
        truth = _truth(question, Path(truths) / f"{instance}-{seed}-{discount}.npy")
        # What ours takes for a rough answer is only of interest where a picture shows it.
        for setting in chosen.ladder[-1:] if method == "ours" and not every else chosen.ladder:
            row: Row = {"seed": seed, "discount": discount, "setting": setting, "states": question.shape[0]}
            yield row | {"status": "begun"}
            row |= _run(chosen, question, setting, truth, every, limit, memory)
            yield row
            if row["status"] == "out of memory" or (reached(row) and not every):
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


def _run(
    method: Method, question: bm.Problem, setting: Setting, truth: Floats, every: bool, limit: float, memory: int
) -> Row:
    before = resident_bytes()
    outcome: Outcome
    try:
        with limits(limit, memory):
            outcome, seconds = timed(lambda: method.run(question, setting))
        peak = peak_bytes()
        row: Row = {"status": "solved", "cpu": seconds["cpu"], **outcomes.error(outcome, truth)}
    except (MemoryError, bm.errors.NotEnoughMemory):
        return {"status": "out of memory"}
    except (ArithmeticError, RuntimeError, Warning) as error:
        return {"status": "failed", "detail": str(error)}
    if (every or reached(row)) and seconds["cpu"] < LONG:
        enough = max(ENOUGH, 2.5 * seconds["cpu"])
        row["cpu"] = median(run["cpu"] for run in repeated(lambda: method.run(question, setting), enough)[1])
    row |= {"bytes_before": before, "bytes_peak": peak}  # the peak since the process began
    return row | ({"warnings": outcome.warnings} if outcome.warnings else {})

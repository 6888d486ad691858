"""The record of a solve in a file: the bounds that it claims, the solver, how it ended, and its history."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bisimetric.certificates.interval import Certificate
from bisimetric.errors import FileFormatError
from bisimetric.io.document import Document, Fields, stream
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.solvers.base import Diagnostics
from bisimetric.solving.history import Status, Step
from bisimetric.solving.solution import Answer

RECORD_KEYS = ("solver", "status", "history", "tol", "value", "lower", "upper")
RECORD_ARRAYS = ("value", "lower", "upper")
DIAGNOSTICS = len(Diagnostics._fields)
LENGTHS = (3, 3 + DIAGNOSTICS, 3 + DIAGNOSTICS + 3)  # of a line of the history: plain, in older files, with a distance
# By how much claimed bounds may be tighter than proved ones, times max(upper) and 1/(1 - γ): another processor rounds
# differently; and, per cell of a pair, bounds found on classes of states were widened for shorter sums.
RECHECK_SLACK = 256 * UNIT_ROUNDOFF
SLACK_PER_CELL = 8 * UNIT_ROUNDOFF


class StoredRecord(NamedTuple):
    """The record of a solve as a file has it."""

    solver: str
    status: Status
    history: tuple[Step, ...]
    tol: float | None
    claimed: Certificate


def record_document(answer: Answer, solver: str, unsolved: Any) -> Document:
    """The fields of a record; bounds at pairs that were not solved are 0."""
    value, lower, upper = (
        stream(bound if unsolved is None else np.where(unsolved, 0.0, bound), "<f8")
        for bound in (answer.value, answer.computation.lower, answer.computation.upper)
    )
    return {
        "solver": solver,
        "status": answer.status.name,
        "history": [_step_document(step) for step in answer.history],
        "value": value,
        "lower": lower,
        "upper": upper,
        **({} if answer.tol is None else {"tol": float(answer.tol)}),
    }


def record_from(fields: Fields, shape: tuple[int, int]) -> StoredRecord:
    """The record that the fields describe; its bounds are not proved yet."""
    value, lower, upper = (fields.floats(key, *shape, least=0.0) for key in RECORD_ARRAYS)
    if not ((lower <= value) & (value <= upper)).all():
        raise FileFormatError("value is not between lower and upper everywhere")
    return StoredRecord(
        fields.of_kind("solver", str),
        _status(fields),
        tuple(_step(line, k) for k, line in enumerate(fields.of_kind("history", list))),
        _tol(fields),
        Certificate(value, lower, upper),
    )


def wider_bounds(claimed: Certificate, proved: Certificate, relative_slack: float, steps: float) -> Certificate:
    """The wider of the claimed and the proved bounds; raises if the claims are tighter by more than rounding.

    Rounding is carried on for so many steps: 1/(1 - γ), or what stands for it without a discount.
    """
    slack = relative_slack * float(proved.upper.max()) * steps
    if not ((claimed.lower <= proved.lower + slack) & (claimed.upper >= proved.upper - slack)).all():
        raise FileFormatError("the stored bounds are not supported by the stored coupling and potentials")
    lower: Floats = np.minimum(claimed.lower, proved.lower)
    upper: Floats = np.maximum(claimed.upper, proved.upper)
    return Certificate(claimed.value, lower, upper, proved.shortfall)


def _tol(fields: Fields) -> float | None:
    """The tolerance; older files do not have it."""
    if not fields.has("tol"):
        return None
    tol = fields.number("tol")
    if not 0.0 < tol < math.inf:
        raise FileFormatError(f"tol is {tol!r}, expected a positive number")
    return tol


def _status(fields: Fields) -> Status:
    name = fields.of_kind("status", str)
    if name not in Status.__members__:
        raise FileFormatError(f"status is {name!r}, expected one of {', '.join(Status.__members__)}")
    return Status[name]


def _step(line: object, k: int) -> Step:
    """A step from [step, gap, seconds], which diagnostics and then distance, low and high may follow; see LENGTHS."""
    if isinstance(line, list) and len(line) in LENGTHS:
        step, gap, seconds, *facts = line
        gap = math.inf if gap is None else gap
        known = [number for number in (gap, seconds, *facts) if number is not None]
        if type(step) is int and seconds is not None and all(type(number) in (int, float) for number in known):
            try:
                numbers = [fact if fact is None else float(fact) for fact in facts]
                measured = Diagnostics(*numbers[:DIAGNOSTICS])._asdict()
                made = Step(step, float(gap), float(seconds), **measured)
            except OverflowError:
                pass
            else:
                distance, low, high = numbers[DIAGNOSTICS:] or (None, None, None)
                interval = None if low is None or high is None else (low, high)
                return made._replace(distance=distance, interval=interval)
    raise FileFormatError(f"history[{k}] is not [step, gap, seconds] with a whole number and two numbers")


def _step_document(step: Step) -> list[float | None]:
    """The first three fields, and the others if there are any."""
    line = [int(step.step), _finite(step.gap), float(step.seconds)]
    facts = [*step[3 : 3 + DIAGNOSTICS], step.distance, *(step.interval or (None, None))]
    return line if all(fact is None for fact in facts) else [*line, *(_finite(fact) for fact in facts)]


def _finite(number: float | None) -> float | None:
    return float(number) if number is not None and math.isfinite(number) else None

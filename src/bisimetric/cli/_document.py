"""An outcome as the JSON object whose keys `bisimetric distance --help` lists."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

from bisimetric.cli._outcome import Outcome, has_starts
from bisimetric.solving.solution import Step
from bisimetric.views.explanation import Part


def as_document(outcome: Outcome) -> dict[str, Any]:
    """The object; None where a number does not exist or is not finite."""
    solution = outcome.solution
    problem = solution.problem
    starts = has_starts(solution)
    lower, upper = solution.interval if starts else (None, None)
    explanation = outcome.explanation
    document = {
        "distance": solution.distance if starts else None,
        "lower": lower,
        "upper": upper,
        "gap": solution.gap,
        "relative_gap": solution.relative_gap,
        "tol": solution.tol,
        "tol_reached": solution.reached_tol,
        "source": outcome.source,
        "target": outcome.target,
        "states": list(problem.shape),
        "discount": problem.discount,
        "normalised": problem.normalised,
        "solver": solution.solver,
        "status": solution.status.name,
        "message": solution.status.value,
        "steps": len(solution.history),
        "history": [_line(step) for step in solution.history],
        "seconds": {"cpu": outcome.expense.cpu, "wall": outcome.expense.wall},
        "memory_bytes": outcome.expense.memory,
        "explain": None if explanation is None else [_part(part) for part in explanation.parts],
        "explain_rest": None if explanation is None else explanation.rest,
        "summary": None if outcome.summary is None else asdict(outcome.summary),
        "limit": None if outcome.verdict is None else {"fail_above": outcome.limit, "verdict": outcome.verdict.value},
    }
    return {key: finite(value) for key, value in document.items()}


def _line(step: Step) -> dict[str, Any]:
    """Step, gap and seconds, and what else was measured."""
    always = ("step", "gap", "seconds")
    return {name: fact for name, fact in step._asdict().items() if name in always or fact is not None}


def finite(value: Any) -> Any:
    """The same with None for numbers that are not finite."""
    if isinstance(value, dict):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _part(part: Part) -> dict[str, Any]:
    """The fields of a part; chains have no actions."""
    return {key: value for key, value in asdict(part).items() if value is not None}

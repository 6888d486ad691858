"""The methods of the running-time experiment: the paper's settings, and ladders of settings to tune them by.

A ladder is a list of settings from rough to fine. With each of them the method runs until it reaches the wanted error,
ends, or has run all rounds; the first setting that reaches the error counts, with the rounds that it took. In the
ladders the entropic methods keep their scalings from round to round, which the paper says would make them competitive,
and EntropicOTC applies the evaluation operator five times a round instead of a thousand: it needs the same number of
rounds, each in a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, NamedTuple

from bisimetric.experiments.rounds import Approximate, relative_error, spaced_rounds, values
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem
from bisimetric.solvers import (
    EntropicPolicyIteration,
    SinkhornBellman,
    SinkhornPolicyIteration,
    SinkhornValueIteration,
)

SVI, SPI, DWL, OTC, OURS = "SVI", "SPI", "dWL", "EntropicOTC", "exact (ours)"
METHODS = (SVI, SPI, DWL, OTC)
PROPOSED = {SVI: SinkhornValueIteration, SPI: SinkhornPolicyIteration}  # those that the paper proposes

PAPER: Mapping[str, Approximate] = {
    SVI: SinkhornValueIteration(step_size=1.0, rounds=500),
    SPI: SinkhornPolicyIteration(step_size=1.0, rounds=500),
    DWL: SinkhornBellman(regularisation=0.01, rounds=1000, projections=100, warm_start=False),
    OTC: EntropicPolicyIteration(sharpness=200.0, rounds=100, evaluation_steps=1000, projections=100, warm_start=False),
}
LADDERS: Mapping[str, Sequence[Approximate]] = {
    SVI: [SinkhornValueIteration(rounds=8000, projections=0)],
    SPI: [SinkhornPolicyIteration(rounds=8000, projections=0)],
    DWL: [
        SinkhornBellman(regularisation=epsilon, rounds=1000, projections=projections)
        for epsilon, projections in ((0.1, 4), (0.03, 4), (0.01, 10), (0.003, 20), (0.001, 50), (0.0003, 100))
    ],
    OTC: [
        EntropicPolicyIteration(sharpness=xi, rounds=100, evaluation_steps=5, projections=projections)
        for xi, projections in ((10.0, 10), (30.0, 20), (100.0, 50), (300.0, 100), (1000.0, 200), (3000.0, 400))
    ],
}
LOOKS = 12  # rounds per factor of ten at which the error is computed


class Rung(NamedTuple):
    """A setting that reaches an error, with the number of rounds that it needs."""

    solver: Approximate
    error: float


def climb(
    problem: Problem, ladder: Sequence[Approximate], exact: Floats, targets: Sequence[float]
) -> dict[float, Rung | None]:
    """For each target error the first setting that reaches it, or None."""
    found: dict[float, Rung | None] = dict.fromkeys(targets)
    for solver in ladder:
        rounds: int = solver.rounds  # type: ignore[attr-defined]
        looks = sorted({*range(1, 11), *spaced_rounds(rounds, LOOKS)})
        for k, value in values(problem, solver, looks, exact):
            error = relative_error(value, exact)
            for target, rung in found.items():
                if rung is None and error <= target:
                    found[target] = Rung(replace(solver, rounds=k), error)  # type: ignore[call-arg]
            if None not in found.values():
                return found
    return found


def options(solver: Any) -> dict[str, Any]:
    """The options of a solver by name."""
    return {field.name: getattr(solver, field.name) for field in fields(solver)}

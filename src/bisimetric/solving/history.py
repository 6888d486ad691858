"""How a solve went: its status, and what happened step by step."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Status(Enum):
    """How a solve ended; the value is the message."""

    SOLVED = "the certified relative gap is within the tolerance"
    COMPLETED = "an approximate solver ran its rounds, or came to rest before; the interval says how close it is"
    STEP_LIMIT = "the step limit came before the tolerance was reached"
    TIME_LIMIT = "the time limit came before the tolerance was reached; the interval is what was proved by then"
    STALLED = "rounding keeps the gap above the tolerance; more steps do not help"
    INTERRUPTED = "the solve was interrupted; the interval holds for the last finished sweep"
    FAILED = "the solve ended with an error, or its process was lost; nothing is known"

    def __repr__(self) -> str:
        return f"Status.{self.name}"  # short, for arrays of them


class Step(NamedTuple):
    """One line of a solve's history.

    What follows on `seconds` is known at looks of the checker, and None in other steps. The checker looks at Sinkhorn
    solvers after 1, 2, 4, 8, … rounds and the last, and at all solvers where `solve(…, look_every=…)` asks for it. Only
    Sinkhorn solvers have violations, mean cost and the bounds of theorems.

    Attributes
    ----------
    step : int
        Counted from 1.
    gap : float
        What the solver believes max(upper - lower) to be, in the units of the cost; the certified one is
        `solution.gap`.
    seconds : float
        Since the solve began, without the compilation of kernels.
    violation_x, violation_y : float or None
        The largest 1-norm by which source or target marginals are off; they bound the paper's δ.
    mean_cost : float or None
        With output="average": Σ <μ_k, c>/(K(1-γ)), which is above the value of the independent starts by the mean
        regret.
    regret_bound : float or None
        The theorem's bound on that difference, for constant steps.
    error_bound : float or None
        The theorem's bound on the error of the averaged output, for constant steps and inner steps to convergence.
    distance : float or None
        The estimate of the distance between the starts, if both chains have one.
    interval : (float, float) or None
        Certified bounds on that distance.
    """

    step: int
    gap: float
    seconds: float
    violation_x: float | None = None
    violation_y: float | None = None
    mean_cost: float | None = None
    regret_bound: float | None = None
    error_bound: float | None = None
    distance: float | None = None
    interval: tuple[float, float] | None = None

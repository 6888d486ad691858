"""The common part of the paper's two methods: rounds that alternate between the sides, options, output.

    round k:   E ← the expected future cost from each pair under π_k             (each solver has its own estimate)
               π_{k+1} ∝ π_k · exp(-η_k γ E), with the marginals of the source (k odd) or of the target (k even)

The output is the last coupling, rounded to valid marginals and evaluated, or the coupling of the averaged occupancies,
for which the theorems hold. A solver stops after a given number of rounds; the checker looks at rounds 1, 2, 4, 8, …
and at the last.

Reference: Calo et al. 2024, Section 4 and Appendix D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bisimetric._support.options import as_float, as_index, is_positive, one_of, shown, whole
from bisimetric.couplings.averaged import Average
from bisimetric.couplings.factored import INITIAL, LARGEST_EXPONENT, LEAST_STEP, Factored, largest_exponent
from bisimetric.couplings.rounded import RoundedWitness, evaluate, evaluation_target
from bisimetric.couplings.witness import Witness
from bisimetric.errors import InvalidOption
from bisimetric.kernels.layout import Rows
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.base import Diagnostics, Iterate, Solver
from bisimetric.solvers.sinkhorn import step_size
from bisimetric.solvers.sinkhorn.step_size import Schedule, StepSize, Theorem

OUTPUTS = ("last", "average")
DEFAULT_ROUNDS = 750
MAX_INNER_STEPS = 100_000  # limit of an inner iteration that runs to a tolerance


@dataclass(frozen=True, slots=True, eq=False)
class Round(Iterate[Witness]):
    """The state of a run after `k` rounds; the couplings change in place."""

    k: int
    schedule: Schedule
    factored: Factored
    expected: tuple[Floats, Floats]  # of the last source round and of the last target round
    average: Average | None
    theorem: Theorem
    entropy: float  # a bound on H(μ*|μ_1)

    @property
    def finished(self) -> bool:
        return self.k >= self.schedule.rounds

    @property
    def due(self) -> bool:
        """True at powers of two, and at the end."""
        return self.finished or self.k & (self.k - 1) == 0

    def diagnostics(self) -> Diagnostics:
        """Constraint violations of the current couplings, their mean cost, and the theorem's bounds."""
        bellman, average, k = self.factored.bellman, self.average, self.k
        off_x, off_y = (float(self.factored.marginals(side).max()) for side in (True, False))
        gamma, mean = bellman.discount, None
        if average is not None and average.count:
            mean = average.paid / bellman.scale / (average.count * (1.0 - gamma))
        if not self.schedule.constant or average is None:  # the theorems hold for averages and constant steps
            return Diagnostics(off_x, off_y, mean)
        given = (float(bellman.cost.max()), gamma, self.entropy, self.schedule.step(1), k)
        regret = self.theorem.regret(*given) / (k * (1.0 - gamma))
        return Diagnostics(off_x, off_y, mean, regret, self.theorem.error(*given))

    def estimate(self) -> Floats:
        """The value of the output's coupling."""
        return self.value


@dataclass(frozen=True, slots=True)
class Alternating(Solver[Bellman, Round]):
    """Base of the two methods, which differ in `_expect`."""

    default_tol: ClassVar[float] = 0.0  # runs all its rounds
    on_classes: ClassVar[bool] = False  # on classes of states the rounds would be others
    default_max_steps: ClassVar[int] = step_size.LARGEST_ROUNDS
    theorem: ClassVar[Theorem]

    # The options of both methods; their class docstrings explain them.
    step_size: StepSize = "auto"
    inner_steps: int | float = 1
    initial: str = "independent"
    output: str = "last"
    rounds: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "step_size", step_size.checked(self.step_size))
        object.__setattr__(self, "inner_steps", _checked_inner_steps(self.inner_steps))
        one_of(self.initial, "initial", INITIAL)
        one_of(self.output, "output", OUTPUTS)
        if self.rounds is None:
            return
        object.__setattr__(self, "rounds", whole(self.rounds, "rounds", at_least=1))
        if isinstance(self.step_size, step_size.FromTheorem):
            raise InvalidOption("rounds are set by FromTheorem(epsilon); leave rounds=None")

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> Round:
        costs = float(bellman.cost.min()), float(bellman.cost.max())
        schedule = step_size.schedule(
            self.step_size, self.rounds, DEFAULT_ROUNDS, self.theorem, (*costs, bellman.discount, bellman.shape)
        )
        steepest = schedule.scaled(1, 0.0, bellman.scale)
        if steepest < LEAST_STEP:
            raise InvalidOption(
                f"step_size {schedule.step(1):g} is too small next to one over the largest cost to compute with; "
                "take a larger step_size"
            )
        if not largest_exponent(bellman, steepest * as_float(schedule.rounds)) <= LARGEST_EXPONENT:
            raise InvalidOption(
                f"step_size {schedule.step(1):g} times {shown(schedule.rounds)} rounds times the largest distance "
                "leaves the range of numbers; take a smaller step_size"
            )
        average = Average.start(bellman) if self.output == "average" else None
        factored = Factored.start(bellman, self.initial)
        start = np.zeros(bellman.shape) if value is None else value
        if bellman.stop.size:
            start = np.where(bellman.stop, bellman.scaled_cost(), start)
        guess = bellman.scaled_cost() if value is None else value
        entropy = sum(_largest_surprise(rows, self.initial) for rows in (bellman.source, bellman.target))
        first = Round(
            guess,
            RoundedWitness(factored, guess),
            math.inf,
            0,
            schedule,
            factored,
            (start, start),
            average,
            self.theorem,
            entropy,
        )
        return self.step(bellman, first)

    def step(self, bellman: Bellman, iterate: Round) -> Round:
        k = iterate.k + 1
        by_source = k % 2 == 1
        before = iterate.expected[0 if by_source else 1]
        state, schedule = iterate.factored, iterate.schedule
        step = schedule.scaled(k, float(np.ptp(before)) if schedule.least_span > 0.0 else 0.0, bellman.scale)
        if iterate.average is not None:  # of π_1, …, π_K
            iterate.average.add(state, rounded=self._averages_rounded())
        expected = self._expect(state, by_source, step, before)
        state.project(by_source, step, expected)
        both = (expected, iterate.expected[1]) if by_source else (iterate.expected[0], expected)
        return replace(iterate, k=k, expected=both)

    def measured(self, bellman: Bellman, iterate: Round) -> Round:
        """The iterate with the value and the couplings of the output."""
        target = evaluation_target(bellman, last=iterate.finished)
        if iterate.average is not None and iterate.average.count:
            value, witness = iterate.average.output(iterate.value, target)
            return replace(iterate, value=value, witness=witness)
        value = evaluate(iterate.factored, iterate.value, target)
        return replace(iterate, value=value, witness=RoundedWitness(iterate.factored, value))

    def patience(self, bellman: Bellman) -> int:
        """Zero: a run ends after its rounds and never stalls."""
        return 0

    def _expect(self, state: Factored, by_source: bool, step: float, before: Floats) -> Floats:
        """E for the next update, from E of the last round on the same side."""
        raise NotImplementedError

    def _averages_rounded(self) -> bool:
        """Whether the rounded couplings are averaged."""
        raise NotImplementedError

    def _settled(self, change: float, step: float, now: Floats, bellman: Bellman) -> bool:
        """Whether an inner iteration has reached its tolerance, or the limit of rounding."""
        floor = 64 * UNIT_ROUNDOFF * (float(np.abs(now).max()) + 1.0 / step)
        return change <= max(float(self.inner_steps) * float(bellman.cost.max()) * bellman.scale, floor)


def _checked_inner_steps(inner_steps: object) -> int | float:
    """Check `inner_steps`: a number of operator applications as an int, or a tolerance below 1 as a float."""
    count = as_index(inner_steps)
    number = as_float(inner_steps) if count is None else as_float(count)
    if count is None and number >= 1 and number.is_integer():
        count = int(number)
    if not is_positive(number) or (number >= 1 and count is None):
        raise InvalidOption(
            f"inner_steps is {shown(inner_steps)}, expected a whole number ≥ 1, or a tolerance in (0, 1)"
        )
    return number if count is None else count


def _largest_surprise(rows: Rows, initial: str) -> float:
    """The largest -log of an initial probability, which bounds every entropy relative to the initial law."""
    if initial == "uniform":
        return math.log(int(np.diff(rows.indptr).max()))
    return -math.log(float(rows.data.min()))

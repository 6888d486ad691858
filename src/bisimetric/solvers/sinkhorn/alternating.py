"""The common part of the paper's two methods: rounds that alternate between the sides, options, output.

    round k:   E ← the expected future cost from each pair under π_k             (each solver has its own estimate)
               π_{k+1} ∝ π_k · exp(-η_k γ E), with the marginals of the source (k odd) or of the target (k even)

Those are the rounds of Algorithms 1 and 2. `rounds=R` are R updates: the last coupling is π_{R+1}, and the average is
over π_1, …, π_R. (The paper's K counts couplings: its loop of K - 1 updates ends with π_K, so K = R + 1.) By default
the last two thirds of the rounds only project (see `phases`); `as_in_paper` gives the paper's own.

The output is the last coupling, rounded to valid marginals and evaluated, or the coupling of the averaged occupancies,
for which the theorems hold. A solver stops after a given number of rounds; the checker looks at rounds 1, 2, 4, 8, …
and at the last.

Reference: Calo et al. 2024, Section 4 and Appendix D.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar, Self

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
from bisimetric.solvers.sinkhorn.phases import OVER_RELAXATION
from bisimetric.solvers.sinkhorn.step_size import Schedule, StepSize, Theorem

OUTPUTS = ("last", "average")
DEFAULT_ROUNDS = 750
MAX_INNER_STEPS = 100_000  # limit of an inner iteration that runs to a tolerance
INNER_ROUNDING = 64 * UNIT_ROUNDOFF  # change of such an iteration, relative to its values, that may be rounding
REPRICING_ACCURACY = 1e-2  # residual of a value that replaces the kernel, relative to (1-γ) times the largest cost


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
    pace: float = 1.0  # factor of all steps where the marginals control them
    misfit: float = math.inf  # at the last mark; infinite after a change of the kernel
    relaxation: float = OVER_RELAXATION  # of the projections

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
        off_x, off_y = (float(off.max()) for off in self.factored.marginals())
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
    projections: int | None = None

    @classmethod
    def as_in_paper(
        cls,
        step_size: StepSize = 1.0,
        rounds: int | None = None,
        *,
        inner_steps: int | float = 1,
        initial: str = "independent",
        output: str = "last",
    ) -> Self:
        """The algorithm as the paper has it: every round takes a step, and one half projection follows on it.

        Parameters
        ----------
        step_size : float, Decaying, FromTheorem, callable or "auto", default 1.0
            η, in units of one over a cost. The paper takes 1, or 10/√k, which is `Decaying(10)`; the theorems' are
            `FromTheorem(epsilon)`. "auto" is not the paper's: it decays as k^(-2/3) relative to the value's span.
        rounds : int, optional
            Updates, 750 by default: the last coupling is π_{rounds+1}, the average is over π_1, …, π_rounds.
        inner_steps : int or float, default 1
            m; a number in (0, 1) is a tolerance and stands for m = ∞.
        initial : {"independent", "uniform"}, default "independent"
            π_1 = P⊗Q as in Algorithms 1 and 2, or uniform as in the theorems, but on the supports.
        output : {"last", "average"}, default "last"
            The last coupling, or that of the averaged occupancies as in Algorithms 1 and 2; both are rounded.

        Returns
        -------
        SinkhornValueIteration or SinkhornPolicyIteration
            The solver with these options and `projections=0`.

        Raises
        ------
        InvalidOption
            If an option is out of range.

        Examples
        --------
        >>> import bisimetric as bm
        >>> bm.SinkhornValueIteration.as_in_paper(step_size=1.0, rounds=500).projections
        0
        """
        return cls(step_size, inner_steps, initial, output, rounds, 0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "step_size", step_size.checked(self.step_size))
        object.__setattr__(self, "inner_steps", _checked_inner_steps(self.inner_steps))
        one_of(self.initial, "initial", INITIAL)
        one_of(self.output, "output", OUTPUTS)
        if self.rounds is not None:
            object.__setattr__(self, "rounds", whole(self.rounds, "rounds", at_least=1))
        if self.projections is not None:
            most = (self.rounds or DEFAULT_ROUNDS) - 1
            object.__setattr__(self, "projections", whole(self.projections, "projections", at_least=0, at_most=most))
        if isinstance(self.step_size, step_size.FromTheorem) and (self.rounds is not None or self.projections):
            raise InvalidOption("rounds are set by FromTheorem(epsilon), all with steps; leave rounds=None")
        if self.output == "average" and self.projections:
            raise InvalidOption(
                f"projections is {self.projections} with output='average', which is over rounds with steps; "
                "leave projections=None"
            )

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> Round:
        schedule = self._schedule(bellman)
        average = Average.start(bellman) if self.output == "average" else None
        factored = Factored.start(bellman, self.initial)
        start = np.zeros(bellman.shape) if value is None else value
        if bellman.stop.size:
            start = np.where(bellman.stop, bellman.scaled_cost(), start)
        guess = bellman.scaled_cost() if value is None else value
        entropy = sum(_largest_surprise(rows, self.initial) for rows in (bellman.source, bellman.target))
        witness = RoundedWitness(factored, guess)
        first = Round(
            guess, witness, math.inf, 0, schedule, factored, (start, start), average, self.theorem, entropy
        )  # fmt: skip
        return self.step(bellman, first)

    def step(self, bellman: Bellman, iterate: Round) -> Round:
        k, schedule, state = iterate.k + 1, iterate.schedule, iterate.factored
        if k > schedule.phases.steps:
            return self._projected(iterate)
        pace = iterate.pace
        if schedule.controlled and schedule.phases.adjusts_pace(k):
            pace = schedule.phases.adjusted(pace, state.misfit())
        by_source = k % 2 == 1
        before = iterate.expected[0 if by_source else 1]
        span = float(np.ptp(before)) if schedule.least_span > 0.0 else 0.0
        step = pace * schedule.scaled(k, span, bellman.scale)
        if callable(self.step_size):
            _check_range(bellman, step, state.total_step, f"step_size({k}) = {step * bellman.scale:g} in round {k}")
        if iterate.average is not None:  # of π_1, …, π_K
            iterate.average.add(state, rounded=self._averages_rounded())
        expected = self._expect(state, by_source, step, before)
        state.project(by_source, step, expected)
        both = (expected, iterate.expected[1]) if by_source else (iterate.expected[0], expected)
        return replace(iterate, k=k, expected=both, pace=pace)

    def measured(self, bellman: Bellman, iterate: Round) -> Round:
        """The iterate with the value and the couplings of the output."""
        target = evaluation_target(bellman, last=iterate.finished)
        if iterate.average is not None and iterate.average.count:
            value, witness = iterate.average.output(iterate.value, target)
            return replace(iterate, value=value, witness=witness)
        value = evaluate(iterate.factored, iterate.value, target)
        make = RoundedWitness.of if iterate.k > iterate.schedule.phases.steps else RoundedWitness
        return replace(iterate, value=value, witness=make(iterate.factored, value))

    def patience(self, bellman: Bellman) -> int:
        """Zero: a run ends after its rounds and never stalls."""
        return 0

    def _schedule(self, bellman: Bellman) -> Schedule:
        """The steps; raises if they are sure to leave the range of numbers."""
        projections = 0 if self.output == "average" else self.projections
        costs = float(bellman.cost.min()), float(bellman.cost.max())
        problem = (*costs, bellman.discount, bellman.shape)
        schedule = step_size.schedule(self.step_size, self.rounds or DEFAULT_ROUNDS, projections, self.theorem, problem)
        if not callable(self.step_size) or isinstance(self.step_size, step_size.Decaying):
            steepest = schedule.scaled(1, 0.0, bellman.scale)
            total = steepest * as_float(schedule.phases.steps)
            what = f"step_size {schedule.step(1):g} times {shown(schedule.phases.steps)} rounds"
            _check_range(bellman, steepest, total - steepest, what)
        return schedule

    def _projected(self, iterate: Round) -> Round:
        """A round that only projects; at a mark the kernel may become that of the couplings' value."""
        k, phases, state = iterate.k + 1, iterate.schedule.phases, iterate.factored
        misfit, relaxation = iterate.misfit, iterate.relaxation
        if phases.is_mark(k):
            found = state.misfit()
            relaxation = 1.0 if found > misfit else relaxation
            misfit = found
            if misfit < phases.feasible(k) and state.total_step > 0.0:
                target = REPRICING_ACCURACY * (1.0 - state.bellman.discount) * state.bellman.largest_cost
                value = evaluate(state, iterate.expected[0], target)
                state.sharpen()
                state.price(value, 2.0 * state.total_step)
                misfit = math.inf
        state.balance(not state.by_source, phases.relaxation(k, relaxation))
        return replace(iterate, k=k, misfit=misfit, relaxation=relaxation)

    def _expect(self, state: Factored, by_source: bool, step: float, before: Floats) -> Floats:
        """E for the next update, from E of the last round on the same side."""
        raise NotImplementedError

    def _averages_rounded(self) -> bool:
        """Whether the rounded couplings are averaged."""
        raise NotImplementedError

    def _settled(self, change: float, step: float, now: Floats, bellman: Bellman) -> bool:
        """Whether an inner iteration has reached its tolerance, or the limit of rounding."""
        floor = INNER_ROUNDING * (float(np.abs(now).max()) + 1.0 / step)
        return change <= max(float(self.inner_steps) * float(bellman.cost.max()) * bellman.scale, floor)


def _check_range(bellman: Bellman, step: float, total: float, what: str) -> None:
    """Raise unless a step, on top of steps that sum to `total`, stays in the range of numbers."""
    if step < LEAST_STEP:
        raise InvalidOption(
            f"{what} is too small next to one over the largest cost to compute with; take a larger step_size"
        )
    if not largest_exponent(bellman, total + step) <= LARGEST_EXPONENT:
        raise InvalidOption(f"{what} times the largest distance leaves the range of numbers; take a smaller step_size")


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

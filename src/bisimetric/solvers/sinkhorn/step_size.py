"""Step sizes of mirror descent: a constant η, η₀/√k, a function of k, or what a theorem prescribes.

    π_{k+1} ∝ π_k · exp(-η_k γ E_k)

η has the unit of one over a cost: η·c is the exponent. "auto" is relative to the span of the value that it multiplies,
so that answers scale with the cost. Before projections (see `phases`) it is constant but for a factor that follows the
marginals. Where all rounds have steps, no exponent changes by more than AUTO_FIRST/k^p in round k, p = AUTO_DECAY. Two
errors remain after k rounds. The entropy costs about one over the sum of all steps, k^(p-1). The change by the last
step, k^(-p), disturbs the marginals, which settle more slowly the larger that sum is: k^(-p)·k^(1-p). The two are equal
at p = 2/3. A step size is a formula, so nothing iterates here. `python -m benchmarks tuning` shows the curves from
which the constants were chosen.

References: Calo et al. 2024, Theorem 2 (`thm:main`) and Appendix D (`thm:main2`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from bisimetric._support.options import as_float, is_positive, positive, shown
from bisimetric.errors import InvalidOption
from bisimetric.solvers.sinkhorn.phases import FIRST_PACE, Phases

AUTO_FIRST = 12.0  # largest change of an exponent in the first round of "auto"
AUTO_DECAY = 2.0 / 3.0
AUTO_LEAST_SPAN = 1e-6  # smallest span that "auto" divides by, relative to the largest cost
LARGEST_ROUNDS = 10_000_000  # most rounds that a theorem may ask for


@dataclass(frozen=True, slots=True)
class Decaying:
    """Step sizes η_k = first/√k for `SinkhornValueIteration` and `SinkhornPolicyIteration`.

    With these the last coupling converges, where a constant step leaves a bias.

    Parameters
    ----------
    first : float
        η of the first round, positive and finite, in units of one over a cost.

    Examples
    --------
    >>> import bisimetric as bm
    >>> bm.Decaying(4.0)(16)
    1.0
    >>> solver = bm.SinkhornValueIteration(step_size=bm.Decaying(10.0))
    """

    first: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", positive(self.first, "first"))

    def __call__(self, k: int) -> float:
        return self.first / math.sqrt(k)


@dataclass(frozen=True, slots=True)
class FromTheorem:
    """The constant step and the number of rounds for which the solver's theorem promises an error up to `epsilon`.

    The theorems are Theorem 2 of Calo et al. 2024 for `SinkhornValueIteration`, and that of Appendix D for
    `SinkhornPolicyIteration`. They hold for output="average", initial="uniform" and inner iterations that run to
    convergence, such as inner_steps=1e-9; with other options there is no promise. The number of rounds grows as
    1/epsilon² and as a power of 1/(1 - discount); more than 10 million raise `InvalidOption` when a solve starts.

    Parameters
    ----------
    epsilon : float
        The promised error, positive and finite, in the units of the cost.

    Examples
    --------
    >>> import bisimetric as bm
    >>> solver = bm.SinkhornValueIteration(
    ...     step_size=bm.FromTheorem(epsilon=0.5), output="average", initial="uniform", inner_steps=1e-9
    ... )
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))


class Theorem(NamedTuple):
    """K ≥ factor·|c|²·log(nm) / ((1-γ)^power ε²), and η as a function of |c|, γ, log(nm) and K.

    The bounds are functions of |c|, γ, the entropy H(μ*|μ_1), η and K: on the regret Σ <μ_k - μ*, c>, and on the error
    of the averaged output.
    """

    name: str
    factor: float
    power: int
    step: Callable[[float, float, float, int], float]
    regret: Callable[[float, float, float, float, int], float]
    error: Callable[[float, float, float, float, int], float]


SVI_THEOREM = Theorem(
    "Theorem 2",
    324.0,
    5,
    lambda c, gamma, log, k: math.sqrt((1.0 - gamma) ** 3 * log / k) / (4.0 * c),
    lambda c, gamma, entropy, eta, k: entropy / eta + 2.0 * c,
    lambda c, gamma, entropy, eta, k: (
        (2.0 * entropy / (k * eta) + 32.0 * eta * c * c / (1.0 - gamma) ** 3 + 2.0 * c / k) / (1.0 - gamma)
    ),
)
SPI_THEOREM = Theorem(
    "the theorem of Appendix D",
    5.0,
    4,
    lambda c, gamma, log, k: (1.0 - gamma) * math.sqrt(8.0 * log / k) / (3.0 * c),
    lambda c, gamma, entropy, eta, k: entropy / eta + 9.0 * eta * c * c * k / (8.0 * (1.0 - gamma) ** 2),
    lambda c, gamma, entropy, eta, k: (
        (entropy / (k * eta) + 9.0 * eta * c * c / (8.0 * (1.0 - gamma) ** 2)) / (1.0 - gamma)
    ),
)

StepSize = float | str | Decaying | FromTheorem | Callable[[int], float]


class Schedule(NamedTuple):
    """The step of round k, in the units of one over a cost, and which rounds there are.

    With a `least_span`, in the units of the cost, steps are numbers that `scaled` divides by the span of the value.
    """

    step: Callable[[int], float]
    phases: Phases
    constant: bool = False
    least_span: float = 0.0
    controlled: bool = False  # by the marginals

    @property
    def rounds(self) -> int:
        """How many there are in all."""
        return self.phases.rounds

    def scaled(self, k: int, span: float, scale: float) -> float:
        """The step of round k where costs are multiplied by `scale` and the value has this span."""
        if self.least_span > 0.0:
            return self.step(k) / max(span, self.least_span * scale)
        return self.step(k) / scale


def checked(step_size: object) -> StepSize:
    """Check a `step_size`; numbers become floats."""
    if isinstance(step_size, FromTheorem) or (isinstance(step_size, str) and step_size == "auto"):
        return step_size
    if callable(step_size) and not isinstance(step_size, type):
        return step_size
    if not is_positive(step_size):
        raise InvalidOption(
            f"step_size is {shown(step_size)}, expected a positive finite number, Decaying(first), "
            "FromTheorem(epsilon), 'auto', or a function of the round k = 1, 2, …"
        )
    return as_float(step_size)


def returned(step_size: Callable[[int], object], k: int) -> float:
    """What a user's function says for round k, which must be a positive finite number."""
    number = step_size(k)
    if not is_positive(number):
        raise InvalidOption(f"step_size({k}) is {shown(number)} in round {k}, expected a positive finite number")
    return as_float(number)


def schedule(
    step_size: StepSize,
    rounds: int,
    projections: int | None,
    theorem: Theorem,
    problem: tuple[float, float, float, tuple[int, int]],
) -> Schedule:
    """The steps for a problem with this smallest and largest cost, discount and shape.

    Without a number of projections there are some at the end for "auto" only.
    """
    smallest, largest, discount, (n, m) = problem
    if isinstance(step_size, FromTheorem):
        log = math.log(max(n * m, 2))
        needed = theorem.factor * (largest / step_size.epsilon) ** 2 * log / (1.0 - discount) ** theorem.power
        if not needed <= LARGEST_ROUNDS:
            raise InvalidOption(
                f"FromTheorem(epsilon={step_size.epsilon:g}) asks for K = {needed:.2g} rounds "
                f"({theorem.name} of Calo et al. 2024), expected at most {LARGEST_ROUNDS:.0e}; "
                "raise epsilon, give a step_size and rounds, or use PolicyIteration()"
            )
        total = max(1, math.ceil(needed))
        step = theorem.step(largest, discount, log, total)
        return Schedule(lambda _: step, Phases.split(total, 0), constant=True)
    if step_size == "auto":
        least_span = max(largest - smallest, AUTO_LEAST_SPAN * largest) or largest  # the product may underflow to 0
        phases = Phases.split(rounds, projections)
        if phases.projections:
            pace = FIRST_PACE / math.sqrt(as_float(phases.steps))  # zero for a number beyond all floats
            return Schedule(lambda _: pace, phases, least_span=least_span, controlled=True)
        return Schedule(lambda k: AUTO_FIRST / k**AUTO_DECAY, phases, least_span=least_span)
    phases = Phases.split(rounds, projections or 0)
    if isinstance(step_size, Decaying):
        return Schedule(step_size, phases)
    if callable(step_size):
        return Schedule(partial(returned, step_size), phases)
    constant = float(step_size)
    return Schedule(lambda _: constant, phases, constant=True)

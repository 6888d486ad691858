"""The common part of the two entropic baselines: transports smoothed by an entropy, for all pairs at once.

    min { <π, V> + 1/ξ · KL(π | P[x] ⊗ Q[y]) : π couples P[x] and Q[y] },    solved by alternating half projections

The kernel exp(-ξV) is shared by all pairs, so this is the factored form with Λ = -ξV. A run may keep the scalings from
round to round: V changes little, so few projections then suffice. A run stops after its rounds, or when a round changes
the value by no more than rounding.

References: Cuturi 2013; Calo et al. 2024, Appendix F (who name warm starts as the reason for their own speed).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bisimetric._support.options import flag, whole
from bisimetric.couplings.factored import LARGEST_EXPONENT, LEAST_STEP, Factored, largest_exponent
from bisimetric.couplings.rounded import RoundedWitness, evaluate, evaluation_target
from bisimetric.couplings.witness import Witness
from bisimetric.errors import InvalidOption
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.base import Iterate, Solver

SETTLED = 16 * UNIT_ROUNDOFF  # change of the value, relative to the largest, at which a run has settled


@dataclass(frozen=True, slots=True, eq=False)
class EntropicRound(Iterate[Witness]):
    """The state of a run after `k` rounds; the couplings change in place."""

    k: int
    rounds: int
    factored: Factored
    now: Floats  # [n, m], the method's own value; `value` is that of the couplings, when measured
    settled: bool = False

    @property
    def finished(self) -> bool:
        return self.settled or self.k >= self.rounds

    @property
    def due(self) -> bool:
        """True at powers of two, and at the end."""
        return self.finished or self.k & (self.k - 1) == 0

    def estimate(self) -> Floats:
        """The value of the couplings."""
        return self.value


@dataclass(frozen=True, slots=True)
class Entropic(Solver[Bellman, EntropicRound]):
    """Base of the two baselines; they differ in the sharpness ξ and in `_next_value`."""

    default_tol: ClassVar[float] = 0.0  # runs all its rounds
    on_classes: ClassVar[bool] = False  # on classes of states the rounds would be others
    default_max_steps: ClassVar[int] = 10_000_000

    # The options of both baselines; their class docstrings explain them.
    rounds: int = 100
    projections: int = 100
    warm_start: bool = True

    def __post_init__(self) -> None:
        for name in ("rounds", "projections"):
            object.__setattr__(self, name, whole(getattr(self, name), name, at_least=1))
        object.__setattr__(self, "warm_start", flag(self.warm_start, "warm_start"))

    def init(self, bellman: Bellman, value: Floats | None, tol: float = 0.0) -> EntropicRound:
        sharpness = self._sharpness(bellman)
        if sharpness < LEAST_STEP:
            raise InvalidOption(
                "the transports are so smooth that their costs vanish next to the entropy; smooth them less"
            )
        if not largest_exponent(bellman, sharpness) <= LARGEST_EXPONENT:
            raise InvalidOption(
                "the transports are so sharp that exponents leave the range of numbers; smooth them more"
            )
        start = bellman.scaled_cost() if value is None else value
        factored = Factored.start(bellman, "independent")
        first = EntropicRound(start, RoundedWitness(factored, start), np.inf, 0, self.rounds, factored, start)
        return self.step(bellman, first)

    def step(self, bellman: Bellman, iterate: EntropicRound) -> EntropicRound:
        state = iterate.factored
        if not self.warm_start:
            for part in state.scalings:
                part[:] = 0.0
        state.price(iterate.now, self._sharpness(bellman))
        for k in range(self.projections):
            state.balance(k % 2 == 0)
        after = self._next_value(state, iterate.now)
        settled = float(np.abs(after - iterate.now).max()) <= SETTLED * float(after.max())
        return replace(iterate, k=iterate.k + 1, now=after, settled=settled)

    def measured(self, bellman: Bellman, iterate: EntropicRound) -> EntropicRound:
        """The iterate with the value of the rounded couplings."""
        value = evaluate(iterate.factored, iterate.now, evaluation_target(bellman, last=iterate.finished))
        return replace(iterate, value=value, witness=RoundedWitness(iterate.factored, value))

    def patience(self, bellman: Bellman) -> int:
        """Zero: a run ends after its rounds and never stalls."""
        return 0

    def _sharpness(self, bellman: Bellman) -> float:
        """ξ, in the operator's scale."""
        raise NotImplementedError

    def _next_value(self, state: Factored, value: Floats) -> Floats:
        """The value after a round of projections."""
        raise NotImplementedError

"""Entropic policy iteration: EntropicOTC of O'Connor, McGoff & Nobel 2022, with a discount.

    improve    π ← the couplings of least <π, V> + 1/ξ · KL, by Sinkhorn's projections, rounded to valid marginals
    evaluate   V ← (T^π)^T V,        (T^π V)(xy) = c(xy) + γ Σ π(x'y'|xy) V(x'y')

The original minimises the average cost and evaluates a gain and a bias; with a discount the value takes their place.
The smoothing leaves a bias of about log(S)/ξ a step. It runs its rounds, or stops when the value does not change.

Reference: O'Connor, McGoff & Nobel 2022, Algorithm 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bisimetric._support.options import positive, whole
from bisimetric.couplings.factored import Factored
from bisimetric.couplings.rounded import back_up
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.sinkhorn.entropic import SETTLED, Entropic


@dataclass(frozen=True, slots=True)
class EntropicPolicyIteration(Entropic):
    """Approximate; policy iteration with entropic transports (EntropicOTC, discounted), a baseline."""

    name: ClassVar[str] = "entropic-policy-iteration"

    sharpness: float = 200.0  # ξ, in units of one over the largest cost
    evaluation_steps: int = 1000  # T, operator applications a round; fewer where the value settles before

    def __post_init__(self) -> None:
        Entropic.__post_init__(self)
        positive(self.sharpness, "sharpness")
        whole(self.evaluation_steps, "evaluation_steps", at_least=1)

    def _sharpness(self, bellman: Bellman) -> float:
        return self.sharpness / bellman.largest_cost

    def _next_value(self, state: Factored, value: Floats) -> Floats:
        for _ in range(self.evaluation_steps):
            before, value = value, back_up(state, value)
            if float(np.abs(value - before).max()) <= SETTLED * float(value.max()):
                break
        return value

"""Value iteration with entropic transports: the discounted Weisfeiler–Lehman distance of Brugère et al. 2024.

    V ← c + γ · min { <π, V> + ε · KL(π | P[x] ⊗ Q[y]) : π couples P[x] and Q[y] }

The minimum is read off the dual, ε(<α, P[x]> + <β, Q[y]>), after a number of half projections. The operator is a
γ-contraction, and its fixed point is above the distance by at most ε·log(S)/(1-γ). Kemertas & Jepson 2022 approximate
bisimulation metrics in the same way. The answer is the value of the last couplings, rounded. It runs its rounds, or
stops when the value does not change.

References: Brugère, Wan & Wang 2024; Kemertas & Jepson 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from bisimetric._support.options import positive
from bisimetric.couplings.factored import Factored
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.sinkhorn.entropic import Entropic


@dataclass(frozen=True, slots=True)
class SinkhornBellman(Entropic):
    """Approximate; value iteration with entropic transports (dWL), a baseline."""

    name: ClassVar[str] = "sinkhorn-bellman"

    rounds: int = 1000
    regularisation: float = 0.01  # ε, in units of the largest cost

    def __post_init__(self) -> None:
        Entropic.__post_init__(self)
        positive(self.regularisation, "regularisation")

    def _sharpness(self, bellman: Bellman) -> float:
        return 1.0 / (self.regularisation * bellman.largest_cost)

    def _next_value(self, state: Factored, value: Floats) -> Floats:
        return state.dual_value()

"""Value iteration with entropic transports: the discounted Weisfeiler–Lehman distance of Brugère et al. 2024.

    V ← c + γ · min { <π, V> + ε · KL(π | P[x] ⊗ Q[y]) : π couples P[x] and Q[y] }

After a number of half projections the minimum is computed as the dual value ε(<α, P[x]> + <β, Q[y]>). The operator is a
γ-contraction, and its fixed point is above the distance by at most ε·log(S)/(1-γ). Kemertas & Jepson 2022 approximate
bisimulation metrics in the same way. The answer is the value of the last couplings, rounded. A run stops after its
rounds, or when the value does not change.

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
    """Approximate; value iteration with entropic transports (the discounted Weisfeiler–Lehman distance), a baseline.

    A round costs `projections` half projections, each O(n²m²) for dense chains, in memory for nm(n + m) scalings. The
    fixed point is above the distance by at most regularisation·log(S)/(1 - discount), in units of the largest cost,
    where S is the size of a support. The value of the answer is that of the rounded couplings; `lower` and `upper` are
    certified as for every solver. The status is COMPLETED.

    Parameters
    ----------
    rounds : int, default 1000
        Rounds to run, at least 1; fewer if the value settles before.
    projections : int, default 100
        Half projections a round, at least 1; they alternate between the sides.
    warm_start : bool, default True
        Keep the scalings from round to round, so that few projections suffice.
    regularisation : float, default 0.01
        ε, positive and finite, in units of the largest cost; smaller is closer to exact transports, and needs more
        projections.

    Raises
    ------
    InvalidOption
        If an option is out of range; at the start of a solve, if the smoothing leaves the range of numbers.

    References
    ----------
    Brugère, Wan & Wang 2024, "Distances for Markov chains, and their differentiation"; Kemertas & Jepson 2022,
    "Approximate policy iteration with bisimulation metrics".

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = bm.environments.small_four_rooms
    >>> problem = bm.Problem(rooms("a"), rooms("b"), discount=0.9)
    >>> bm.solve(problem, bm.SinkhornBellman(rounds=20, projections=10)).status.name
    'COMPLETED'
    """

    name: ClassVar[str] = "sinkhorn-bellman"

    rounds: int = 1000
    regularisation: float = 0.01

    def __post_init__(self) -> None:
        Entropic.__post_init__(self)
        object.__setattr__(self, "regularisation", positive(self.regularisation, "regularisation"))

    def _sharpness(self, bellman: Bellman) -> float:
        return 1.0 / (self.regularisation * bellman.largest_cost)

    def _next_value(self, state: Factored, value: Floats) -> Floats:
        return state.dual_value()

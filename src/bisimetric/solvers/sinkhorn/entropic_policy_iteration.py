"""Entropic policy iteration: EntropicOTC of O'Connor, McGoff & Nobel 2022, with a discount.

    improve    π ← the couplings of least <π, V> + 1/ξ · KL, by Sinkhorn's projections, rounded to valid marginals
    evaluate   V ← (T^π)^T V,        (T^π V)(xy) = c(xy) + γ Σ π(x'y'|xy) V(x'y')

The original minimises the average cost and evaluates a gain and a bias; with a discount the value replaces them.
Smoothing leaves a bias of about log(S)/ξ a step. A run stops after its rounds, or when the value does not change.

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
    """Approximate; policy iteration with entropic transports (EntropicOTC, discounted), a baseline.

    A round costs `projections` half projections and up to `evaluation_steps` backups, each O(n²m²) for dense chains, in
    memory for nm(n + m) scalings. Smoothing leaves a bias of about log(S)/sharpness a step, in units of the largest
    cost, where S is the size of a support. The value of the answer is that of the rounded couplings; `lower` and
    `upper` are certified as for every solver. The status is COMPLETED.

    Parameters
    ----------
    rounds : int, default 100
        Rounds to run, at least 1; fewer if the value settles before.
    projections : int, default 100
        Half projections a round, at least 1; they alternate between the sides.
    warm_start : bool, default True
        Keep the scalings from round to round, so that few projections suffice.
    sharpness : float, default 200
        ξ, positive and finite, in units of one over the largest cost; larger is closer to exact transports, and needs
        more projections.
    evaluation_steps : int, default 1000
        Backups V ← c + γΠV a round, at least 1; fewer if the value settles before.

    Raises
    ------
    InvalidOption
        If an option is out of range; at the start of a solve, if the smoothing leaves the range of numbers.

    References
    ----------
    O'Connor, McGoff & Nobel 2022, "Optimal transport for stationary Markov chains via policy iteration", Algorithm 2.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = bm.environments.small_four_rooms
    >>> problem = bm.Problem(rooms("a"), rooms("b"), discount=0.9)
    >>> bm.solve(problem, bm.EntropicPolicyIteration(rounds=3, projections=20)).status.name
    'COMPLETED'
    """

    name: ClassVar[str] = "entropic-policy-iteration"

    sharpness: float = 200.0
    evaluation_steps: int = 1000

    def __post_init__(self) -> None:
        Entropic.__post_init__(self)
        object.__setattr__(self, "sharpness", positive(self.sharpness, "sharpness"))
        steps = whole(self.evaluation_steps, "evaluation_steps", at_least=1)
        object.__setattr__(self, "evaluation_steps", steps)

    def _sharpness(self, bellman: Bellman) -> float:
        return self.sharpness / bellman.largest_cost

    def _next_value(self, state: Factored, value: Floats) -> Floats:
        for _ in range(self.evaluation_steps):
            before, value = value, back_up(state, value)
            if float(np.abs(value - before).max()) <= SETTLED * float(value.max()):
                break
        return value

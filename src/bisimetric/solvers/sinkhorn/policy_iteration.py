"""Sinkhorn policy iteration: mirror descent on the values of rounded couplings (Algorithm 2 of Calo et al. 2024).

    round      π̃_k ← rounded π_k
    evaluate   V ← (T^π̃_k)^m V,        (T^π V)(xy) = c(xy) + γ Σ π(x'y'|xy) V(x'y')
    update     π_{k+1} ∝ π_k · exp(-η γ V), projected on the source (k odd) or target (k even) marginals

The paper's Q(xy, x'y') is c(xy) + γV(x'y'), of which c(xy) cancels in the projection; so V is all that is kept. To a
tolerance (m = ∞) the linear system V = T^π̃ V is solved instead. It runs its rounds and stops.

Reference: Calo et al. 2024, Appendix D.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from bisimetric.couplings.factored import Factored
from bisimetric.couplings.rounded import back_up, evaluate
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import Bellman
from bisimetric.solvers.sinkhorn.alternating import Alternating, Round
from bisimetric.solvers.sinkhorn.step_size import SPI_THEOREM, Theorem


@dataclass(frozen=True, slots=True)
class SinkhornPolicyIteration(Alternating):
    """Approximate; mirror descent on the values of rounded couplings (Algorithm 2)."""

    name: ClassVar[str] = "sinkhorn-policy-iteration"
    theorem: ClassVar[Theorem] = SPI_THEOREM

    def step(self, bellman: Bellman, iterate: Round) -> Round:
        after = Alternating.step(self, bellman, iterate)
        newest = after.expected[0 if after.k % 2 == 1 else 1]  # one value for both sides
        return replace(after, expected=(newest, newest))

    def _expect(self, state: Factored, by_source: bool, step: float, before: Floats) -> Floats:
        if self.inner_steps >= 1:
            for _ in range(int(self.inner_steps)):
                before = back_up(state, before)
            return before
        target = float(self.inner_steps) * float(state.bellman.cost.max()) * state.bellman.scale
        return evaluate(state, before, target)

    def _averages_rounded(self) -> bool:
        return True

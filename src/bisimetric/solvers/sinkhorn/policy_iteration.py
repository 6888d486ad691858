"""Sinkhorn policy iteration: mirror descent on the values of rounded couplings (Algorithm 2 of Calo et al. 2024).

    round      π̃_k ← rounded π_k
    evaluate   V ← (T^π̃_k)^m V,        (T^π V)(xy) = c(xy) + γ Σ π(x'y'|xy) V(x'y')
    update     π_{k+1} ∝ π_k · exp(-η γ V), projected on the source (k odd) or target (k even) marginals

The paper's Q(xy, x'y') is c(xy) + γV(x'y'). The projection cancels c(xy), so only V is kept. If `inner_steps` is a
tolerance (m = ∞), a linear solver solves V = T^π̃ V instead. A run stops after its rounds.

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
    """Approximate; mirror descent on the values of rounded couplings.

    Algorithm 2 of Calo et al. 2024 (Sinkhorn policy iteration). A round costs one pass that rounds all couplings for
    every inner step, and one half projection: O(n²m²) each for dense chains, in memory for nm(n + m) scalings. The
    value of the answer is that of its couplings, rounded to valid ones; `lower` and `upper` are certified as for
    every solver. The status is COMPLETED after all rounds.

    Parameters
    ----------
    step_size : float, "auto", Decaying or FromTheorem, default "auto"
        η, in units of one over a cost. A number is a constant step; `Decaying(first)` is first/√k in round k;
        `FromTheorem(epsilon)` is the step, and the number of rounds, of the theorem. "auto" decays as k^(-2/3) relative
        to the span of the current value, so that answers scale with the cost.
    inner_steps : int or float, default 1
        Backups V ← c + γΠV with the rounded couplings a round, a whole number ≥ 1.
        A number in (0, 1) is a tolerance instead, relative to the largest cost, to which the linear system is solved.
    initial : {"independent", "uniform"}, default "independent"
        The first couplings: the products of the rows, or equal mass on all pairs of successors.
    output : {"last", "average"}, default "last"
        The last round's coupling, or the coupling of the averaged occupancies, which the theorems are about. "average"
        stores all n²m² cells (on the supports) and solves one more linear system a round.
    rounds : int, optional
        Rounds to run, at least 1. By default 750, or what `FromTheorem` asks for.

    Raises
    ------
    InvalidOption
        If an option is out of range; at the start of a solve, if the steps leave the range of numbers.

    References
    ----------
    Calo, Jonsson, Neu, Schwartz & Segovia-Aguas 2024, "Bisimulation metrics are optimal transport distances, and can be
    computed efficiently", Appendix D.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = bm.environments.small_four_rooms
    >>> problem = bm.Problem(rooms("a"), rooms("b"), discount=0.9)
    >>> bm.solve(problem, bm.SinkhornPolicyIteration(rounds=50)).status.name
    'COMPLETED'
    """

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

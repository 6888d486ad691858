"""Sinkhorn policy iteration: mirror descent on the values of rounded couplings (Algorithm 2 of Calo et al. 2024).

    round      π̃_k ← rounded π_k
    evaluate   V ← (T^π̃_k)^m V,        (T^π V)(xy) = c(xy) + γ Σ π(x'y'|xy) V(x'y')
    update     π_{k+1} ∝ π_k · exp(-η γ V), projected on the source (k odd) or target (k even) marginals

The paper's Q(xy, x'y') is c(xy) + γV(x'y'). The projection cancels c(xy), so only V is kept. If `inner_steps` is a
tolerance (m = ∞), a linear solver solves V = T^π̃ V instead. The paper does not say where Q starts. Here V = 0, that is
Q(xy, x'y') = c(xy), so that the first round with m = 1 knows V = c; from Q = 0 its update would change nothing.
`solve(…, initial=V)` starts from another value. By default projections follow (`phases`). A run stops after its rounds.

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

    Algorithm 2 of Calo et al. 2024 (Sinkhorn policy iteration), by default followed by projections that make its
    couplings feasible; `SinkhornPolicyIteration.as_in_paper()` is the algorithm alone. A round with a step costs one
    pass that rounds all couplings for every inner step, and one half projection, O(n²m²) each for dense chains; memory
    is for nm(n + m) scalings. The value of the answer is that of its couplings, rounded to valid ones; `lower` and
    `upper` are certified as for every solver. The status is COMPLETED after all rounds.

    Parameters
    ----------
    step_size : float, "auto", Decaying, FromTheorem or callable, default "auto"
        η, in units of one over a cost. A number is a constant step; `Decaying(first)` is first/√k in round k;
        `FromTheorem(epsilon)` is the step, and the number of rounds, of the theorem; a function is asked for η in
        every round k = 1, 2, … that takes a step. "auto" is relative to the span of the current value, so that answers
        scale with the cost: such that each round disturbs the marginals by a certain amount where projections follow,
        and decaying as k^(-2/3) where none do.
    inner_steps : int or float, default 1
        Backups V ← c + γΠV with the rounded couplings a round, a whole number ≥ 1.
        A number in (0, 1) is a tolerance instead, relative to the largest cost, to which the linear system is solved.
    initial : {"independent", "uniform"}, default "independent"
        The first couplings: the products of the rows, as in the paper's algorithms, or equal mass on all pairs of
        successors. The theorems' uniform coupling is the latter where all rows are full; elsewhere it puts mass
        outside the supports, which the second projection removes.
    output : {"last", "average"}, default "last"
        The last round's coupling, or the coupling of the averaged occupancies, which the theorems are about. "average"
        stores all n²m² cells (on the supports) and solves one more linear system a round.
    rounds : int, optional
        Rounds to run, at least 1. By default 750, or what `FromTheorem` asks for. If all take steps, "last" is π_{R+1}
        after R rounds, where π_1 is `initial`, and "average" is over π_1, …, π_R.
    projections : int, optional
        How many of the rounds, the last ones, only project, with over-relaxation; fewer than `rounds`. By default two
        thirds for step_size="auto" and output="last" from 200 rounds on, and none otherwise. Where couplings are nearly
        feasible half-way, the kernel of their value replaces that of the steps. `as_in_paper` has none.

    Raises
    ------
    InvalidOption
        If an option is out of range; in a solve, if the steps leave the range of numbers, or a function returns
        something else than a positive finite number.

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

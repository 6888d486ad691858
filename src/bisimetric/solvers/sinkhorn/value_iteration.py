"""Sinkhorn value iteration: mirror descent over occupancy couplings (Algorithm 1 of Calo et al. 2024).

In round k, on the source side when k is odd, the Bellman–Sinkhorn operator

    (T V)(xy, x') = -1/η · log Σ_{y'} π_k(x'y'|xy)/P(x'|x) · exp(-η·(c(xy) + γ Σ_{x''} P(x''|x') V(x'y', x'')))

is applied m times to the value of the last round on that side. Then the couplings are multiplied by exp(-η·(c + γPV))
and projected on the marginals of that side. The target side is the mirror image. T is a γ-contraction, so with
m = ∞ (`inner_steps` as a tolerance) this is an exact mirror-descent step. The equations depend on V only through
E(x'y') = Σ_{x''} P(x''|x') V(x'y', x''), so only E is kept, and the couplings stay in factored form.

A run stops after its rounds. With constant η the last iterate keeps a bias of about log(S)/η; with η₀/√k it converges.
The default takes steps in a third of the rounds and projects in the others (`phases`), which ends much closer.

Reference: Calo et al. 2024, Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bisimetric.couplings.factored import Factored
from bisimetric.models.rows import Floats
from bisimetric.solvers.sinkhorn.alternating import MAX_INNER_STEPS, Alternating
from bisimetric.solvers.sinkhorn.step_size import SVI_THEOREM, Theorem


@dataclass(frozen=True, slots=True)
class SinkhornValueIteration(Alternating):
    """Approximate; mirror descent with entropic half projections, for dense chains and rough answers.

    Algorithm 1 of Calo et al. 2024 (Sinkhorn value iteration), by default followed by projections that make its
    couplings feasible; `SinkhornValueIteration.as_in_paper()` is the algorithm alone. A round with a step costs two
    passes over all pairs and successors, O(n²m²) for dense chains, a projection one; memory is for nm(n + m) scalings.
    The value of the answer is that of its couplings, rounded to valid ones, so it is an upper bound up to rounding;
    `lower` and `upper` of the solution are certified as for every solver. The status is COMPLETED after all rounds.

    Parameters
    ----------
    step_size : float, "auto", Decaying, FromTheorem or callable, default "auto"
        η, in units of one over a cost. A number is a constant step; `Decaying(first)` is first/√k in round k;
        `FromTheorem(epsilon)` is the step, and the number of rounds, of the theorem; a function is asked for η in
        every round k = 1, 2, … that takes a step. "auto" is relative to the span of the current value, so that answers
        scale with the cost: such that each round disturbs the marginals by a certain amount where projections follow,
        and decaying as k^(-2/3) where none do.
    inner_steps : int or float, default 1
        Applications of the Bellman–Sinkhorn operator a round, a whole number ≥ 1.
        A number in (0, 1) is a tolerance instead, relative to the largest cost.
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
    computed efficiently", Section 4.

    Examples
    --------
    >>> import bisimetric as bm
    >>> rooms = bm.environments.small_four_rooms
    >>> problem = bm.Problem(rooms("a"), rooms("b"), discount=0.9)
    >>> solution = bm.solve(problem, bm.SinkhornValueIteration(rounds=100))
    >>> solution.status.name
    'COMPLETED'
    >>> bool((solution.lower <= solution.value).all() and (solution.value <= solution.upper).all())
    True
    """

    name: ClassVar[str] = "sinkhorn-value-iteration"
    theorem: ClassVar[Theorem] = SVI_THEOREM

    def _expect(self, state: Factored, by_source: bool, step: float, before: Floats) -> Floats:
        if self.inner_steps >= 1:
            for _ in range(int(self.inner_steps)):
                before = state.probe(by_source, step, before)
            return before
        for _ in range(MAX_INNER_STEPS):
            after = state.probe(by_source, step, before)
            change = float(np.abs(after - before).max())
            before = after
            if self._settled(change, step, after, state.bellman):
                break
        return before

    def _averages_rounded(self) -> bool:
        return False

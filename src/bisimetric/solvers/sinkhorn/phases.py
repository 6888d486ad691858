"""The two phases of a run: rounds with steps, then half projections alone, which make the couplings feasible.

After K rounds of mirror descent most of the error of the last couplings is infeasibility, which rounding removes badly;
the entropy costs less. So by default a third of the rounds takes steps, and the others project only, over-relaxed:

    steps         Λ ← Λ - η·γE, then a half projection     (η such that marginals are off by MISFIT_GOAL/√R)
    projections   α ← α + ω(α' - α), sides in turn         (ω = 1.85, and 1 in the last two)

Between projections, at up to six *marks*, couplings that are nearly feasible are evaluated, and twice the kernel of
their value V takes over: Λ = -2η̄V with η̄ the sum of all steps, scalings doubled. That removes the values of the first
rounds from Λ and halves the entropy. Where couplings are further from feasible, Λ stays. If the misfit grows from one
mark to the next, ω = 1 from there on. A run ends after its K rounds.

The constants were chosen by `python -m benchmarks tuning`, which shows them on other problems too.

References: Calo et al. 2024, Algorithm 1 (the rounds with steps); Thibault et al. 2021 (over-relaxed projections).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

OVER_RELAXATION = 1.85  # ω
FEWEST_ROUNDS = 200  # with fewer all rounds have steps
MISFIT_GOAL = 2.4  # misfit after a round with a step that the steps aim at, times √R
FIRST_PACE = 100.0  # the first change of exponents per round, times √R
LARGEST_CHANGE = 2.0  # factor by which the pace changes at once, at most
LARGEST_PACE = 100.0  # factor by which it changes over a run, at most
MARKS, SPACING = 8, 60  # a mark after every eighth of the projections, but not closer than this
FEASIBLE = 1e-3  # misfit up to which couplings are evaluated at a mark, times the share of projections that is left
LAST_PLAIN = 2  # projections at the end that are not over-relaxed


class Phases(NamedTuple):
    """How many rounds have steps, and how many there are in all."""

    steps: int
    rounds: int

    @classmethod
    def split(cls, rounds: int, projections: int | None) -> Phases:
        """The given number of projections at the end; two thirds by default, none if there are few rounds."""
        if projections is None:
            projections = rounds - 2 * round(Fraction(rounds, 6)) if rounds >= FEWEST_ROUNDS else 0
        return cls(rounds - projections, rounds)

    @property
    def projections(self) -> int:
        """How many rounds only project."""
        return self.rounds - self.steps

    @property
    def spacing(self) -> int:
        """Projections from one mark to the next."""
        return max(SPACING, self.projections // MARKS)

    def is_mark(self, k: int) -> bool:
        """Whether the couplings are looked at before the projection of round k."""
        return (k - self.steps - 1) % self.spacing == 0

    def feasible(self, k: int) -> float:
        """The misfit up to which the kernel is replaced at a mark before round k; less the fewer projections follow."""
        left = self.rounds - k + 1
        enough = self.steps < k - 1 and left >= 2 * self.spacing
        return FEASIBLE * left / self.projections if enough else 0.0

    def relaxation(self, k: int, relaxation: float) -> float:
        """`relaxation`, but 1 in the last rounds and before a mark, where one side has to be feasible."""
        return 1.0 if k > self.rounds - LAST_PLAIN or self.is_mark(k + 1) else relaxation

    def adjusts_pace(self, k: int) -> bool:
        """Whether the pace is adjusted before round k: after 2, 4, 8, … rounds with steps."""
        return 3 <= k <= self.steps and (k - 1) & (k - 2) == 0

    def adjusted(self, pace: float, misfit: float) -> float:
        """The pace that brings the misfit after a round closer to its goal."""
        goal = MISFIT_GOAL / math.sqrt(self.steps)
        change = min(goal / misfit, LARGEST_CHANGE) if misfit > 0.0 else LARGEST_CHANGE
        return min(max(pace * max(change, 1.0 / LARGEST_CHANGE), 1.0 / LARGEST_PACE), LARGEST_PACE)

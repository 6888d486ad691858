"""The question of many: small problems between chains that are solved in one go.

Each keeps its own costs and stops. They share the discount and the error of their costs, which every bound depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bisimetric.problems.discounted import Problem


@dataclass(frozen=True, slots=True, eq=False)
class ManyProblems:
    """Problems with one discount and one cost error; their rows are known, and their costs are not all zero."""

    parts: Sequence[Problem]

    @property
    def discount(self) -> float:
        """Of all of them."""
        return self.parts[0].discount

    @property
    def cost_error(self) -> float:
        """Of all of them."""
        return self.parts[0].cost_error

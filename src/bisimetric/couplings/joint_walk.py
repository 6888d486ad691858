"""Two models that move together from a start: where they are, how long, and what each pair of states costs."""

from __future__ import annotations

import math
from typing import NamedTuple

from scipy import sparse

from bisimetric.models.mdp import MDP, Model
from bisimetric.models.rows import Floats, Ints


class JointWalk(NamedTuple):
    """Two coupled models that move together."""

    models: tuple[Model, Model]
    law: Floats  # [n, m], of the start
    moves: sparse.csr_array  # [n·m, n·m], probabilities of moves; rows are empty where nothing follows
    occupancy: Floats  # [n, m], discounted share of time, or expected visits
    cost: Floats  # [n, m], times 1-γ in a normalised problem
    value: Floats  # [n, m], distances
    discount: float
    normalised: bool
    actions: Ints | None = None  # [n, m, 2], decisive ones between decision processes
    cost_text: str = ""  # the name and the unit of the cost
    counted: str = ""  # what an occupancy is, if neither

    @property
    def per_time(self) -> float:
        """What the weights of all times add up to, relative to occupancies: 1 - γ, or 1 where those count visits."""
        return 1.0 - self.discount if self.discount < 1.0 else 1.0

    @property
    def amounts(self) -> Floats:
        """What every pair contributes to the distance, [n, m]."""
        amounts: Floats = self.occupancy * self.cost / self.per_time
        return amounts

    def given_cost(self, x: int, y: int) -> float:
        """The cost of a pair as it was given, without the factor 1-γ of a normalised problem."""
        return _divided(float(self.cost[x, y]), self.per_time if self.normalised else 1.0)

    def names(self, x: int, y: int) -> tuple[str, str]:
        """The names of a pair of states."""
        source, target = self.models
        return source.name_of(x), target.name_of(y)

    def action_names(self, x: int, y: int) -> tuple[str, str] | None:
        """The names of the decisive actions of a pair of states, between decision processes."""
        if self.actions is None:
            return None
        source, target = self.models
        assert isinstance(source, MDP)
        assert isinstance(target, MDP)
        a, b = self.actions[x, y]
        return source.action_name(int(a)), target.action_name(int(b))


def _divided(product: float, factor: float) -> float:
    """The number that gives `product` when multiplied by `factor`; of several, the one with the fewest digits."""
    quotient = product / factor
    near = quotient, math.nextafter(quotient, 0.0), math.nextafter(quotient, math.inf)
    return min((number for number in near if number * factor == product), key=lambda n: len(repr(n)), default=quotient)

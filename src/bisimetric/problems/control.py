"""The question about one decision process: what is the most that it can earn, and how?

V(s) = max_a [ r(s, a) + γ <P(s, a), V> ]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bisimetric._support.frozen import Immutable
from bisimetric._support.text import discount_text
from bisimetric.errors import InvalidProblem
from bisimetric.models.mdp import MDP
from bisimetric.problems.discounted import checked_discount


@dataclass(frozen=True, init=False)
class Control(Immutable):
    """The best policy of a decision process, in discounted rewards; `MDP.optimal_policy` asks this."""

    mdp: MDP
    discount: float

    def __init__(self, mdp: MDP, *, discount: float) -> None:
        if not isinstance(mdp, MDP):
            raise InvalidProblem(f"mdp is a {type(mdp).__name__}, expected an MDP; as_mdp(...) makes one")
        gamma = checked_discount(discount)
        largest = float(np.abs(mdp.rewards).max())
        with np.errstate(over="ignore"):
            if not np.isfinite(4.0 * largest / (1.0 - gamma)):
                raise InvalidProblem(
                    f"the largest reward is {largest:g}: values overflow; divide the rewards by a constant"
                )
        object.__setattr__(self, "mdp", mdp)
        object.__setattr__(self, "discount", gamma)

    def __repr__(self) -> str:
        return f"Control({self.mdp.n_states} states, discount {discount_text(self.discount)})"

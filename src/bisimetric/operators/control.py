"""The Bellman operator of one decision process, (T V)(s) = max_a [ r(s, a) + γ <P(s, a), V> ].

The rewards are multiplied by a power of two that brings their largest size into [1, 2), which is exact; values in this
module are in that scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from bisimetric.linear.ladder import Ladder
from bisimetric.models.rows import Floats
from bisimetric.operators.bellman import power_of_two
from bisimetric.problems.control import Control

PolicyArray = npt.NDArray[np.int64]  # [n], the index of an action in every state


@dataclass(frozen=True, slots=True, eq=False)
class ControlBellman:
    """Rewards and rows of all actions, one below the other."""

    rewards: Floats  # [A, n], scaled; -inf where an action is not available
    rows: sparse.csr_array  # [A·n, n]
    discount: float
    scale: float
    largest_reward: float  # in size, as given
    row_error: float  # 1-norm by which a row may differ from the one given

    @classmethod
    def of(cls, problem: Control) -> ControlBellman:
        """The operator of a problem."""
        mdp = problem.mdp
        largest = float(np.abs(mdp.rewards).max())
        scale = power_of_two(largest) if largest else 1.0
        rewards = np.where(mdp.available, mdp.rewards * scale, -np.inf).T
        rows = sparse.vstack(mdp.transitions, format="csr")
        return cls(rewards, rows, problem.discount, scale, largest, float(mdp.row_error.max()))

    @property
    def n_states(self) -> int:
        """The number of states."""
        return int(self.rewards.shape[1])

    def earned(self, value: Floats) -> Floats:
        """[A, n]: what each action earns in each state if V is earned from then on."""
        earned: Floats = self.rewards + self.discount * (self.rows @ value).reshape(self.rewards.shape)
        return earned

    def taken(self, earned: Floats, policy: PolicyArray) -> Floats:
        """[n], what a policy's actions earn of that."""
        taken: Floats = earned[policy, np.arange(self.n_states)]
        return taken

    def gap_of(self, span: float) -> float:
        """The gap that residuals of this span leave."""
        return span * self.discount / (1.0 - self.discount)

    def solve(self, policy: PolicyArray, gain: Floats, start: Floats, target: float) -> Floats:
        """Solve (I - γP_π) d = gain; returns `start` if the linear solver fails."""
        moves = self.rows[policy * self.n_states + np.arange(self.n_states)]
        solved = Ladder().solve_stored(moves, gain, start, self.discount, target)
        return solved.x if solved.residual <= float(np.abs(gain).max()) else start

"""The Bellman operators of the steps of a finite horizon, in one scale.

    (T_t V)(x, y) = c_t(x, y) + γ · OT_V(P_t[x], Q_t[y])

V_t = T_t V_{t+1}: each operator is applied once, so nothing is carried on forever. Where the chains do not change from
one step to the next, neither do the rows, and the transport trees of one step warm-start the next.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bisimetric.kernels.layout import Rows
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Floats, Mask
from bisimetric.operators.bellman import Bellman, as_rows, power_of_two
from bisimetric.operators.trees import PairList, TreeWitness, new_trees
from bisimetric.problems.horizon import HorizonProblem
from bisimetric.problems.steps import Steps


@dataclass(frozen=True, slots=True, eq=False)
class HorizonBellman:
    """One operator for every step; values are the user's times `scale`."""

    problem: HorizonProblem
    scale: float = field(init=False)  # power of two: the largest cost times this is in [1, 2)
    largest_from: Floats = field(init=False)  # [h + 1], for every time what no value exceeds, scaled, up to rounding
    sources: Steps[Rows] = field(init=False)
    targets: Steps[Rows] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", power_of_two(self.problem.largest_cost or 1.0))
        object.__setattr__(self, "largest_from", self.problem.largest_values * self.scale)
        object.__setattr__(self, "sources", self.problem.sources.each(_rows))
        object.__setattr__(self, "targets", self.problem.targets.each(_rows))

    @property
    def horizon(self) -> int:
        """The number of steps."""
        return self.problem.horizon

    @property
    def shape(self) -> tuple[int, int]:
        """(n, m)."""
        return self.problem.shape

    def at(self, time: int) -> Bellman:
        """The operator from time + 1 to this time, on all pairs."""
        problem = self.problem
        plain = Bellman.between(
            self.sources[time], self.targets[time], problem.costs[time], self.scale, problem.discount
        )
        return replace(plain, cost_error=problem.cost_error)

    def moves_alike(self, time: int, other: int) -> bool:
        """Whether both chains move alike from these two times on, so that trees can be kept."""
        return self.sources.alike(time, other) and self.targets.alike(time, other)

    def terminal(self) -> Floats:
        """The value at the end, scaled."""
        value: Floats = self.problem.terminal * self.scale
        return value

    def gap_of(self, span: float) -> float:
        """The gap that errors of this size in every step leave."""
        return span * self.horizon

    def couple(self, time: int, value: Floats, pairs: Mask) -> TreeWitness:
        """Optimal couplings from this time to the next at some pairs, in flat order; `value` is of the next time."""
        whole = self.at(time)
        listed = PairList.outside(~pairs, whole.source, whole.target, symmetric=False)
        bellman = replace(whole, stop=~pairs, pairs=listed)
        trees = new_trees(bellman)
        bellman.improve(value, trees, cold=True)
        return TreeWitness(bellman, value, trees)


def _rows(chain: MarkovChain) -> Rows:
    return as_rows(chain.transitions)

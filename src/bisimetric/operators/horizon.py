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


@dataclass(frozen=True, slots=True, eq=False)
class HorizonBellman:
    """One operator for every step; values are the user's times `scale`."""

    problem: HorizonProblem
    scale: float = field(init=False)  # power of two: the largest cost times this is in [1, 2)
    largest_from: list[float] = field(init=False)  # for every time what no value exceeds, scaled, up to rounding
    sources: tuple[Rows, ...] = field(init=False)  # of every step; the same object where the chain is
    targets: tuple[Rows, ...] = field(init=False)

    def __post_init__(self) -> None:
        chains = {id(chain): chain for chain in (*self.problem.sources, *self.problem.targets)}
        rows = {key: as_rows(chain.transitions) for key, chain in chains.items()}
        object.__setattr__(self, "scale", power_of_two(largest_cost(self.problem) or 1.0))
        largest = [value * self.scale for value in self.problem.largest_values()]
        object.__setattr__(self, "largest_from", largest)
        for name in ("sources", "targets"):
            steps: tuple[MarkovChain, ...] = getattr(self.problem, name)
            object.__setattr__(self, name, tuple(rows[id(chain)] for chain in steps))

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
        return self.sources[time] is self.sources[other] and self.targets[time] is self.targets[other]

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


def largest_cost(problem: HorizonProblem) -> float:
    """Of all times, the last too; not scaled."""
    return max(float(problem.terminal.max()), *(float(cost.max()) for cost in different_arrays(problem.costs)))


def different_arrays(arrays: tuple[Floats, ...]) -> list[Floats]:
    """Each array once."""
    return list({id(array): array for array in arrays}.values())

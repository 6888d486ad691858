"""What a solver is: a frozen set of options with `init` and `step`. It proposes; the loop and the checker decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from bisimetric._stochastic import Floats

PATIENCE = 12  # steps without progress before a solve has stalled, for solvers that converge fast
PROGRESS = 0.9  # of the best gap: anything less is progress


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """Where a solver stands, in the operator's scale."""

    value: Floats  # [n, m]
    witness: Any  # couplings and potentials that go with it: a Witness, or for games a GameWitness
    gap: float  # what the solver itself believes max(upper - lower) to be

    def estimate(self) -> Floats | None:
        """A better guess of the distances than the middle of the interval, if the solver has one at little cost."""
        return None


State = TypeVar("State", bound=Iterate)


@dataclass(frozen=True, slots=True)
class Solver(Generic[State]):
    """Base of all solvers; a subclass adds its options as fields.

    `bellman` is the operator of the question: a `Bellman`, or for solvers of games a `GameBellman`.
    """

    name: ClassVar[str]
    default_tol: ClassVar[float]  # relative gap
    default_max_steps: ClassVar[int]
    open_pairs: ClassVar[bool] = False  # works on a list of pairs too, so that those whose V is known are left out

    def init(self, bellman: Any, value: Floats | None) -> State:
        """The first iterate, from a guess of the distances if there is one."""
        raise NotImplementedError

    def step(self, bellman: Any, iterate: State) -> State:
        """The next iterate."""
        raise NotImplementedError

    def patience(self, discount: float) -> int:
        """Steps without progress before the loop says STALLED."""
        return PATIENCE

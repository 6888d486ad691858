"""What a solver is: a frozen set of options with `init` and `step`. It proposes; the loop and the checker decide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from bisimetric.models.rows import UNIT_ROUNDOFF, Floats

PATIENCE = 12  # steps without progress before a solve has stalled, for solvers that converge fast
NOISE = 1024 * UNIT_ROUNDOFF  # span of a residual, relative to the largest value, that may be rounding
NOTHING = UNIT_ROUNDOFF  # the same, and smaller than any real one: less is no progress
PROGRESS = 0.9  # of the best gap: anything less is progress


class Diagnostics(NamedTuple):
    """What a solver measures besides the gap; see `Step`."""

    violation_x: float | None = None
    violation_y: float | None = None
    mean_cost: float | None = None
    regret_bound: float | None = None
    error_bound: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Iterate:
    """Where a solver stands, in the operator's scale."""

    value: Floats  # [n, m]
    witness: Any  # couplings and potentials that go with it: a Witness, or for games a GameWitness
    gap: float  # what the solver itself believes max(upper - lower) to be

    @property
    def largest(self) -> float:
        """max |value|."""
        return float(np.abs(self.value).max())

    @property
    def due(self) -> bool:
        """Whether the checker should look, although the solver can't tell how large its gap is."""
        return False

    @property
    def finished(self) -> bool:
        """Whether an approximate solver has run all its rounds."""
        return False

    def diagnostics(self) -> Diagnostics:
        """For the history, in the units of the cost; asked for when the checker has looked on its own account."""
        return Diagnostics()

    def estimate(self) -> Floats | None:
        """A better guess of the distances than the middle of the interval, if the solver has one at little cost."""
        return None

    def at_rest(self) -> Iterate:
        """The same without what only another step or an estimate would need."""
        return self


State = TypeVar("State", bound=Iterate)


@dataclass(frozen=True, slots=True)
class Solver(Generic[State]):
    """Base of all solvers; a subclass adds its options as fields.

    `bellman` is the operator of the question: a `Bellman`, or for solvers of games a `GameBellman`.
    """

    name: ClassVar[str]
    default_tol: ClassVar[float]  # relative gap; 0 for a solver that runs its rounds
    default_max_steps: ClassVar[int]
    uses_initial: ClassVar[bool] = True  # else `initial` of `solve` changes nothing
    on_classes: ClassVar[bool] = True  # gives the same answer when bisimilar states are one, so that it may be sped up
    open_pairs: ClassVar[bool] = False  # works on a list of pairs too, so that those whose V is known are left out

    def init(self, bellman: Any, value: Floats | None, tol: float = 0.0) -> State:
        """The first iterate, from a guess of the distances if there is one; a relative gap of `tol` will do."""
        raise NotImplementedError

    def step(self, bellman: Any, iterate: State) -> State:
        """The next iterate."""
        raise NotImplementedError

    def measured(self, bellman: Any, iterate: State) -> State:
        """The iterate as the checker should see it; a solver may leave costly parts of it to this."""
        return iterate

    def patience(self, discount: float) -> int:
        """Steps without progress after which a gap that may be rounding is: STALLED. 0 for an approximate solver."""
        return PATIENCE

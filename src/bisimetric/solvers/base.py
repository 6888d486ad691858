"""What a solver is: a frozen set of options with `init` and `step`. It proposes; the loop and the checker decide.

A solver gets the operator of the question and returns iterates: a value, couplings and potentials that go with it (a
witness), and what the solver itself believes the gap to be. `sweep` makes such an iterate of any value. `Options`
say how far the loop lets a solver go.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Generic, NamedTuple, Protocol, Self, TypeAlias, TypeVar

import numpy as np

from bisimetric._support.options import as_float, flag, function_or_none, is_positive, seconds_of, shown, whole
from bisimetric.errors import InvalidOption
from bisimetric.kernels.layout import Trees
from bisimetric.models.rows import UNIT_ROUNDOFF, Floats
from bisimetric.operators.bellman import Bellman, Sweep
from bisimetric.operators.trees import TreeWitness, new_trees

STALLED_AFTER = 12  # steps without progress before a solve has stalled, for solvers that converge fast
NOISE = 1024 * UNIT_ROUNDOFF  # span of a residual, relative to the largest value, that may be rounding
NO_PROGRESS = UNIT_ROUNDOFF  # span of a residual, relative to the largest value: a smaller gap is no progress
PROGRESS = 0.9  # of the best gap: anything less is progress
FAILURES = 3  # steps in a row that cut the gap by less than that, before evaluations become ten times more accurate
FINEST_ACCURACY = 1e-6  # of an evaluation, after many failures


class Diagnostics(NamedTuple):
    """What a solver measures besides the gap; see `Step`."""

    violation_x: float | None = None
    violation_y: float | None = None
    mean_cost: float | None = None
    regret_bound: float | None = None
    error_bound: float | None = None


class Operator(Protocol):
    """What the loop knows of an operator: the factor between its numbers and the user's, and how residuals add up."""

    @property
    def scale(self) -> float:
        """Values of the operator are the user's times this."""
        ...

    def gap_of(self, span: float) -> float:
        """The gap that residuals of this span leave."""
        ...


WitnessT = TypeVar("WitnessT")
OperatorT = TypeVar("OperatorT", bound=Operator)


@dataclass(frozen=True, slots=True, eq=False)
class Iterate(Generic[WitnessT]):
    """Where a solver stands, in the operator's scale.

    Parameters
    ----------
    value : array [n, m]
        The solver's guess of the distances.
    witness : Witness
        A coupling and a potential for every pair, from which the checker makes bounds.
    gap : float
        What the solver itself believes max(upper - lower) to be; the loop asks the checker when that is small enough.
    """

    value: Floats
    witness: WitnessT
    gap: float

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
        """For the history, in the units of the cost; the loop asks after every check of a `due` iterate."""
        return Diagnostics()

    def estimate(self) -> Floats | None:
        """A better guess of the distances than the middle of the interval, if the solver has one at little cost."""
        return None

    def at_rest(self) -> Self:
        """The same for an answer: without what only another step or an estimate would need."""
        return self


IterateT = TypeVar("IterateT", bound=Iterate)  # type: ignore[type-arg]


@dataclass(frozen=True, slots=True)
class Solver(ABC, Generic[OperatorT, IterateT]):
    """Base of all solvers. A subclass is a frozen dataclass that adds its options as fields, and `init` and `step`.

    The loop calls `init` once and `step` until the checker finds the gap within the tolerance. A solver is given the
    operator of the question (for two chains a `Bellman`) and never the last word.

    Attributes
    ----------
    name : str
        What users call it, on the command line too.
    default_tol : float
        Relative gap that is aimed for unless the user says otherwise; 0 for a solver that runs its rounds.
    default_max_steps : int
        Steps after which the loop gives up unless the user says otherwise.
    uses_initial : bool
        Whether `initial` of `solve` changes anything.
    on_classes : bool
        Whether the answer is the same when bisimilar states are one, so that the solve may be sped up.
    open_pairs : bool
        Whether it works on a list of pairs too, so that those whose V is known are left out.
    undiscounted : bool
        Whether it needs no discount where chains end whatever the coupling; it then takes lists of pairs too.
    operates_on : type
        The operators that it takes.
    """

    name: ClassVar[str]
    default_tol: ClassVar[float]
    default_max_steps: ClassVar[int]
    uses_initial: ClassVar[bool] = True
    on_classes: ClassVar[bool] = True
    open_pairs: ClassVar[bool] = False
    undiscounted: ClassVar[bool] = False
    operates_on: ClassVar[type] = Bellman

    @abstractmethod
    def init(self, bellman: OperatorT, value: Floats | None, tol: float = 0.0) -> IterateT:
        """The first iterate, from a guess of the distances if there is one; `tol` is the relative gap to reach."""

    @abstractmethod
    def step(self, bellman: OperatorT, iterate: IterateT) -> IterateT:
        """The next iterate; the same object says that there is nothing more to do."""

    def measured(self, bellman: OperatorT, iterate: IterateT) -> IterateT:
        """The iterate as the checker should see it; a solver may leave costly parts of it to this."""
        return iterate

    def patience(self, bellman: OperatorT) -> int:
        """Steps without progress after which a gap at the level of rounding means STALLED; 0: never."""
        return STALLED_AFTER


AnySolver: TypeAlias = Solver[Any, Any]


def checked_tol(tol: object, solver: AnySolver) -> float:
    """The relative gap to reach: the solver's own unless one is given."""
    if tol is None:
        return solver.default_tol
    if not is_positive(tol):
        raise InvalidOption(f"tol is {shown(tol)}, expected a positive number such as 1e-6: it bounds the relative gap")
    return as_float(tol)


class Options(NamedTuple):
    """How far a solve goes and what it tells on the way."""

    tol: float
    is_promised: bool  # the tolerance is the caller's: missing it raises
    max_steps: int
    seconds: float  # time limit; inf for none
    throw: bool
    on_step: Callable[[Any], None] | None
    look_every: int | None  # steps from one look of the checker to the next; None: where the solver asks for it

    @classmethod
    def checked(
        cls,
        solver: AnySolver,
        *,
        tol: object,
        max_steps: object,
        time_limit: object,
        throw: bool,
        on_step: Callable[[Any], None] | None,
        look_every: object,
    ) -> Self:
        """What users give, None standing for the solver's own defaults and for no time limit."""
        if throw is not True:
            flag(throw, "throw")
        if on_step is not None:
            function_or_none(on_step, "on_step")
        goal = solver.default_tol if tol is None else checked_tol(tol, solver)
        steps = solver.default_max_steps if max_steps is None else whole(max_steps, "max_steps", at_least=1)
        seconds = math.inf if time_limit is None else seconds_of(time_limit)
        every = None if look_every is None else whole(look_every, "look_every", at_least=1)
        return cls(goal, tol is not None, steps, seconds, throw, on_step, every)


@dataclass(frozen=True, slots=True, eq=False)
class TreeIterate(Iterate[TreeWitness]):
    """An iterate with the transport trees of a sweep, which warm-start the next one; `sweep` makes one.

    Parameters
    ----------
    value : array [n, m]
        The value that was swept, in the operator's scale.
    witness : TreeWitness
        The couplings and potentials of its trees.
    gap : float
        What the sweep leaves.
    sweep : Sweep
        Its residual T V - V, the bounds on that, and how many pivots there were.
    """

    sweep: Sweep

    @property
    def bellman(self) -> Bellman:
        """The operator."""
        return self.witness.bellman

    @property
    def trees(self) -> Trees:
        """One per pair, optimal for `value`; the next sweep changes them in place."""
        return self.witness.trees

    @property
    def largest(self) -> float:
        return self.sweep.largest

    def at_rest(self) -> Self:
        return replace(self, witness=self.witness.at_rest())


def sweep(bellman: Bellman, value: Floats, before: TreeIterate | None = None, *, ignore: float = 0.0) -> TreeIterate:
    """The iterate of a value: one optimal transport for every pair, warm-started from the iterate before.

    Parameters
    ----------
    bellman : Bellman
        The operator.
    value : array [n, m]
        A guess of the distances, in the operator's scale.
    before : TreeIterate, optional
        Its trees are reused and overwritten.
    ignore : float
        Reduced costs above -ignore cause no pivots; the gap accounts for it.

    Returns
    -------
    TreeIterate
        `sweep.residual` is T V - V at the pairs that are solved, `gap` the gap that follows.

    Examples
    --------
    A step of value iteration:
    `sweep(operator, operator.plus(iterate.value, iterate.sweep.residual), iterate)`.
    """
    value = np.ascontiguousarray(value, np.float64)
    if value.shape != bellman.shape:
        raise InvalidOption(f"value has shape {value.shape}, expected {bellman.shape}")
    trees = new_trees(bellman) if before is None else before.trees
    found = sweep_trees(bellman, value, trees, cold=before is None, ignore=ignore)
    if not math.isfinite(found.largest):
        raise InvalidOption(
            "value has entries that are not finite, expected finite distances; look at the step that made it"
        )
    return found


def sweep_trees(bellman: Bellman, value: Floats, trees: Trees, *, cold: bool, ignore: float = 0.0) -> TreeIterate:
    """The same for the solvers of this package, with trees and values that need no checks; `cold`: no trees yet."""
    return swept_iterate(bellman, value, trees, bellman.improve(value, trees, cold=cold, ignore=ignore))


def swept_iterate(bellman: Bellman, value: Floats, trees: Trees, found: Sweep) -> TreeIterate:
    """The iterate of a sweep."""
    below, above = bellman.bounds(found)
    return TreeIterate(value, TreeWitness(bellman, value, trees), above - below, found)

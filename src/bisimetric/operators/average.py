"""The operators of the long run: on the closed classes of pairs without a discount, and on the way to them.

    R = c + OT_h - h   on closed classes,        g = OT_g   elsewhere, with g known on the closed classes

On a closed class min R ≤ g ≤ max R for every h. Elsewhere every coupling takes at most τ(x, y) = t_P(x) + t_Q(y) steps
in the mean to a closed class, t being the expected steps of a chain to a recurrent state: Πτ ≤ τ - 1 for all couplings,
because Πτ depends on the marginals alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy import sparse

from bisimetric.kernels.layout import NEVER
from bisimetric.linear.ladder import Ladder
from bisimetric.models.recurrence import Recurrence
from bisimetric.models.rows import Floats, Ints, Mask, held_rows
from bisimetric.operators.bellman import Bellman, as_rows, power_of_two
from bisimetric.operators.trees import PairList
from bisimetric.problems.average import AverageProblem

SMALL_AVERAGE = 1e-3  # of the largest cost: gaps of averages below this are relative to it
TIMES_TARGET = 1e-6  # residual of expected numbers of steps, in steps


@dataclass(frozen=True, slots=True, eq=False)
class ClosedClasses:
    """Which closed class every pair belongs to, and where the members of each stand among the closed pairs."""

    label: Ints  # [n, m], -1 at pairs that are transient under every coupling
    of_pair: Ints  # [closed pairs], in flat order
    _order: Ints  # [closed pairs], class by class
    _first: Ints  # [classes], where a class begins in `order`
    _size: Ints  # [classes], how many pairs each has

    @classmethod
    def of(cls, source: Recurrence, target: Recurrence) -> ClosedClasses:
        """The closed classes of two chains: pairs of recurrent classes, by the difference of phases."""
        divisor = np.gcd.outer(source.period, target.period)  # [classes of the source, of the target]
        first = np.concatenate([[0], np.cumsum(divisor.ravel())[:-1]]).reshape(divisor.shape)
        x, y = source.class_of[:, None], target.class_of[None, :]
        difference = np.mod(source.phase[:, None] - target.phase[None, :], divisor[x, y])
        label = np.where((x >= 0) & (y >= 0), first[x, y] + difference, -1)
        of_pair = label[label >= 0]
        order = np.argsort(of_pair, kind="stable")
        size = np.bincount(of_pair, minlength=int(divisor.sum()))
        return cls(label, of_pair, order, np.cumsum(size) - size, size)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._first)

    @property
    def closed(self) -> Mask:
        """[n, m], the pairs that belong to one."""
        closed: Mask = self.label >= 0
        return closed

    def smallest(self, vector: Floats) -> Floats:
        """[classes], the smallest entry of each, of a vector over the closed pairs."""
        if self.count == 1:
            return np.array([vector.min()])
        found: Floats = np.minimum.reduceat(vector[self._order], self._first)
        return found

    def largest(self, vector: Floats) -> Floats:
        """[classes], the largest entry of each."""
        if self.count == 1:
            return np.array([vector.max()])
        found: Floats = np.maximum.reduceat(vector[self._order], self._first)
        return found

    def mean(self, vector: Floats) -> Floats:
        """[classes], the mean of each."""
        if self.count == 1:
            return np.array([vector.mean()])
        found: Floats = np.bincount(self.of_pair, vector, self.count) / self._size
        return found


@dataclass(frozen=True, slots=True, eq=False)
class AverageBellman:
    """Both operators of a problem, in the scale in which the largest cost is in [1, 2)."""

    problem: AverageProblem
    classes: ClosedClasses
    bellman: Bellman  # on the closed pairs, all of them or listed; discount 1
    steps: tuple[Floats, Floats]  # [n] and [m], expected steps of each chain to a recurrent state, about
    open_pairs: PairList | None = field(repr=False)  # the other pairs; None if there are none
    largest_cost: float = field(init=False)  # in this scale
    longest: float = field(init=False)  # steps to a closed class and one more, at most

    def __post_init__(self) -> None:
        object.__setattr__(self, "largest_cost", self.bellman.largest_cost)
        longest = 1.0 if self.open_pairs is None else 1.0 + float(self.steps[0].max()) + float(self.steps[1].max())
        object.__setattr__(self, "longest", longest)

    @classmethod
    def of(cls, problem: AverageProblem) -> AverageBellman:
        """The operators of a problem whose cost is not all zero."""
        chains = problem.source, problem.target
        source, target = (as_rows(held_rows(chain)) for chain in chains)
        classes = ClosedClasses.of(*problem.recurrences)
        scale = power_of_two(float(problem.cost.max()))
        every = PairList.of_all(*problem.shape)
        plain = Bellman(source, target, problem.cost, scale, 1.0, NEVER, every, cost_error=problem.cost_error)
        closed = classes.closed
        if closed.all():
            return cls(problem, classes, plain, (np.zeros(closed.shape[0]), np.zeros(closed.shape[1])), None)
        listed, others = (PairList.outside(mask, source, target, symmetric=False) for mask in (~closed, closed))
        both = zip(chains, problem.recurrences, strict=True)
        steps = tuple(_steps(chain.transitions, found.transient) for chain, found in both)
        bellman = replace(plain, stop=~closed, pairs=listed)
        return cls(problem, classes, bellman, steps, others)  # type: ignore[arg-type]

    @property
    def scale(self) -> float:
        """Values are the user's times this."""
        return self.bellman.scale

    def allowed(self, tol: float, gains: Floats) -> float:
        """The gap that a tolerance allows for these gains."""
        return tol * max(float(gains.max()), -float(gains.min()), SMALL_AVERAGE * self.largest_cost)

    def gap_of(self, span: float) -> float:
        """The gap that residuals of this span leave."""
        return span * self.longest

    def on_the_way(self, gains: Floats) -> Bellman:
        """The operator at the pairs outside the closed classes, whose gains [classes] are known; scaled already."""
        assert self.open_pairs is not None
        known = np.where(self.classes.closed, gains[self.classes.label], 0.0)
        plain = Bellman.between(self.bellman.source, self.bellman.target, known, 1.0, 1.0)
        return replace(plain, stop=self.classes.closed, pairs=self.open_pairs)


def _steps(transitions: sparse.csr_array, transient: Mask) -> Floats:
    """[n], the expected number of steps to a recurrent state, about: (I - P) t = 1 on the transient states."""
    found = np.zeros(len(transient))
    if transient.any():
        inside = np.flatnonzero(transient)
        one = np.ones(len(inside))
        found[inside] = Ladder().solve_stored(transitions[inside][:, inside], one, one, 1.0, TIMES_TARGET).x
    return found

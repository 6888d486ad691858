"""The Bellman operator without a discount, for chains that end whatever the coupling; and how long that takes at most.

    (T V)(x, y) = OT_V(P[x], Q[y])   at open pairs,        V is known at the others, the *ends*

What 1/(1-γ) is with a discount, the largest expected number of steps to an end is here:

    w(x, y) = 1 + max { <π, w> : π couples P[x] and Q[y] },        w = 0 at the ends

For any V that is right at the ends, |V - V*| ≤ max |T V - V| · w: T contracts in the norm max |V|/w. The maximum is a
transport with the cost -w. Policy iteration finds w as it finds distances, and a rough w is good enough: if
w ≥ 1 - η + max <π, w> with η < 1, then w/(1-η) will do.

Reference: Bertsekas & Tsitsiklis 1991 (stochastic shortest paths: all policies proper).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from bisimetric import kernels
from bisimetric.kernels.layout import Cells, Rows
from bisimetric.models.rows import Floats, Mask
from bisimetric.operators.bellman import Bellman, Sweep, as_rows
from bisimetric.operators.evaluation import Evaluation
from bisimetric.operators.trees import PairList, TreeWitness, new_trees
from bisimetric.problems.bisimilarity import BisimilarityProblem, Quotient

STEP_ROUNDS = 200  # of policy iteration on the number of steps; it takes 3 to 20
STEPS_ACCURACY = 0.01  # of an evaluation, in steps
LARGEST_COUNT = 2.0**50  # where there may be more, rounding hides how many: no need to go on
STEPS_SPAN = 0.1  # residual at which the number of steps is good enough, in steps
EXACTLY_ONE = 1.0  # the cost of an end where labels differ


class Ends(NamedTuple):
    """The pairs of classes at which the distance is known, and what it is."""

    known: Mask  # [n, m]
    value: Floats  # [n, m], 1 where labels differ or are sure to, else 0

    @property
    def open(self) -> Mask:
        """The other pairs."""
        return ~self.known


def quotient_rows(quotient: Quotient) -> tuple[Rows, Rows]:
    """The rows of the two chains on classes."""
    return as_rows(quotient.source.chain.transitions), as_rows(quotient.target.chain.transitions)


def find_ends(quotient: Quotient) -> Ends:
    """Where labels differ, where classes are the same, and where no way leads to the same class.

    From the last the coupled chains come to different labels with probability one, whatever the coupling, because they
    end with probability one: the distance is exactly 1.
    """
    meet = _can_meet(quotient)
    value = np.where(quotient.differ | ~meet, EXACTLY_ONE, 0.0)
    return Ends(quotient.differ | quotient.same | ~meet, value)


def _can_meet(quotient: Quotient) -> Mask:
    """The pairs from which a way through equal labels leads to two states of one class: a backward search."""
    back = [as_rows(lump.chain.transitions.T.tocsr()) for lump in (quotient.source, quotient.target)]
    seen = quotient.same.copy()
    first = np.flatnonzero(seen)
    queue = np.empty(seen.size, np.int64)
    queue[: len(first)] = first
    begin, filled = 0, len(first)
    while begin < filled < seen.size:
        begin, filled = kernels.listing.reach(begin, queue, filled, quotient.differ, *back, seen)
    return seen


@dataclass(frozen=True, slots=True, eq=False)
class UndiscountedBellman(Bellman):
    """The operator on the open pairs, with the largest expected number of steps to an end."""

    steps: Floats | None = None  # [n, m], proved; None before they are known
    row_error: float = 0.0  # by which an application may be off because rows are

    @classmethod
    def between_ends(cls, quotient: Quotient, ends: Ends) -> UndiscountedBellman:
        """The operator of the problem on classes."""
        source, target = quotient_rows(quotient)
        pairs = PairList.outside(ends.known, source, target, symmetric=False)
        return cls(source, target, ends.value, 1.0, 1.0, ends.known, pairs, row_error=quotient.row_error)

    @property
    def most_steps(self) -> float:
        """The largest expected number of steps from any pair."""
        return np.inf if self.steps is None else float(self.steps.max())

    def largest_value(self) -> float:
        return EXACTLY_ONE

    def bounds(self, sweep: Sweep) -> tuple[float, float]:
        return self.most_steps * min(sweep.lowest, 0.0), self.most_steps * max(sweep.highest, 0.0)

    def gap_of(self, span: float) -> float:
        return (span + self.row_error) * self.most_steps

    def span_of(self, gap: float) -> float:
        return gap / self.most_steps

    @property
    def contraction(self) -> float:
        return 1.0 - 1.0 / max(self.most_steps, 2.0)


def longest_times(bellman: UndiscountedBellman) -> TreeWitness:
    """Minus the largest expected numbers of steps to an end, about, with couplings and potentials that go with them."""
    counting = replace(bellman, cost=np.where(bellman.stop, 0.0, -1.0))
    trees, evaluation = new_trees(counting), Evaluation(counting)
    value = counting.scaled_cost()
    swept = counting.improve(value, trees, cold=True)
    for _ in range(STEP_ROUNDS):
        solved = evaluation.solve(trees, swept.residual, STEPS_ACCURACY)
        worse = not solved.residual <= max(-swept.lowest, swept.highest)
        value = counting.plus(value, swept.residual.copy() if worse else solved.x)
        swept = counting.improve(value, trees, cold=False)
        if swept.lowest >= -STEPS_SPAN or not swept.largest < LARGEST_COUNT:
            break
    return TreeWitness(counting, value, trees)


def swept_times(bellman: UndiscountedBellman, steps: Floats) -> TreeWitness:
    """Minus numbers of steps from anywhere, with couplings and potentials that are optimal for them."""
    counting = replace(bellman, cost=np.where(bellman.stop, 0.0, -1.0))
    value, trees = counting.consistent(-steps), new_trees(counting)
    counting.improve(value, trees, cold=True)
    return TreeWitness(counting, value, trees)


@dataclass(frozen=True, eq=False)
class CouplingsAtEnds:
    """Couplings at the ends where labels are equal, optimal for the value; computed when they are first read.

    The distances there are known without them, so that no solve has to wait for them.
    """

    problem: BisimilarityProblem
    ends: Ends
    value: Floats  # [classes, classes]

    @property
    def cells_per_pair(self) -> int:
        return self._trees.cells_per_pair

    def cells(self, first: int, last: int) -> Cells:
        """Couplings and potentials of the flat pairs of classes first..last."""
        return self._trees.cells(first, last)

    @cached_property
    def _trees(self) -> TreeWitness:
        quotient = self.problem.quotient
        elsewhere = ~self.ends.known | quotient.differ
        source, target = quotient_rows(quotient)
        pairs = PairList.outside(elsewhere, source, target, symmetric=False)
        bellman = replace(Bellman.between(source, target, self.ends.value, 1.0, 1.0), stop=elsewhere, pairs=pairs)
        trees = new_trees(bellman)
        bellman.improve(self.value, trees, cold=True)
        return TreeWitness(bellman, self.value, trees).at_rest()

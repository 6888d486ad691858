"""One resample: drawn by its own seed, estimated, and solved from a neighbour.

    null        the sequences of both logs, shuffled, and split again into the two sizes
    bootstrap   as many sequences of each log as it has, drawn with replacement

Whole sequences are drawn, since they are the independent units. Starts, probabilities and rewards are estimated again
from every draw. The seed of resample k of a kind is (seed, kind, k), so a resample does not depend on which others are
drawn, in which process, or in which order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from bisimetric.cost.ground import Cost
from bisimetric.errors import InvalidData
from bisimetric.estimation.pooled import PooledLogs
from bisimetric.models.chain import MarkovChain
from bisimetric.models.rows import Ints
from bisimetric.operators.bellman import Bellman
from bisimetric.problems.discounted import Problem
from bisimetric.solving.nearby import Neighbour, near_distance, nearby_distance, one_step_error, trees_of
from bisimetric.solving.solution import Solution

NULL, BOOTSTRAP = 0, 1
TRIED = (1, 2, 3)  # numbers of resamples that show whether one step from the neighbour does
ONE_STEP_ERROR = 1e-3  # of each of them, relative, up to which it does
MOST_DRAWS = 100  # draws of a resample until each side has a start


@dataclass(frozen=True, eq=False)
class Resampling:
    """Everything that one resample needs."""

    logs: PooledLogs
    discount: float
    cost: npt.ArrayLike | Cost | None  # as Problem takes it
    normalised: bool
    seed: int
    neighbours: tuple[Neighbour | None, Neighbour | None] = (None, None)  # of the null, and of the bootstrap

    posed: Problem | None = None  # with the same costs for all resamples, where they do not depend on rewards

    def weights(self, kind: int, k: int) -> tuple[Ints, Ints]:
        """How often each sequence is on each side, [N] twice."""
        random = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(kind, k)))
        has_start = self.logs.sequences.start >= 0
        for _ in range(MOST_DRAWS):
            first, second = self._draw(kind, random)
            if (first * has_start).any() and (second * has_start).any():
                return first, second
        raise InvalidData("resamples have no start, expected most sequences to have one; use unseen='absorbing'")

    def _draw(self, kind: int, random: np.random.Generator) -> tuple[Ints, Ints]:
        n, m = self.logs.sizes
        if kind == NULL:
            first = np.zeros(n + m, np.int64)
            first[random.permutation(n + m)[:n]] = 1
            return first, 1 - first
        drawn = [np.bincount(random.integers(0, size, size), minlength=size) for size in (n, m)]
        return np.concatenate([drawn[0], np.zeros(m, np.int64)]), np.concatenate([np.zeros(n, np.int64), drawn[1]])

    def chains(self, weights: tuple[Ints, Ints]) -> tuple[MarkovChain, MarkovChain]:
        """The chains of both sides, on the union."""
        first, second = map(self.logs.chain, self.logs.sequences.totals_of(*weights))
        return first, second

    def problem(self, weights: tuple[Ints, Ints]) -> Problem:
        """The question between both sides."""
        first, second = self.chains(weights)
        if self.posed is not None:
            return self.posed.part(first, second, self.posed.cost, None)
        return Problem(first, second, discount=self.discount, cost=self.cost, normalised=self.normalised)

    def distance(self, kind: int, k: int) -> float:
        """The distance of resample k of a kind, to about 1e-3 of itself."""
        return self.distance_of(self.weights(kind, k), self.neighbours[kind])

    def distance_of(self, weights: tuple[Ints, Ints], neighbour: Neighbour | None) -> float:
        """The distance between two samples, from a neighbour if there is one."""
        if neighbour is None or self.posed is None:
            return nearby_distance(self.problem(weights), neighbour)
        return near_distance(self._operator(weights, neighbour), neighbour)

    def _operator(self, weights: tuple[Ints, Ints], neighbour: Neighbour) -> Bellman:
        """The operator of two samples near a neighbour."""
        if self.posed is None:
            return Bellman.of(self.problem(weights))
        logs, (first, second) = self.logs, self.logs.sequences.totals_of(*weights)
        starts = logs.start(first), logs.start(second)
        return replace(neighbour.bellman, source=logs.rows(first), target=logs.rows(second), starts=starts)

    def started_from(self, kind: int, solution: Solution) -> Resampling:
        """The same with resamples of a kind that start from a solved one; a few are tried."""
        neighbour = trees_of(solution)
        if neighbour is not None:
            operators = (self._operator(self.weights(kind, k), neighbour) for k in TRIED)
            neighbour.one_step = all(one_step_error(operator, neighbour) <= ONE_STEP_ERROR for operator in operators)
        pair = (neighbour, self.neighbours[BOOTSTRAP]) if kind == NULL else (self.neighbours[NULL], neighbour)
        return replace(self, neighbours=pair)

    # ---- as `many.runs` sees it: a question that answers tasks

    @property
    def cost_is_known(self) -> bool:
        """Whether the cost can be sent to other processes as it is; what cannot be pickled is found before."""
        return True

    @property
    def is_batched(self) -> bool:
        """Whether several tasks are solved side by side."""
        return False

    def answer(self, task: Task) -> tuple[Any, None]:
        """The distance of one task, and no error."""
        return self.distance(task.i, task.j), None


@dataclass(frozen=True)
class Task:
    """One resample: its kind and its number."""

    i: int
    j: int

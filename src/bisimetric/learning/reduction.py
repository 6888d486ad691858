"""The best small chain: descend the exact distance over its kernel, rewards and start.

    minimise  W(model, small)  over  P̂ = softmax(A), r̂, ν̂ = softmax(a),        W the bisimulation metric of the starts

W has many local minima, and where a descent begins matters more than how it goes on. So there are several, each from a
clustering of the states: that of `aggregate`, and the closest of many random ones around medoids (`starts`). In each,
states first change clusters one at a time, then Adam descends over all numbers, in stages of shorter and shorter steps
(`descent`). All make the first stage, the better half of them the second, and the better half of those the last.
Bisimilar states are merged before, which changes no distance. The best chain that was met, or that of `aggregate` if
none is closer for sure, gets a certified distance to the original.

References: Kingma & Ba 2015; Ferns, Panangaden & Precup 2004.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from bisimetric._support.frozen import Immutable, frozen
from bisimetric._support.options import function_or_none, seconds_of, whole
from bisimetric._support.threads import OutOfTime, deadline
from bisimetric._support.viewed import InNotebooks
from bisimetric.bisimulation.aggregation import aggregate
from bisimetric.bisimulation.metric import bisimulation_metric
from bisimetric.bisimulation.quotient import quotient
from bisimetric.errors import InvalidChain, InvalidOption
from bisimetric.learning.descent import STAGES, Reached, Tell, better_clusters, descend, polish
from bisimetric.learning.small import Objective
from bisimetric.learning.starts import Clusters
from bisimetric.models.chain import MarkovChain
from bisimetric.models.mdp import MDP
from bisimetric.models.partition import Classes, first_states, renumber
from bisimetric.models.rows import Floats
from bisimetric.problems.discounted import Problem, checked_discount
from bisimetric.readers.convert import as_model
from bisimetric.solving.solution import Solution
from bisimetric.solving.solve import solve

CHOICE = 8  # random clusterings for each descent, of which the closest are taken


class ReductionStep(NamedTuple):
    """One small chain that was tried, as `on_step` gets it.

    Attributes
    ----------
    descent, step : int
        Which descent, from 0, and which of its steps, from 1. Descents take turns; the choice of clusterings to begin
        with counts as steps of the first.
    distance : float
        Of this step's chain.
    best : float
        The smallest distance so far, of all descents.
    """

    descent: int
    step: int
    distance: float
    best: float


@dataclass(frozen=True, slots=True, eq=False)
class Reduction(InNotebooks, Immutable):
    """A small chain close to a large one; `reduce` returns it.

    Attributes
    ----------
    model : MarkovChain
        The small chain, with rewards and a start.
    map : array [n, n_states]
        Rows are distributions: where the small chain is while the original is in a state, by the time that both spend
        together under the optimal coupling; for states that are never visited the nearest one.
    distance, interval : float, (float, float)
        The bisimulation metric between the two chains from their starts, with the factor 1 - γ, and certified bounds.
    """

    model: MarkovChain
    map: Floats = field(repr=False)
    distance: float
    interval: tuple[float, float]

    def __repr__(self) -> str:
        (_, states), (_, distance) = self.facts()
        return f"Reduction({states} states, distance {distance})"

    def facts(self) -> list[tuple[str, str]]:
        """What is known, as names and texts."""
        low, high = self.interval
        states = f"{len(self.map)} -> {self.model.n_states}"
        return [("states", states), ("distance", f"{self.distance:.6g} in [{low:.6g}, {high:.6g}], normalised")]


def reduce(
    model: Any,
    n_states: int,
    *,
    discount: float,
    descents: int = 8,
    steps: int = 300,
    seed: int = 0,
    time_limit: float | None = None,
    on_step: Callable[[ReductionStep], None] | None = None,
) -> Reduction:
    """Find a chain of few states that is as close as possible to a given one.

    The distance from the starts is minimised itself, over kernel, rewards and start of the small chain. It has many
    local minima; the result is the best one that was found, and never farther than the chain of `aggregate`.

    Parameters
    ----------
    model : MarkovChain, or anything that `as_chain` takes
        With rewards. Without a start it starts uniformly.
    n_states : int
        Of the small chain.
    discount : float in [0, 1)
    descents : int, default 8
        How many clusterings of states to begin with: that of `aggregate`, then the closest of many random ones. 0
        returns the chain of `aggregate`.
    steps : int, default 300
        Of a whole descent, which only the best ones make; before it, half as many moves of states between clusters are
        tried. One exact solve each.
    seed : int, default 0
        The same seed gives the same chain.
    time_limit : float, optional
        Seconds after which the search ends; the best chain so far is returned. The chain of `aggregate` and the
        certificate come on top.
    on_step : function, optional
        Called with a `ReductionStep` after every solve, to show progress.

    Returns
    -------
    Reduction
        The small chain, the soft map between the states, and the certified distance.

    Raises
    ------
    InvalidChain
        The model cannot be read, or has no rewards.
    InvalidOption
        An option is out of range, or the model is a decision process.

    Examples
    --------
    >>> import bisimetric as bm
    >>> chain = bm.environments.random_sparse_chain(12, 3, seed=1).with_start(0)
    >>> found = bm.reduce(chain, 4, discount=0.9, descents=1, steps=20)
    >>> found.model.n_states, found.map.shape
    (4, (12, 4))
    """
    chain = _checked_model(model)
    gamma = checked_discount(discount)
    least_of = {"n_states": (n_states, 1), "descents": (descents, 0), "steps": (steps, 1), "seed": (seed, 0)}
    for name, (value, least) in least_of.items():
        whole(value, name, at_least=least)
    function_or_none(on_step, "on_step")
    limit = seconds_of(time_limit)
    merged = aggregate(chain, n_states=n_states, discount=gamma)
    certified = _solved(chain, merged.model, gamma)
    search = _Search(chain, merged.map, gamma, seed, on_step)
    if certified.interval[1] > 0.0 and search.size == n_states:
        try:
            with deadline(limit):
                search.run(descents, steps)
        except OutOfTime:
            pass
        closest = search.objective.closest
        if closest is not None:
            found = _solved(chain, closest.chain(), gamma)
            certified = found if found.interval[1] < certified.interval[1] else certified
    return Reduction(certified.problem.target, frozen(_soft_map(certified)), certified.distance, certified.interval)


def _checked_model(model: Any) -> MarkovChain:
    chain = as_model(model)
    if isinstance(chain, MDP):
        raise InvalidOption("the model is a decision process, expected a chain; mdp.under(policy) makes one")
    if chain.reward is None:
        raise InvalidChain("the chain has no reward, by which states are compared; give it one: reward=...")
    return chain if chain.start is not None else chain.with_start(np.full(chain.n_states, 1.0 / chain.n_states))


def _solved(chain: MarkovChain, small: MarkovChain, gamma: float) -> Solution:
    return solve(Problem(chain, small, discount=gamma, normalised=True), throw=False)


class _Search:
    """Descents from several clusterings of the classes of bisimilar states, in turns."""

    def __init__(
        self,
        chain: MarkovChain,
        clusters: Classes,
        gamma: float,
        seed: int,
        on_step: Callable[[ReductionStep], None] | None,
    ) -> None:
        plain = MarkovChain(chain.transitions, reward=chain.reward, start=chain.start)
        self._chain, classes = quotient(plain)
        self._first = renumber(clusters[first_states(classes)])
        self.size = int(self._first.max()) + 1  # fewer than wanted where there are no more classes
        self._clusters = Clusters(self._chain, self.size, gamma)
        self._gamma, self._random, self._on_step = gamma, np.random.default_rng(seed), on_step
        self._told: dict[int, int] = {}  # how many steps of each descent
        self.objective = Objective(self._chain, gamma)

    def run(self, descents: int, steps: int) -> None:
        """All descents make the first stage, the better half of them the next one, and so on."""
        reached = list(islice(self._starts(CHOICE * descents, steps // 2), descents))
        for number, stage in enumerate(STAGES):
            length = steps * (number + 1) // len(STAGES) - steps * number // len(STAGES)
            reached = [
                (descend(self.objective, at, stage, length, self._teller(descent)), descent) for at, descent in reached
            ]
            reached.sort(key=lambda one: one[0].distance)
            reached = reached[: (len(reached) + 1) // 2]
        for at, descent in reached:
            polish(self.objective, np.asarray(self._chain.reward), at.small, self._teller(descent))

    def _starts(self, choice: int, moves: int) -> Iterator[tuple[Reached, int]]:
        """Small chains of clusterings after moves of states, no two alike, each with the number of its descent."""
        seen: set[bytes] = set()
        for clusters in self._clusterings(choice):
            tell = self._teller(len(seen))
            found = renumber(better_clusters(self.objective, self._clusters, clusters, moves, tell))
            if found.tobytes() not in seen:
                small = self._clusters.small_chain(found)
                yield Reached(self.objective.distance(small), small), len(seen)
                seen.add(found.tobytes())

    def _clusterings(self, choice: int) -> Iterator[Classes]:
        """That of `aggregate`, then the closest of so many random ones."""
        yield self._first
        distances = bisimulation_metric(self._chain, discount=self._gamma).value
        found: dict[bytes, tuple[float, Classes]] = {}
        for clusters in islice(self._clusters.random(distances, self._random), choice):
            if clusters.tobytes() not in found:
                distance = self.objective.distance(self._clusters.small_chain(clusters))
                self._teller(0)(distance)
                found[clusters.tobytes()] = distance, clusters
        yield from (clusters for _, clusters in sorted(found.values(), key=lambda one: one[0]))

    def _teller(self, descent: int) -> Tell:
        def tell(distance: float) -> None:
            self._told[descent] = self._told.get(descent, 0) + 1
            if self._on_step is not None:
                self._on_step(ReductionStep(descent, self._told[descent], distance, self.objective.best))

        return tell


def _soft_map(solution: Solution) -> Floats:
    """[n, k], the law of the small chain's state while the large one is in a state."""
    visits = solution.coupling.occupancy()
    mass = visits.sum(axis=1)
    nearest = np.zeros(visits.shape)
    nearest[np.arange(len(nearest)), solution.value.argmin(axis=1)] = 1.0
    seen = mass > 0.0
    nearest[seen] = visits[seen] / mass[seen, None]
    return nearest
